"""The ledger's database: addresses and old tables, row sets that were freed of labels, merges, servers that go away."""

import hashlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sqlalchemy.exc import OperationalError

from modelsel.core.errors import LedgerError, StoreError
from modelsel.ledger.database import store
from modelsel.ledger.database.schema import SCHEMA, engine_of, is_there, same_file, sqlite_url
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.database.upkeep import LOOKED_THROUGH, merge, strip
from modelsel.ledger.entry import LedgerEntry, follow
from modelsel.ledger.home import Home
from modelsel.ledger.rows.row_set import RowSet
from tests.extras import needs


def opened(path: Path, who: str = "me") -> Ledger:
    home, url = Home(path.parent / who), sqlite_url(path)
    return Ledger.open(url, home.replica(url), home.signer())


def changed(path: Path, *statements: str) -> None:
    """What somebody does who goes around the triggers."""
    with sqlite3.connect(path) as raw:
        for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f'DROP TRIGGER "{name}"')
        for statement in statements:
            raw.execute(statement)
    raw.close()


def put(path: Path, entry: LedgerEntry) -> None:
    with sqlite3.connect(path) as raw:
        values = (entry.replica, entry.seq, entry.kind, entry.body, entry.prev, entry.hash)
        raw.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", values)
    raw.close()


# --- addresses


