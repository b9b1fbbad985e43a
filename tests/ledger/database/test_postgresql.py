"""The ledger of a team: a real server, several writers, crash stops."""

import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from modelsel.core.errors import LedgerError, StoreError
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.entry import broken, follow
from modelsel.ledger.home import Home
from tests.extras import needs
from tests.guard.studies import Rule, Study, numbers
from tests.ledger.postgresql import Server

needs("psycopg")
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.mark.slow
def test_entries_stay_and_cannot_be_changed(server: Server) -> None:
    ledger = Ledger.open(server.url, "r-fixed")
    entries = [ledger.append("note", {"n": n}) for n in range(3)]
    again = Ledger.open(server.url, "r-fixed")
    assert [entry for entry in again.entries() if entry.replica == "r-fixed"] == entries
    ledger.write(lambda writing: writing.keep(b"rows", "key", 1, "test"))
    engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"))
    for statement in ("UPDATE entries SET body = 'x'", "DELETE FROM entries", "TRUNCATE entries", "DELETE FROM rowsets"):
        with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
            connection.execute(text(statement))


@pytest.mark.slow
def test_two_homes_that_open_it_first_give_it_one_name(server: Server) -> None:
    """The second is held while the first has written a name that it has not committed."""
    Ledger.open(server.url, "r-first").close()
    engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE about DISABLE TRIGGER about_fixed"))
        named = connection.execute(text("DELETE FROM about WHERE name = 'ledger' RETURNING value")).scalar()
        connection.execute(text("ALTER TABLE about ENABLE TRIGGER about_fixed"))
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO about%'"
    with ThreadPoolExecutor(1) as second:
        with engine.connect() as first, engine.connect() as watching, first.begin():
            first.execute(text("INSERT INTO about (name, value) VALUES ('ledger', :name)"), {"name": named})
            opened = second.submit(Ledger.open, server.url, "r-second")
            while not watching.execute(text(waiting)).scalar() and not opened.done():
                watching.rollback()
                time.sleep(0.01)
            assert not opened.done()
        assert opened.result(timeout=60).id == named
    engine.dispose()


@pytest.mark.slow
def test_two_people_share_looks(server: Server, tmp_path: Path) -> None:
    (tmp_path / "b" / "keys").mkdir(parents=True)
    first = Study(numbers(seed=5), tmp_path / "a", settings={"ledger": server.url, "anchors": ()})
    assert first.look().look == 1
    (tmp_path / "b" / "keys" / "user").write_bytes((tmp_path / "a" / "keys" / "user").read_bytes())
    second = first.but(home=tmp_path / "b", rule=Rule(1))
    assert second.look().look == 2
    assert second.but(rule=Rule(0)).look().replay
    assert "***" not in first.gate().place
    assert first.gate().place.startswith("postgresql://ledger@")


def test_a_server_that_is_not_there_shows_no_score(tmp_path: Path) -> None:
    study = Study(numbers(), tmp_path, settings={"ledger": "postgresql://nobody@127.0.0.1:1/none", "anchors": ()})
    with pytest.raises(StoreError) as caught:
        study.look()
    assert caught.value.exit_code == 6


def _write(url: str, replica: str, stop: Any, acknowledged: Any) -> None:
    """Append until told to stop, through crashes; say what was acknowledged."""
    ledger = None
    index = 0
    while not stop.is_set():
        try:
            ledger = ledger or Ledger.open(url, replica)
            entry = ledger.append("note", {"replica": replica, "index": index})
        except StoreError:
            time.sleep(0.05)
            continue
        acknowledged.put(entry.hash)
        index += 1
    acknowledged.put(None)


@pytest.mark.parametrize("crashes", [pytest.param(2, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.soak)])
def test_crash_stops_lose_no_acknowledged_entry_and_count_none_twice(crashes: int) -> None:
    with Server() as server:
        acknowledged, stop = SPAWN.Queue(), SPAWN.Event()
        writers = [SPAWN.Process(target=_write, args=(server.url, f"w{k}", stop, acknowledged)) for k in range(3)]
        for writer in writers:
            writer.start()
        promised = {acknowledged.get(timeout=120)}
        for _ in range(crashes):
            time.sleep(0.4)
            server.crash()
        stop.set()
        ended = 0
        while ended < len(writers):
            item = acknowledged.get(timeout=120)
            ended += item is None
            promised |= {item} if item else set()
        for writer in writers:
            writer.join()
        entries = Ledger.open(server.url, "reader").entries()
    assert len(promised) > crashes
    assert broken(entries) == []
    assert promised <= {entry.hash for entry in entries}
    written = [(entry.facts["replica"], entry.facts["index"]) for entry in entries]
    assert len(written) == len(set(written))


OF_BEFORE = """
CREATE TABLE entries (replica VARCHAR(32) NOT NULL, seq INTEGER NOT NULL, kind VARCHAR(32) NOT NULL, body TEXT NOT NULL,
  prev VARCHAR(64) NOT NULL, hash VARCHAR(64) NOT NULL, PRIMARY KEY (replica, seq), UNIQUE (prev), UNIQUE (hash));
CREATE TABLE rowsets (digest VARCHAR(64) NOT NULL, key_id VARCHAR(16) NOT NULL, n INTEGER NOT NULL, kind VARCHAR(32) NOT NULL,
  blob BYTEA NOT NULL, PRIMARY KEY (digest));
CREATE TABLE about (name VARCHAR(32) NOT NULL, value VARCHAR(64) NOT NULL, PRIMARY KEY (name));
CREATE ROLE member LOGIN;
GRANT SELECT, INSERT ON entries, rowsets, about TO member
"""


@pytest.mark.slow
def test_a_teams_ledger_of_before_is_migrated_by_its_owner_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    old = follow(None, "of before", "note", {"text": "unsigned"})
    with Server() as server:
        engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.begin() as connection:
            for statement in OF_BEFORE.split(";"):
                connection.execute(text(statement))
            values = {name: getattr(old, name) for name in ("replica", "seq", "kind", "body", "prev", "hash")}
            connection.execute(text("INSERT INTO entries VALUES (:replica, :seq, :kind, :body, :prev, :hash)"), values)
        with pytest.raises(LedgerError, match="its owner opens it once"):
            Ledger.open(server.url.replace("ledger@", "member@"), home.replica("x"), home.signer())
        ledger = Ledger.open(server.url, home.replica(server.url), home.signer())
        ledger.append("note", {"text": "signed"})
        assert [entry.kind for entry in ledger.entries()].count("note") == 2
        assert ledger.entries().owner == home.signer().public
        forged = follow(old, "of before", "note", {"text": "later"})
        values = {name: getattr(forged, name) for name in values}
        with engine.begin() as connection:
            connection.execute(text("INSERT INTO entries VALUES (:replica, :seq, :kind, :body, :prev, :hash)"), values)
        assert [bad.entry for bad in ledger.entries().bad] == [forged]
        with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
            connection.execute(text("DELETE FROM signatures"))
