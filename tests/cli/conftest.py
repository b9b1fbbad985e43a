"""Commands are run in this process, in a folder of their own, with a ledger of their own."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from modelsel.cli.dispatch import main

SMALL = (
    "dataset=play_tennis",
    "space=[majority,naive_bayes]",
    "scheme=kfold",
    "scheme.folds=3",
    "tracking=off",
    "pool=sequential",
)


@dataclass(frozen=True)
class Ran:
    """What a command line came to."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of the commands."""
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def modelsel(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run `modelsel WORDS…`."""

    def run(*words: str) -> Ran:
        capsys.readouterr()
        code = main(words)
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


@pytest.fixture
def small() -> tuple[str, ...]:
    """Overrides of a study that takes no time."""
    return SMALL
