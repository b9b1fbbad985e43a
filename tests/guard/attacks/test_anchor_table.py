"""What a damaged ledger looks like at each level of anchors: seen or not, as the table of the design has it."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from modelsel.core.errors import LedgerError
from modelsel.guard.reporting.audit import audit
from modelsel.ledger.entry import LedgerEntry, follow
from modelsel.ledger.home import Home
from tests.guard.attacks.test_attempts import Elsewhere
from tests.guard.conftest import Begun
from tests.guard.studies import Rule, Study, numbers, one_look

UNSIGNED = "DELETE FROM signatures WHERE hash NOT IN (SELECT hash FROM entries)"
LAST = "(SELECT MAX(seq) FROM entries)"
FIELDS = ("replica", "seq", "kind", "body", "prev", "hash")


def changed(home: Path, *statements: str) -> None:
    """As the owner of the file can: triggers dropped first."""
    with closing(sqlite3.connect(home / "ledger.db")) as raw, raw:
        for table in ("entries", "rowsets", "signatures"):
            for event in ("update", "delete", "insert"):
                raw.execute(f"DROP TRIGGER {table}_no_{event}")
        for statement in statements:
            raw.execute(statement)


def edit(home: Path) -> None:
    changed(home, "UPDATE entries SET body = replace(body, '\"errors\":', '\"errors\":1') WHERE kind = 'reveal' AND seq > 4")


def remove(home: Path) -> None:
    changed(home, "DELETE FROM entries WHERE seq = 4")


def reorder(home: Path) -> None:
    moves = [f"UPDATE entries SET seq = {new} WHERE seq = {old}" for old, new in ((3, 103), (4, 3), (103, 4))]
    changed(home, *moves)


def truncate(home: Path) -> None:
    changed(home, f"DELETE FROM entries WHERE seq >= {LAST} - 2", UNSIGNED)


def roll_back(home: Path) -> None:
    delete(home)
    shutil.copy(home / "copy.db", home / "ledger.db")


def delete(home: Path) -> None:
    for path in home.glob("ledger.db*"):
        path.unlink()


def rewrite(home: Path) -> None:
    """The second look never happened, in a chain that is whole."""
    with closing(sqlite3.connect(home / "ledger.db")) as raw:
        rows = [LedgerEntry(*row) for row in raw.execute("SELECT * FROM entries ORDER BY seq")]
    changed(home, "DELETE FROM entries", "DELETE FROM signatures")
    signer = Home(home).signer()
    last: LedgerEntry | None = None
    with closing(sqlite3.connect(home / "ledger.db")) as raw, raw:
        for row in rows[:4]:
            last = follow(last, row.replica, row.kind, {**row.facts, "user": "nobody"})
            raw.execute("INSERT INTO entries VALUES (?,?,?,?,?,?)", [getattr(last, name) for name in FIELDS])
            raw.execute("INSERT INTO signatures VALUES (?,?,?)", (last.hash, signer.public, signer.sign(last.hash)))


SEEN: dict[str, tuple[Callable[[Path], None], dict[str, set[str] | None]]] = {
    # None: no look is answered (exit 5). Else the codes that say it; an empty set is a known limit of that level.
    "edit": (edit, {"A0": None, "A1": None, "A2": None, "A3": None}),
    "remove": (remove, {"A0": None, "A1": None, "A2": None, "A3": None}),
    "reorder": (reorder, {"A0": None, "A1": None, "A2": None, "A3": None}),
    "truncate": (truncate, {"A0": set(), "A1": {"G071"}, "A2": {"G071"}, "A3": {"G071"}}),
    "roll back": (roll_back, {"A0": set(), "A1": {"G071"}, "A2": {"G071"}, "A3": {"G071"}}),
    "delete": (delete, {"A0": set(), "A1": {"G072"}, "A2": {"G072"}, "A3": {"G072"}}),
    "rewrite": (rewrite, {"A0": set(), "A1": {"G070", "G071"}, "A2": {"G070", "G071"}, "A3": {"G071"}}),
}
LEVELS = {"A0": (), "A1": ("state",), "A2": ("mlflow",), "A3": ("lockfile",)}


SAID_BY_OTHERS = {  # a broken chain is read before any anchor; a ledger put back or gone is asked about as one cut short
    **dict.fromkeys(("edit", "remove", "reorder"), ("A1", "A2", "A3")), **dict.fromkeys(("roll back", "delete"), ("A2", "A3"))
}  # fmt: skip


def of_level(folder: Path, level: str, anchor: Elsewhere) -> Study:
    return Study(numbers(), folder / "home", settings={"anchors": LEVELS[level]}, anchors=(anchor,), runs=folder / "runs")


def two_looks(folder: Path, level: str) -> Elsewhere:
    """The beginning of each damage: two looks, and a copy of the ledger between them."""
    (folder / ".git").mkdir()
    study = of_level(folder, level, anchor := Elsewhere())
    study.look()
    with closing(sqlite3.connect(study.home / "ledger.db")) as raw:
        raw.execute("VACUUM INTO ?", (str(study.home / "copy.db"),))
    study.but(rule=Rule(1)).look()
    return anchor


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("damage", "level"),
    [
        pytest.param(damage, level, marks=[pytest.mark.slow] if level in SAID_BY_OTHERS.get(damage, "") else [])
        for damage, (_, levels) in SEEN.items()
        for level in levels
    ],
)
def test_damage_is_seen_at_the_levels_that_promise_it(begun: Begun, damage: str, level: str) -> None:
    folder, anchor = begun(two_looks, level)
    harm, expected = SEEN[damage]
    harm(folder / "home")
    if level != "A1":
        (folder / "home" / "state.json").unlink()  # as on a machine that has not seen this ledger
    codes, third = expected[level], of_level(folder, level, deepcopy(anchor)).but(rule=Rule(2))
    if codes is None:
        with pytest.raises(LedgerError) as caught:
            third.look()
        assert caught.value.exit_code == 5
        assert audit(third.gate())["ledger"]["intact"] is False
        return
    result, gate = third.run()
    said = {finding.code for finding in gate.findings} & {"G070", "G071", "G072"}
    assert said == codes
    if codes:
        assert result.look >= 3  # both looks are on record again, what is lost at its highest price
        assert result.look == 3 or damage == "rewrite"  # a look that was written anew counts beside the one that was seen
        assert {flag["code"] for flag in audit(gate)["flags"]} >= codes
    else:
        assert result.look < 3


def test_a_tail_that_was_cut_off_is_seen_where_its_signatures_are_left(home: Path) -> None:
    study = Study(numbers(), home, settings={"anchors": ()})
    study.look()
    changed(home, f"DELETE FROM entries WHERE seq >= {LAST} - 1")
    (home / "state.json").unlink()
    assert "G071" in {finding.code for finding in study.but(rule=Rule(1)).run()[1].findings}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("seq", [1, 4])
def test_a_single_changed_character_of_any_field_is_named_with_its_entry(begun: Begun, field: str, seq: int) -> None:
    folder, _ = begun(one_look, "warn")
    home = folder / "home"
    study = Study(numbers(), home)
    with closing(sqlite3.connect(home / "ledger.db")) as raw:
        ((old,),) = raw.execute(f"SELECT {field} FROM entries WHERE seq = ?", (seq,))
    new: Any = old ^ 64 if isinstance(old, int) else old[:3] + chr(ord(old[3]) ^ 1) + old[4:]
    value = new if isinstance(new, int) else "'" + new.replace("'", "''") + "'"
    changed(home, f"UPDATE entries SET {field} = {value} WHERE seq = {seq}")
    with pytest.raises(LedgerError) as caught:
        study.but(rule=Rule(1)).look()
    said = " ".join(problem.what for problem in caught.value.problems)
    assert f"entry {new if field == 'seq' else seq}" in said
    report = audit(study.gate())
    assert report["ledger"]["intact"] is False
    assert any(one["code"] == "G070" and "entry" in one["message"] for one in report["flags"])


@pytest.mark.slow
@pytest.mark.parametrize("statement", ["UPDATE rowsets SET blob = x'00' WHERE rowid = 1", "DELETE FROM rowsets"])
def test_row_sets_that_were_changed_or_removed_are_told_by_the_audit(home: Path, statement: str) -> None:
    study = Study(numbers(), home)
    study.look()
    assert audit(study.gate())["ledger"]["intact"] is True
    changed(home, statement)
    report = audit(study.gate())
    assert report["ledger"]["intact"] is False
    assert "G070" in {one["code"] for one in report["flags"]}
    with pytest.raises(LedgerError):
        study.but(split_seed=3, rule=Rule(1)).look()


@pytest.mark.parametrize("level", ["A1", "A2", "A3"])
def test_an_audit_asks_the_anchors_and_writes_nothing(tmp_path: Path, home: Path, level: str) -> None:
    (tmp_path / ".git").mkdir()
    study = Study(numbers(), home, settings={"anchors": LEVELS[level]}, anchors=(Elsewhere(),), runs=tmp_path / "runs")
    study.choose_only()
    with closing(sqlite3.connect(home / "ledger.db")) as raw:
        raw.execute("VACUUM INTO ?", (str(home / "copy.db"),))
    study.look()
    assert {flag["code"] for flag in audit(study.gate())["flags"]} == {"G001"}
    roll_back(home)
    if level != "A1":
        (home / "state.json").unlink()
    before = study.gate().session.ledger.entries()
    report = audit(study.gate())
    assert "G071" in {flag["code"] for flag in report["flags"]}
    assert report["ledger"]["intact"] is False
    assert study.gate().session.ledger.entries() == before


@pytest.mark.slow
def test_an_audit_does_not_ask_one_ledger_for_what_stands_in_another_of_the_same_person(home: Path, tmp_path: Path) -> None:
    team = {"ledger": f"sqlite:///{tmp_path / 'team.db'}"}
    Study(numbers(seed=1), home).look()
    Study(numbers(seed=2), home, settings=team).look()
    Study(numbers(seed=3), home, settings={**team, "project": "another key"}).look()
    for settings in ({}, team):
        report = audit(Study(numbers(), home, settings=settings).gate())
        assert {flag["code"] for flag in report["flags"]} <= {"G001", "G074"}
        assert report["ledger"]["intact"] is True
    delete(home)
    assert "G072" in {flag["code"] for flag in audit(Study(numbers(), home).gate())["flags"]}
