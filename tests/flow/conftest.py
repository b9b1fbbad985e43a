"""Whole studies through the command line, each test in a folder and with a home of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from modelsel.cli.dispatch import main
from modelsel.core.outcome import StudySummary
from modelsel.record.folder import RunFolder


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def outcome(self) -> StudySummary:
        return RunFolder.open("latest").outcome()


Run = Callable[..., Done]


@pytest.fixture
def modelsel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """`modelsel("run", "dataset=iris")` as typed in an empty folder; untracked unless said."""
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def run(*words: str) -> Done:
        capfd.readouterr()
        tracked = any(word.startswith("tracking") for word in words) or words[0] not in ("run", "plan")
        code = main([*words] if tracked else [*words, "tracking=off"])
        out, err = capfd.readouterr()
        return Done(code, out, err)

    return run
