"""A process reads each entry once; what comes, goes or is changed meanwhile is noticed."""

import sqlite3
from pathlib import Path

import pytest

from modelsel.ledger.database import reading
from modelsel.ledger.database.schema import sqlite_url
from modelsel.ledger.database.store import Ledger, WriteTransaction
from modelsel.ledger.entry import follow
from modelsel.ledger.home import Home


@pytest.fixture
def ledgers(tmp_path: Path) -> tuple[Ledger, Ledger]:
    """The same ledger opened by two people."""
    url = sqlite_url(tmp_path / "ledger.db")
    homes = [Home(tmp_path / name) for name in ("one", "two")]
    one, two = (Ledger.open(url, home.replica(url), home.signer()) for home in homes)
    return one, two


def test_what_comes_is_read_and_what_was_there_is_not_read_again(
    ledgers: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = ledgers
    for ledger in (one, two):
        ledger.append("note", {"text": "first"})
    assert len(one.entries()) == len(two.entries()) == 2
    monkeypatch.setattr(reading.Reading, "_whole", None)  # from here on nothing may be read as a whole
    for number in range(3):
        two.append("note", {"text": f"more {number}"})
        one.append("note", {"text": f"of mine {number}"})
        assert list(one.entries()) == list(two.entries()) == one.everything()
    assert one.entries() is one.entries()


def test_a_forged_entry_is_set_aside_whenever_it_comes(ledgers: tuple[Ledger, Ledger], tmp_path: Path) -> None:
    one, two = ledgers
    for ledger in (one, two, one):
        ledger.append("note", {"text": "honest"})
    assert len(one.entries()) == 3
    last = max((e for e in one.entries() if e.replica == two.replica), key=lambda e: e.seq)
    forged = follow(last, two.replica, "note", {"text": "forged"})
    with sqlite3.connect(tmp_path / "ledger.db") as raw:
        raw.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)",
            (forged.replica, forged.seq, forged.kind, forged.body, forged.prev, forged.hash),
        )
    found = one.entries()
    assert len(found) == 3
    assert [bad.entry.hash for bad in found.bad] == [forged.hash]


def test_an_edit_further_back_is_found_when_all_is_read_anew(ledgers: tuple[Ledger, Ledger], tmp_path: Path) -> None:
    one, _ = ledgers
    for number in range(4):
        one.append("note", {"text": f"number {number}"})
    assert len(one.entries()) == 4
    with sqlite3.connect(tmp_path / "ledger.db") as raw:
        for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f'DROP TRIGGER "{name}"')
        raw.execute("UPDATE entries SET body = replace(body, 'number 1', 'number 9')")
    assert len(one.entries()) == 4  # not noticed while at work
    assert one.entries(anew=True).bad
    assert one.entries().bad


def test_an_entry_that_was_rolled_back_is_forgotten(ledgers: tuple[Ledger, Ledger]) -> None:
    one, _ = ledgers
    one.append("note", {"text": "first"})

    def fails(writing: WriteTransaction) -> None:
        writing.append("note", {"text": "never"})
        assert len(writing.entries()) == 2
        raise RuntimeError

    with pytest.raises(RuntimeError):
        one.write(fails)
    one.append("note", {"text": "second"})
    assert [entry.facts["text"] for entry in one.entries()] == ["first", "second"]
