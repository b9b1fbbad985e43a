"""With the index over row hashes nothing is seen less than without it, and what does not matter is not read."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modelsel.guard.access.session import LedgerSession
from modelsel.ledger.home import Home
from tests.guard.studies import Rule, Study, numbers, renamed, shuffled

OTHERS = 3


def remembered(home: Path) -> None:
    """A look at a table, and at three others, which puts the first into the index."""
    Study(numbers(), home).look()
    for seed in range(1, 1 + OTHERS):
        Study(numbers(seed=seed), home).look()


def exchanged(home: Path) -> None:
    """The files of a home that knows none of these rows, made with this home's own secret."""
    other = home.parent / "other"
    (other).mkdir()
    shutil.copy(home / "index.key", other / "index.key")
    for seed in range(7, 10):
        Study(numbers(seed=seed), other).look()
    shutil.rmtree(home / "index")
    shutil.copytree(other / "index", home / "index")


def damaged(home: Path) -> None:
    for file in (home / "index").iterdir():
        raw = bytearray(file.read_bytes())
        raw[len(raw) // 2] ^= 255
        file.write_bytes(raw)


TAMPERING: dict[str, Callable[[Path], Any]] = {
    "whole": lambda home: None,
    "gone": lambda home: shutil.rmtree(home / "index"),
    "damaged": damaged,
    "exchanged": exchanged,
    "another secret": lambda home: (home / "index.key").write_bytes(b"k" * 32),
}


@pytest.mark.slow
@pytest.mark.parametrize("done", TAMPERING)
def test_rows_that_were_tested_before_are_seen_whatever_is_done_to_the_index(home: Path, done: str) -> None:
    remembered(home)
    assert any((home / "index").iterdir())
    TAMPERING[done](home)
    for disguised in (numbers(), shuffled(renamed(numbers(), {"x0": "a", "x1": "b"}))):
        refused = Study(disguised, home, policy="strict", split_seed=3, rule=Rule(1)).look()
        assert {"G020", "G021"} <= set(refused.flags)
        assert refused.score is None


@pytest.mark.slow
def test_sets_that_share_nothing_are_not_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remembered(home)
    Study(numbers(seed=20), home).look()
    read: list[str] = []
    real = LedgerSession._fetch
    monkeypatch.setattr(LedgerSession, "_fetch", lambda session, digest: (read.append(digest), real(session, digest))[1])
    gate = Study(numbers(seed=21), home).run()[1]
    facts = [entry.facts for entry in gate.session.ledger.entries() if entry.kind == "seal"]
    assert len(facts) == OTHERS + 3
    rows = {one[side] for one in facts[: OTHERS + 1] for side in ("rows", "development")}
    assert not rows & set(read)


@pytest.mark.slow
def test_the_index_is_readable_by_its_owner_alone(home: Path) -> None:
    remembered(home)
    assert {path.stat().st_mode & 0o077 for path in [home / "index", *(home / "index").iterdir()]} == {0}
    assert Home(home).secret("index.key") == (home / "index.key").read_bytes()
