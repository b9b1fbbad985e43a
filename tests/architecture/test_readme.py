"""The README's commands are run as typed, in order, in a fresh folder with a fresh home."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```console\n(.*?)```", README, re.DOTALL)


def commands(block: str) -> list[tuple[str, int]]:
    """Lines after `$ `, each with the exit code that a following `# exit N` line promises."""
    found: list[tuple[str, int]] = []
    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            code = re.search(r"#\s*exit (\d+)\s*$", line)
            found.append((line[2:].split("  #")[0].strip(), int(code[1]) if code else 0))
    return found


def test_the_two_commands_are_targets_of_the_makefile_and_ci_runs_the_tests() -> None:
    typed = {command for block in BLOCKS for command, _ in commands(block) if command.startswith("make ")}
    assert {"make study", "make test"} <= typed
    makefile = (ROOT / "Makefile").read_text()
    assert all(re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE) for command in typed)
    assert "\nmake test\n" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.slow
def test_every_command_of_the_readme_runs_as_typed(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "MODELSEL_HOME": str(tmp_path / "home"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    work = tmp_path / "work"
    work.mkdir()
    ran = 0
    for command, expected in (pair for block in BLOCKS for pair in commands(block)):
        if shlex.split(command)[0] not in {"modelsel", "python"} or command.startswith("modelsel ui"):
            continue
        done = subprocess.run(["bash", "-c", command], cwd=work, env=environment, capture_output=True, text=True)
        assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
        ran += 1
    assert ran >= 5
