"""Witnesses outside the ledger."""

import json
from pathlib import Path

import pytest

from modelsel.ledger.anchors import LockFile, StateAnchor, in_git
from modelsel.ledger.home import Home

FACTS = {"ledger": "l", "testset": "t", "look": "1", "spent": "3.0", "n": "10", "head": "r:4:h", "policy": "warn", "key": "k"}


def test_the_state_remembers_every_look(tmp_path: Path) -> None:
    anchor = StateAnchor(Home(tmp_path))
    anchor.witness(FACTS)
    anchor.witness({**FACTS, "look": "2", "head": "r:6:i"})
    assert [facts["look"] for facts in anchor.recall("t")] == ["1", "2"]
    assert list(anchor.recall("unknown")) == []


def test_the_lock_file_shows_looks_in_the_diff(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    anchor = LockFile(tmp_path)
    anchor.witness(FACTS)
    before = anchor.path.read_text().splitlines()
    anchor.witness({**FACTS, "look": "2"})
    after = anchor.path.read_text().splitlines()
    changed = [(a.strip(), b.strip()) for a, b in zip(before, after, strict=True) if a != b]
    assert changed == [('"look": "1",', '"look": "2",')]
    assert anchor.keys() == {"k"}
    assert list(anchor.recall("t")) == [{**FACTS, "look": "2"}]


def test_nothing_is_written_outside_git(tmp_path: Path) -> None:
    if in_git(tmp_path):
        pytest.skip("the temporary folder lies in a git work tree")
    LockFile(tmp_path).witness(FACTS)
    assert list(tmp_path.iterdir()) == []


def test_a_merge_conflict_is_said(tmp_path: Path) -> None:
    (tmp_path / "modelsel.lock").write_text("<<<<<<< HEAD\n" + json.dumps({}))
    with pytest.raises(OSError, match="merge conflict"):
        LockFile(tmp_path).recall("t")
