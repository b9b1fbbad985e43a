"""The tutorial of the exam happens as it is typed: scripts are written as they stand there, commands run in order."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
PAGE = Path(__file__).resolve().parents[3] / "docs" / "guard" / "exam.md"
SCRIPT = re.compile(r"`(\w+\.(?:py|R))`:\n\n```(?:python|r)\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"\s*\$ (.*?)(?:\s+# exit (\d+))?$")


@dataclass(frozen=True)
class Tutorial:
    """A folder in which everything was typed, and what each command said."""

    folder: Path
    said: dict[str, str]

    def errors(self, answer: str) -> int:
        """Wrong predictions of a file, counted from the table that the examiner has, without modelsel."""
        with (self.folder / "tumours.csv").open() as table:
            labels = {_features(row): row["benign"] for row in csv.DictReader(table)}
        with (self.folder / "exam" / "questions.csv").open() as asked:
            truth = {row["token"]: labels[_features(row)] for row in csv.DictReader(asked)}
        with (self.folder / answer).open() as handed:
            return sum(truth[row["token"]] != row["prediction"] for row in csv.DictReader(handed))


def _features(row: dict[str, str]) -> tuple[float, ...]:
    return tuple(float(row[name]) for name in ("radius", "texture", "smoothness", "concavity"))


def started(command: str, folder: Path, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    _, _, _, name, _, port = command.split()
    server = subprocess.Popen(
        command.split(), cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            with urlopen(f"http://127.0.0.1:{port}/terms", timeout=5) as reply:
                there = json.load(reply)["id"]
            assert there == json.loads((folder / name / "exam.json").read_text())["id"], f"another exam is served at {port}"
            return server
        except (URLError, OSError):
            assert server.poll() is None, "the server ended"
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tutorial]:
    folder, page, said = tmp_path_factory.mktemp("tutorial"), PAGE.read_text("utf-8"), {}
    for name, code in SCRIPT.findall(page):
        (folder / name).write_text(code)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "MODELSEL_HOME": str(folder / "home"), "PATH": path}
    servers = []
    try:
        for line in (one for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL) for one in block.splitlines()):
            found = COMMAND.match(line)
            if found is None or (re.search(r"Rscript|answer_r", line) and shutil.which("Rscript") is None):
                continue
            command, code = found[1], int(found[2] or 0)
            if command.endswith(" &"):
                servers.append(started(command[:-2], folder, environment))
                continue
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
            assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
            said[command] = done.stdout
        yield Tutorial(folder, said)
    finally:
        for server in servers:
            server.kill()
            server.wait()


def test_a_scikit_learn_script_sits_the_exam(tutorial: Tutorial) -> None:
    said = next(text for command, text in tutorial.said.items() if "--as ann --forecast" in command)
    assert "look 1" in said
    assert f"score {tutorial.errors('answer.csv') / 284:.6g}," in said


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="there is no Rscript")
def test_an_r_script_sits_the_exam(tutorial: Tutorial) -> None:
    said = next(text for command, text in tutorial.said.items() if "--as rob" in command)
    assert "look 2" in said
    assert f"score {tutorial.errors('answer_r.csv') / 284:.6g}," in said


def test_agents_sit_the_exam_over_http_and_over_a_pipe(tutorial: Tutorial) -> None:
    assert '"asker": "robot"' in tutorial.said["python agent.py"]
    piped = json.loads(tutorial.said["python piped.py"])
    assert (piped["asker"], piped["n"], piped["replay"]) == ("pipe", 284, False)


def off_by_more(folder: Path, answer: str, tolerance: float) -> int:
    """Rows off by more, counted from the table that the examiner has, without modelsel."""

    def features(row: dict[str, str]) -> tuple[float, ...]:
        return tuple(float(value) for name, value in row.items() if name not in ("token", "progression"))

    with (folder / "diabetes.csv").open() as table:
        numbers = {features(row): float(row["progression"]) for row in csv.DictReader(table)}
    with (folder / "progress" / "questions.csv").open() as asked:
        truth = {row["token"]: numbers[features(row)] for row in csv.DictReader(asked)}
    with (folder / answer).open() as handed:
        return sum(abs(truth[row["token"]] - float(row["prediction"])) > tolerance for row in csv.DictReader(handed))


def test_numbers_are_handed_in_by_curl_and_by_r(tutorial: Tutorial) -> None:
    posted = json.loads(next(text for command, text in tutorial.said.items() if "@line.csv" in command))
    assert (posted["asker"], posted["errors"]) == ("ann", off_by_more(tutorial.folder, "line.csv", 40))
    assert "FAULT" not in tutorial.said["modelsel verify progress.zip"]
    if shutil.which("Rscript"):
        said = next(text for command, text in tutorial.said.items() if "answer progress answer_r2.csv" in command)
        assert f"score {off_by_more(tutorial.folder, 'answer_r2.csv', 40) / 133:.6g}:" in said


def test_the_close_and_its_certificate(tutorial: Tutorial) -> None:
    board = tutorial.said["modelsel exam close exam"]
    assert all(name in board for name in ("ann", "robot", "pipe"))
    assert "FAULT" not in tutorial.said["modelsel verify certificate.zip"]
