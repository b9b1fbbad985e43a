"""The tutorial of the exam happens as it is typed: scripts are written as they stand there, commands run in order."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guard" / "exam.md"
SCRIPT = re.compile(r"`(\w+\.(?:py|R))`:\n\n```(?:python|r)\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"\s*\$ (.*?)(?:\s+# exit (\d+))?$")


def started(command: str, folder: Path, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    server = subprocess.Popen(
        command.split(), cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            with urlopen("http://127.0.0.1:8801/state", timeout=5):
                return server
        except (URLError, OSError):
            assert server.poll() is None, "the server ended"
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


@pytest.mark.slow
def test_the_tutorial_happens_as_it_is_typed(tmp_path: Path) -> None:
    page = PAGE.read_text("utf-8")
    for name, code in SCRIPT.findall(page):
        (tmp_path / name).write_text(code)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "MODELSEL_HOME": str(tmp_path / "home"), "PATH": path}
    said: dict[str, str] = {}
    server = None
    try:
        for line in (one for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL) for one in block.splitlines()):
            found = COMMAND.match(line)
            if found is None or (re.search(r"Rscript|answer_r", line) and shutil.which("Rscript") is None):
                continue
            command, code = found[1], int(found[2] or 0)
            if command.endswith(" &"):
                server = started(command[:-2], tmp_path, environment)
                continue
            done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
            said[command] = done.stdout
    finally:
        if server is not None:
            server.kill()
            server.wait()
    assert "look 1" in next(text for command, text in said.items() if "--as ann --forecast" in command)
    assert '"asker": "robot"' in said["python agent.py"]
    assert "ann" in said["modelsel exam close exam"]
    assert "FAULT" not in said["modelsel verify certificate.zip"]
