"""Every file of a run, of the home and of an exam, damaged in ten ways, and every command that reads it.

What a disk or a colleague can do is no internal error: the exit code is one of the table's, the file is named, nothing else is
changed, and the answer comes at once.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.faults.conftest import TABLE, Said, unreadable
from tests.faults.damage import WAYS

AT_ONCE = 5.0  # seconds of work: the machine may be busy with others
RUN = (
    "study.json", "config.yaml", "candidates.csv", "losses.npz", "details.json", "explanation.json", "journal/*.segment",
    "model/data/model.json", "model/data/arrays.npz", "model/data/SHA256SUMS",
)  # fmt: skip
OF_RUN = (
    "report shown", "audit shown --json", "compare shown closed", "predict shown t.csv -o new.csv", "export shown --to json",
    "export shown --to csv -o tables", "certify shown -o new.cert", "dossier shown --as model-card",
    "explain shown --alternatives",
    "doctor",
)  # fmt: skip
HOME = ("state.json", "ledger.db", "replica", "own.key", "signing.key", "index.key", "keys/user", "screens.key", "screens/*")
OF_HOME = ("audit shown", "test closed", "doctor", "certify shown -o new.cert", "exam status exam", "run")
EXAM = (
    "exam/exam.json", "exam/development.csv", "exam/questions.csv", "home/exams/*/exam.json", "home/exams/*/private.json",
    "home/exams/*/rows.npz", "home/exams/*/labels.box", "home/exams/*/answers/*", "home/exam.key",
)  # fmt: skip
OF_EXAM = (
    "exam status exam", "exam board exam", "exam answer exam answer.csv --as bob", "exam audit exam", "exam close exam",
    "certify exam -o new.cert",
)  # fmt: skip


def cases(files: Sequence[str], commands: Sequence[str]) -> pytest.MarkDecorator:
    every = [(file, way, command) for file in files for way in WAYS for command in commands]
    return pytest.mark.parametrize(("file", "way", "command"), every, ids=[" ".join(one) for one in every])


@pytest.mark.sampled(8)
@cases(RUN, OF_RUN)
def test_a_damaged_file_of_a_run_is_named(world: Path, ask: Callable[..., Said], file: str, way: str, command: str) -> None:
    (path, *_) = world.glob(f"runs/shown/*/{file}")
    _is_said_or_unneeded(world, path, way, ask, command)


@pytest.mark.sampled(4)
@cases(HOME, OF_HOME)
def test_a_damaged_file_of_the_home_is_named(world: Path, ask: Callable[..., Said], file: str, way: str, command: str) -> None:
    (path, *_) = world.glob(f"home/{file}")
    _is_said_or_unneeded(world, path, way, ask, command)


@pytest.mark.sampled(4)
@cases(EXAM, OF_EXAM)
def test_a_damaged_file_of_an_exam_is_named(world: Path, ask: Callable[..., Said], file: str, way: str, command: str) -> None:
    (path,) = world.glob(file)
    _is_said_or_unneeded(world, path, way, ask, command)


@pytest.mark.parametrize("way", WAYS)
def test_a_damaged_certificate_is_none(world: Path, ask: Callable[..., Said], way: str) -> None:
    path = world / "shown.cert"
    if way != "no_rights":
        WAYS[way](path)
    with unreadable(path) if way == "no_rights" else nullcontext():
        said = ask("verify", path.name)
    if way == "newer":  # bytes behind an archive are none of it
        assert said.code == 0
        return
    assert (said.code, said.err) == (5, "")
    assert path.name in said.out
    assert "Error" not in said.out


def _is_said_or_unneeded(world: Path, path: Path, way: str, ask: Callable[..., Said], command: str) -> None:
    if way != "no_rights":
        WAYS[way](path)
    others = _contents(world, path)
    words = ("run", *TABLE, "learner=majority", "name=another") if command == "run" else tuple(command.split())
    with unreadable(path) if way == "no_rights" else nullcontext():
        said = ask(*words)
    assert said.code in (0, 2, 3, 4, 5, 6), said.err
    assert "MSEL-001" not in said.err
    assert "Traceback" not in said.err
    name = path.name[:12] if "/answers/" in str(path) else path.name  # an answer is called by the beginning of its digest
    assert not said.code or name in said.err + said.out, said.err
    assert said.seconds < AT_ONCE
    assert not (world / "hostile").exists()
    assert {name: data for name, data in _contents(world, path).items() if name in others} == others


def _contents(world: Path, path: Path) -> dict[Path, bytes]:
    """The files that no command may change: those of the record."""
    places = ("runs/shown/*/*", "runs/shown/*/journal/*", "home/keys/*", "exam/*")
    found = (one for place in places for one in world.glob(place) if one != path and one.is_file())
    return {one: one.read_bytes() for one in found if one.name not in ("report.html", "study.log", "mlflow.json")}
