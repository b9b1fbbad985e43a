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


LINE = {key: value for key, value in FACTS.items() if key != "testset"}
EDITED = (
    *({key: value for key, value in LINE.items() if key != gone} for gone in ("head", "ledger", "look")),
    *({**LINE, **one} for one in ({"head": "a:b:c"}, {"head": "abc"}, {"look": "-1"}, {"look": 1}, {"n": "x"})),
)


@pytest.mark.parametrize(
    "edited",
    [
        [],
        {"testsets": []},
        {"testsets": {"t": 1}},
        {"not_remembered": {"s": {"times": "x"}}},
        *({"testsets": {"t": one}} for one in EDITED),
    ],
)
def test_a_lock_file_from_which_lines_were_taken_is_said_to_be_edited(tmp_path: Path, edited: object) -> None:
    """Nobody may read it as if it were whole, and nothing is written over it."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "modelsel.lock").write_text(json.dumps(edited))
    for ask in (lambda one: one.recall("t"), lambda one: one.keys(), lambda one: one.witness(FACTS)):
        with pytest.raises(OSError, match="was edited"):
            ask(LockFile(tmp_path))
    assert json.loads((tmp_path / "modelsel.lock").read_text()) == edited


def test_a_later_look_stands_in_the_lock_file_and_of_one_look_what_was_said_last(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    anchor = LockFile(tmp_path)
    for look, spent, stands in (
        ("2", "3.0", "3.0"),
        ("1", "9.0", "3.0"),
        ("2", "4.0", "4.0"),
        ("10", "5.0", "5.0"),
        ("9", "6.0", "5.0"),
    ):
        anchor.witness({**FACTS, "look": look, "spent": spent})
        assert [facts["spent"] for facts in anchor.recall("t")] == [stands]
    assert anchor.recall("another") == []
    assert anchor.path.read_text().endswith("}\n")
    assert "modelsel" in json.loads(anchor.path.read_text())


def test_studies_that_are_not_remembered_are_counted(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    anchor = LockFile(tmp_path)
    for study, at in (("a", "1"), ("b", "2"), ("a", "3")):
        anchor.note_unremembered(study, at)
    assert json.loads(anchor.path.read_text())["not_remembered"] == {"a": {"at": "3", "times": 2}, "b": {"at": "2", "times": 1}}


def test_sets_are_those_of_this_key_but_for_looks_in_other_ledgers(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    looks = {
        "mine": ("k", "l"),
        "another key": ("x", "l"),
        "another ledger": ("k", "other"),
        "neither": ("x", "other"),
        "no key": (None, "l"),
    }
    anchors = (StateAnchor(Home(tmp_path / "home")), LockFile(tmp_path))
    for anchor in anchors:
        for testset, (key, ledger) in looks.items():
            facts = {**FACTS, "testset": testset, "ledger": ledger, **({"key": key} if key else {})}
            anchor.witness(facts if key else {name: fact for name, fact in facts.items() if name != "key"})
        assert sorted(anchor.testsets("k", {"other"})) == ["mine", "no key"]
        assert sorted(anchor.testsets("k", ())) == ["another ledger", "mine", "no key"]
    assert LockFile(tmp_path).keys() == {"k", "x"}
