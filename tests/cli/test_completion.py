"""Completion as bash does it: the script is sourced, the line is typed, COMPREPLY is read."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from modelsel.api.commands.words import SCRIPTS, all_commands

BASH = shutil.which("bash")
DRIVER = """\
source "$1"
COMP_LINE="$2"; COMP_POINT=${#COMP_LINE}
_modelsel_complete
printf '%s\\n' "${COMPREPLY[@]}"
"""


def replies(folder: Path, line: str) -> list[str]:
    """What bash would offer after `line`."""
    if BASH is None:
        pytest.skip("bash is not installed")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = folder / "completion.bash"
    script.write_text(
        subprocess.run([sys.executable, "-m", "modelsel", "completion", "bash"], capture_output=True, text=True).stdout
    )
    done = subprocess.run(
        [BASH, "-c", DRIVER, "bash", str(script), line], capture_output=True, text=True, env=environment, cwd=folder
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_the_first_word_is_a_command(tmp_path: Path) -> None:
    assert replies(tmp_path, "modelsel ") == list(all_commands())
    assert replies(tmp_path, "modelsel pl") == ["plan"]


@pytest.mark.slow
def test_after_run_and_plan_hydra_completes_groups_names_and_settings(tmp_path: Path) -> None:
    assert replies(tmp_path, "modelsel run dataset=i") == ["dataset=iris"]
    assert {"scheme=kfold", "scheme=stratified_kfold"} <= set(replies(tmp_path, "modelsel plan scheme="))
    assert replies(tmp_path, "modelsel run dataset=iris scheme.fol") == ["scheme.folds="]


@pytest.mark.slow
def test_a_file_and_its_target_do_not_end_the_completion_and_flags_have_one(tmp_path: Path) -> None:
    (tmp_path / "wine.csv").touch()
    assert replies(tmp_path, "modelsel run wine.csv target scheme=stratified_k") == ["scheme=stratified_kfold"]
    assert replies(tmp_path, "modelsel run wine.csv target space=trees scheme.fol") == ["scheme.folds="]
    assert replies(tmp_path, "modelsel run wine.csv target --c") == ["--config-dir", "--config-name", "--cfg"]


def test_after_other_commands_files_are_offered(tmp_path: Path) -> None:
    (tmp_path / "new.csv").touch()
    assert replies(tmp_path, "modelsel predict latest ne") == ["new.csv"]


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_script_names_every_command_and_calls_hydra_without_the_command_word(shell: str) -> None:
    done = subprocess.run([sys.executable, "-m", "modelsel", "completion", shell], capture_output=True, text=True)
    assert done.returncode == 0
    assert " ".join(all_commands()) in done.stdout
    assert "-sc query=" in done.stdout
    assert "@" not in done.stdout.replace("$@", "").replace("[@]", "")