def test_an_address_names_a_file_by_whatever_path(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    (tmp_path / "link").symlink_to(tmp_path)
    assert same_file(sqlite_url(path), path)
    assert same_file(sqlite_url(tmp_path / "link" / "ledger.db"), path)
    assert not same_file(sqlite_url(tmp_path / "other.db"), path)
    assert not same_file(f"postgresql://host/{path}", path)


def test_a_ledger_is_there_when_its_tables_are_also_those_of_before_signatures(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    engine = engine_of(sqlite_url(path))
    assert not is_there(engine, SCHEMA)
    assert not path.exists()  # asking makes nothing
    opened(path).close()
    assert is_there(engine, SCHEMA)
    changed(path, "DROP TABLE signatures")
    assert is_there(engine, SCHEMA)
    changed(path, "DROP TABLE rowsets")
    assert not is_there(engine, SCHEMA)


def test_a_servers_address_names_its_driver() -> None:
    needs("psycopg")
    assert {engine_of(f"{name}://me@host/db").url.drivername for name in ("postgresql", "postgresql+psycopg")} == {
        "postgresql+psycopg"
    }


def test_a_ledger_has_an_id_of_its_own_that_stays_and_an_owner(tmp_path: Path) -> None:
    one, other = opened(tmp_path / "one.db"), opened(tmp_path / "other.db")
    assert one.id != other.id
    assert {len(one.id), len(other.id)} == {32}
    assert opened(tmp_path / "one.db", "you").id == one.id
    assert opened(tmp_path / "one.db", "you").entries().owner == Home(tmp_path / "me").signer().public


# --- what is read while a process is at work


@pytest.fixture
def two(tmp_path: Path) -> tuple[Ledger, Ledger, Path]:
    """A ledger of two people: the first has read one entry of each."""
    path = tmp_path / "ledger.db"
    one, other = opened(path), opened(path, "you")
    for ledger in (one, other):
        ledger.append("note", {"text": "first"})
    assert len(one.entries()) == 2
    return one, other, path


def same_as_anew(ledger: Ledger, path: Path) -> list[str]:
    """Read on and read anew: the same is believed; what is not believed."""
    on, anew = ledger.entries(), opened(path).entries()
    assert list(on) == list(anew)
    assert [str(one) for one in on.bad] == [str(one) for one in anew.bad]
    return [one.why for one in on.bad]


def test_a_strangers_entry_that_comes_with_an_honest_one_is_named(two: tuple[Ledger, Ledger, Path]) -> None:
    one, other, path = two
    put(path, follow(None, "f" * 32, "note", {"text": "forged"}))
    other.append("note", {"text": "honest"})
    assert same_as_anew(one, path) == ["nobody who may write this chain signed it"]


def test_an_entry_slipped_in_further_back_is_named_when_an_honest_one_comes(two: tuple[Ledger, Ledger, Path]) -> None:
    one, other, path = two
    other.append("note", {"text": "second"})
    assert len(one.entries()) == 3
    put(path, follow(None, other.replica, "note", {"text": "forged"}))
    other.append("note", {"text": "honest"})
    assert same_as_anew(one, path) == ["nobody who may write this chain signed it"]


def test_a_last_entry_that_was_exchanged_is_noticed_when_another_follows(two: tuple[Ledger, Ledger, Path]) -> None:
    one, other, path = two
    other.append("note", {"text": "second"})
    changed(path, f"UPDATE entries SET hash = 'x' || substr(hash, 2) WHERE replica = '{other.replica}' AND seq = 1")
    assert len(same_as_anew(one, path)) == 2


@pytest.mark.parametrize("further", [0, 1])
def test_a_chain_that_is_gone_is_noticed(two: tuple[Ledger, Ledger, Path], further: int) -> None:
    one, other, path = two
    changed(path, f"DELETE FROM entries WHERE replica = '{other.replica}'")
    for _ in range(further):
        one.append("note", {"text": "meanwhile"})
    assert same_as_anew(one, path) == []
    assert len(one.entries()) == 1 + further


def test_what_was_changed_further_back_is_found_anew_though_another_entry_came(two: tuple[Ledger, Ledger, Path]) -> None:
    one, other, path = two
    one.entries(anew=True)
    changed(path, f"UPDATE entries SET body = replace(body, 'first', 'farce') WHERE replica = '{other.replica}'")
    one.append("note", {"text": "second"})
    assert [bad.why for bad in one.entries(anew=True).bad] == ["its contents were changed"]


# --- row sets


def digest_of(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()


def test_row_sets_are_freed_of_labels_and_go_by_the_digest_that_they_had(tmp_path: Path) -> None:
    ledger, hashes = opened(tmp_path / "ledger.db"), np.arange(5, dtype=np.uint64)
    secret = b"hashes of labels" * 40
    guessed = np.frombuffer(secret, np.uint64)
    whole = {
        kind: RowSet({"n": 5}, {"bound": hashes + np.uint64(n), "labelled": guessed})
        for n, kind in enumerate(("test", "merged"))
    }
    free = RowSet({"n": 5}, {"bound": hashes})
    for kind, rows in {**whole, "development": free, "table": whole["test"]}.items():
        ledger.write(lambda writing, rows=rows, kind=kind: writing.keep(rows.pack(), "key", 5, kind))
    assert any(secret[:16] in path.read_bytes() for path in tmp_path.glob("ledger.db*"))
    assert not ledger.has_mark(LOOKED_THROUGH)
    assert strip(ledger) == 2
    assert not any(secret[:16] in path.read_bytes() for path in tmp_path.glob("ledger.db*"))
    assert ledger.has_mark(LOOKED_THROUGH)
    for rows in (*whole.values(), free):
        left = RowSet.unpack(ledger.rowset(digest_of(rows.pack()))).arrays
        assert {name: array.tolist() for name, array in left.items()} == {"bound": rows.arrays["bound"].tolist()}
    assert ledger.forged_rowsets() == []
    assert [sorted(entry.facts["stripped"]) for entry in ledger.entries()] == [
        sorted(digest_of(one.pack()) for one in whole.values())
    ]
    assert strip(ledger) == 0
    assert len(ledger.entries()) == 1
    with sqlite3.connect(tmp_path / "ledger.db") as raw, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        raw.execute("UPDATE rowsets SET blob = x'00'")  # the triggers stand again


def test_what_stands_under_a_digest_is_used_if_it_is_its_own_or_a_note_names_it(tmp_path: Path) -> None:
    ledger, path = opened(tmp_path / "ledger.db"), tmp_path / "ledger.db"
    names = [
        ledger.write(lambda writing, blob=blob: writing.keep(blob, "key", 1, "test")) for blob in (b"one", b"two", b"three")
    ]
    changed(path, f"UPDATE rowsets SET blob = CAST('left' AS BLOB) WHERE digest = '{names[0]}'",
            f"UPDATE rowsets SET blob = CAST('other' AS BLOB) WHERE digest = '{names[1]}'")  # fmt: skip
    assert ledger.forged_rowsets() == sorted(names[:2])
    ledger.append("ruling", {"stripped": {names[0]: digest_of(b"left")}})  # no note
    ledger.append("note", {"stripped": {names[1]: digest_of(b"left")}})  # of another row set
    for name in names[:2]:
        with pytest.raises(LedgerError, match="changed"):
            ledger.rowset(name)
    ledger.append("note", {"stripped": {names[0]: digest_of(b"left")}})
    assert ledger.rowset(names[0]) == b"left"
    assert ledger.forged_rowsets() == [names[1]]
    assert ledger.rowsets([*names, "0" * 64]) == {names[2]: b"three"}  # as they were stored
    with sqlite3.connect(path) as raw:
        raw.execute("INSERT INTO rowsets VALUES (?, 'key', 1, 'test', x'00', 'forged')", (names[2],))
    assert ledger.rowset(names[2]) == b"three"


def test_a_signature_is_kept_once_and_another_ones_beside_it(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.db")
    entry = ledger.append("note", {})
    ((mine, signature),) = ledger.signatures()[entry.hash]
    for signer, said in ((mine, signature), ("b" * 64, signature), (mine, "c" * 128), (mine, signature)):
        ledger.write(lambda writing, signer=signer, said=said: writing.sign(entry.hash, signer, said))
    assert sorted(ledger.signatures()[entry.hash]) == sorted([(mine, signature), ("b" * 64, signature), (mine, "c" * 128)])


# --- merges


def test_a_merge_is_the_union_and_the_same_one_again_adds_only_that_it_was_done(tmp_path: Path) -> None:
    one, other = opened(tmp_path / "one.db"), opened(tmp_path / "other.db", "you")
    for number in range(3):
        one.append("note", {"text": f"one {number}"})
        other.append("note", {"text": f"other {number}"})
    other.write(lambda writing: writing.keep(b"rows", "key", 1, "test"))
    every = {entry.hash for entry in (*one.entries(), *other.entries())}
    for times in (1, 2):
        heads = {ledger.replica: ledger.entries()[-1].hash for ledger in (other,)}
        done = merge(one, other)
        assert done.facts["heads"].items() >= heads.items()
        assert {entry.hash for entry in one.entries() if entry.kind != "merge"} == every
        assert len(one.entries()) == 6 + times
        assert not one.entries().bad
    assert one.rowset(digest_of(b"rows")) == b"rows"


def test_ledgers_that_differ_at_a_place_of_a_chain_are_not_merged(tmp_path: Path) -> None:
    home = Home(tmp_path / "me")
    one, other = (Ledger.open(sqlite_url(tmp_path / name), "r" * 32) for name in ("one.db", "other.db"))
    for ledger in (one, other):
        ledger.append("note", {"text": "the same", "at": "now"})
    with pytest.raises(LedgerError, match="both ledgers have it, and differ"):
        merge(one, other)  # the ids that they were written under differ
    assert home.replica("x")
    migrated = [Ledger.open(sqlite_url(tmp_path / name), "s" * 32) for name in ("three.db", "four.db")]
    for place, ledger in enumerate(migrated):
        stated = follow(None, "migration", "migration", {"heads": {}, "place": place})
        ledger.write(lambda writing, stated=stated: writing.admit(stated))
    merge(*migrated)  # each ledger has a migration of its own


# --- a server that goes away


class Clock:
    """Seconds pass only where somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


AWAY = OperationalError("SELECT 1", {}, Exception("gone away"))


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Any, list[float]]]:
    """A ledger that takes itself for one on a server; the first so many writes, and readings, fail."""
    clock = Clock()
    monkeypatch.setattr(store, "time", clock)
    monkeypatch.setattr(store, "PATIENCE", 3.0)
    monkeypatch.setattr(store, "PAUSE", 1.0)

    def opened_(writes: int, readings: int = 0, dialect: str = "postgresql", arrives: bool = False) -> tuple[Any, list[float]]:
        ledger, tries = opened(tmp_path / "ledger.db"), []
        engine, attempt, read = ledger._engine, ledger._attempt, ledger.entries
        left = {"write": writes, "read": readings}

        def attempted(step: Any, token: str, done: list[Any]) -> None:
            tries.append(clock.now)
            if left["write"] == 0:
                return attempt(step, token, done)
            left["write"] -= 1
            if arrives:
                attempt(step, token, done)
            if readings:
                done.append("asked for")
            raise AWAY

        def entries(anew: bool = False) -> Any:
            if left["read"]:
                left["read"] -= 1
                raise StoreError
            return read(anew)

        monkeypatch.setattr(ledger, "_attempt", attempted)
        monkeypatch.setattr(ledger, "entries", entries)
        monkeypatch.setattr(ledger, "_engine", SimpleNamespace(dialect=SimpleNamespace(name=dialect), connect=engine.connect))
        return ledger, tries

    return opened_


def test_a_server_that_goes_away_is_waited_for_as_long_as_that(server: Callable[..., tuple[Any, list[float]]]) -> None:
    for away in (0, 2, 3):
        ledger, tries = server(away)
        ledger.append("note", {})
        assert len(tries) == away + 1
    ledger, tries = server(99)
    with pytest.raises(StoreError):
        ledger.append("note", {})
    assert np.diff(tries).tolist() == [1.0] * 3  # up to the end of the patience, and not beyond


def test_a_file_is_not_waited_for(server: Callable[..., tuple[Any, list[float]]]) -> None:
    ledger, tries = server(99, dialect="sqlite")
    with pytest.raises(StoreError):
        ledger.append("note", {})
    assert len(tries) == 1


def test_what_arrived_though_nobody_said_so_is_not_written_twice(server: Callable[..., tuple[Any, list[float]]]) -> None:
    ledger, tries = server(1, arrives=True)
    entry = ledger.append("note", {"text": "once"})
    assert [one.hash for one in ledger.entries()] == [entry.hash]
    assert len(tries) == 1


def test_what_was_lost_with_the_server_is_written_again(server: Callable[..., tuple[Any, list[float]]]) -> None:
    ledger, tries = server(1, readings=2)
    ledger.append("note", {"text": "at last"})
    assert [one.facts["text"] for one in ledger.entries()] == ["at last"]
    assert tries == [0.0, 3.0]  # asked twice in vain, then written anew


@pytest.mark.parametrize(("dialect", "seconds"), [("postgresql", 3.0), ("sqlite", 0.0)])
def test_a_server_is_asked_whether_it_arrived_as_long_as_that_and_a_file_once(
    server: Callable[..., tuple[Any, list[float]]], dialect: str, seconds: float
) -> None:
    ledger, tries = server(1, readings=99, dialect=dialect)
    with pytest.raises(StoreError):
        ledger.append("note", {})
    assert len(tries) == 1
    assert store.time.monotonic() == seconds
