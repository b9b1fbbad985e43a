"""A folder with finished studies, an exam and a certificate, put back as it was for each test."""

import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from modelsel.cli.dispatch import main

TABLE = ("dataset=csv", "dataset.path=t.csv", "dataset.target=y", "scheme.folds=3", "tracking=off")
_unreadable: list[str] = []  # a file that nobody may read, while a test says so: the tests may run as root


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    opened = event in ("open", "sqlite3.connect", "os.listdir") and isinstance(arguments[0], str | bytes | os.PathLike)
    if opened and os.path.abspath(os.fsdecode(arguments[0])) in _unreadable:
        raise PermissionError(13, "Permission denied", *_unreadable)


sys.addaudithook(_refuse)


@contextmanager
def unreadable(path: Path) -> Iterator[None]:
    """A file that may not be opened."""
    _unreadable[:] = [str(path.absolute())]
    try:
        yield
    finally:
        _unreadable.clear()


@dataclass(frozen=True)
class Said:
    """What a command ended with and printed, and the seconds of work that it took."""

    code: int
    out: str
    err: str
    seconds: float


@pytest.fixture(scope="session")
def _world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Where everything is used, and where it is kept: a home knows its ledger by place."""
    root = tmp_path_factory.mktemp("faults")
    work, draw = root / "work", random.Random(1)
    work.mkdir()
    rows = [(draw.random(), draw.choice("uvw"), draw.gauss(0, 1)) for _ in range(120)]
    lines = [f"{a:.4f},{b},{c:.4f},{'yes' if a + 0.2 * c > 0.5 else 'no'}" for a, b, c in rows]
    with pytest.MonkeyPatch.context() as there:
        there.chdir(work)
        there.setenv("MODELSEL_HOME", str(work / "home"))
        Path("t.csv").write_text("\n".join(["a,b,c,y", *lines, ""]))
        assert main(["run", *TABLE, "space=[naive_bayes,cart,majority]", "name=shown"]) == 0
        assert main(["run", *TABLE, "space=[naive_bayes,majority]", "name=closed", "split.seed=1", "final_test=false"]) == 0
        assert main(["exam", "create", "t.csv", "exam", "--target", "y", "--accept-overlap"]) == 0
        _answer(Path("exam/questions.csv"))
        assert main(["exam", "answer", "exam", "answer.csv", "--as", "ann"]) == 0
        assert main(["certify", "shown", "-o", "shown.cert"]) == 0
    shutil.copytree(work, root / "kept", symlinks=True)
    return work, root / "kept"


def _answer(questions: Path) -> None:
    tokens = [line.split(",")[0] for line in questions.read_text().splitlines()]
    Path("answer.csv").write_text("token,prediction\n" + "".join(f"{token},yes\n" for token in tokens[1:]))


@pytest.fixture
def world(_world: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, as it was when its studies had finished; the working directory."""
    work, kept = _world
    shutil.rmtree(work)
    shutil.copytree(kept, work, symlinks=True)
    monkeypatch.chdir(work)
    monkeypatch.setenv("MODELSEL_HOME", str(work / "home"))
    return work


@pytest.fixture
def ask(capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """`ask("audit", "shown")`: a command, what it said and how long it took."""

    def run(*words: str) -> Said:
        capfd.readouterr()
        began = time.process_time()
        code = main([*words])
        seconds = time.process_time() - began
        return Said(code, *capfd.readouterr(), seconds)

    return run
