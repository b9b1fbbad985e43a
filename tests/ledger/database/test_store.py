"""The store: append-only, durable, one writer at a time, and errors that say what to do."""

import hashlib
import logging
import multiprocessing
import os
import shutil
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from modelsel.core.errors import ConfigurationError, LedgerError, StoreError
from modelsel.ledger.database import schema
from modelsel.ledger.database.schema import on_network, sqlite_url
from modelsel.ledger.database.store import Ledger, WriteTransaction
from modelsel.ledger.entry import broken
from modelsel.ledger.home import without_password


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "ledger.db"


def opened(path: Path, replica: str = "r1") -> Ledger:
    return Ledger.open(sqlite_url(path), replica)


def test_what_was_appended_is_there_for_the_next_process(path: Path) -> None:
    first = opened(path)
    entries = [first.append("note", {"n": n}) for n in range(3)]
    again = opened(path)
    assert again.entries() == entries
    assert again.id == first.id
    assert broken(entries) == []


def test_it_is_in_wal_mode_synchronous_and_private(path: Path) -> None:
    ledger = opened(path)
    ledger.append("note", {})
    raw = ledger._engine.raw_connection()
    assert raw.cursor().execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert raw.cursor().execute("PRAGMA synchronous").fetchone() == (2,)
    raw.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("others_get_on", [True, False])
def test_who_waits_for_the_lock_waits_as_long_as_others_get_on(
    path: Path, monkeypatch: pytest.MonkeyPatch, others_get_on: bool
) -> None:
    """SQLite tells nobody whose turn it is: with many at once one may find the file locked again and again."""
    monkeypatch.setattr("modelsel.ledger.database.schema.PATIENCE", 50)
    other, mine = opened(path, "r2"), opened(path, "r1")
    holder = other._engine.connect().execution_options(modelsel_write=True)
    attempt, turns = Ledger._attempt, []

    def held(ledger: Ledger, *more: Any) -> None:
        turns.append(ledger.replica)
        holding = holder.begin() if len(turns) <= 3 else None
        if holding and others_get_on:
            WriteTransaction(holder, other, str(len(turns))).append("note", {})
        try:
            attempt(ledger, *more)
        finally:
            if holding:
                holding.commit()

    monkeypatch.setattr(Ledger, "_attempt", held)
    if others_get_on:
        mine.append("note", {})
        assert [entry.replica for entry in opened(path).entries()] == ["r1", "r2", "r2", "r2"]
    else:
        with pytest.raises(StoreError, match="locked"):
            mine.append("note", {})
    assert len(turns) == (4 if others_get_on else 1)


def test_who_waits_for_a_locked_ledger_is_told_so_and_writes_when_it_is_free(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert schema.SOON < 2.0
    monkeypatch.setattr(schema, "SOON", 0.01)
    other, mine = opened(path, "r2"), opened(path, "r1")
    said: SimpleQueue[str] = SimpleQueue()
    logger, handler = logging.getLogger("modelsel"), logging.Handler(logging.WARNING)
    monkeypatch.setattr(handler, "emit", lambda record: said.put(record.getMessage()))
    logger.addHandler(handler)
    try:
        with other._engine.connect().execution_options(modelsel_write=True) as holder, ThreadPoolExecutor(1) as pool:
            holding = holder.begin()
            waiting = pool.submit(mine.append, "note", {})
            assert "is locked by another process; it is waited for" in said.get(timeout=60)
            assert not waiting.done()
            holding.commit()
            waiting.result(timeout=60)
    finally:
        logger.removeHandler(handler)
    assert [entry.replica for entry in mine.entries()] == ["r1"]


def test_the_file_alone_holds_what_was_written_once_nobody_uses_it(path: Path, tmp_path: Path) -> None:
    """It may be copied, as a file, without what SQLite keeps beside it while it is open."""
    opened(path).append("note", {})
    assert [one.name for one in path.parent.glob(f"{path.name}*")] == [path.name]
    copy = shutil.copy(path, tmp_path / "copy.db")
    assert [entry.kind for entry in opened(Path(copy)).entries()] == ["note"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = 'x'",
        "DELETE FROM entries",
        "INSERT OR REPLACE INTO entries SELECT replica, seq, kind, 'forged', prev, hash FROM entries",
        "UPDATE rowsets SET blob = x'00'",
        "DELETE FROM rowsets",
        "REPLACE INTO rowsets SELECT digest, key_id, 0, kind, x'00', place FROM rowsets",
        "UPDATE about SET value = 'x'",
    ],
)
def test_the_database_refuses_to_forget(path: Path, statement: str) -> None:
    ledger = opened(path)
    ledger.write(lambda writing: (writing.append("note", {}), writing.keep(b"rows", "key", 1, "test")))
    before = ledger.entries()
    with sqlite3.connect(path) as raw, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        raw.execute(statement)
    assert opened(path).entries() == before


def test_what_a_stranger_inserts_occupies_no_place(path: Path) -> None:
    ledger = opened(path)
    first = ledger.append("note", {})
    digest = hashlib.sha256(b"rows").hexdigest()
    with sqlite3.connect(path) as raw:
        raw.execute("INSERT INTO entries VALUES ('r1', 2, 'note', '{}', ?, 'forged')", (first.hash,))
        raw.execute("INSERT INTO rowsets VALUES (?, 'key', 1, 'test', x'00', 'forged')", (digest,))
    assert ledger.write(lambda writing: writing.keep(b"rows", "key", 1, "test")) == digest
    assert ledger.rowset(digest) == b"rows"
    assert ledger.forged_rowsets() == [digest]
    assert len(ledger.everything()) == 2


def test_a_failed_step_leaves_nothing(path: Path) -> None:
    ledger = opened(path)

    def step(writing: object) -> None:
        writing.append("note", {})  # type: ignore[attr-defined]
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        ledger.write(step)
    assert ledger.entries() == []


def test_reading_does_not_wait_for_a_writer(path: Path) -> None:
    ledger, reader = opened(path), opened(path)

    def step(writing: object) -> int:
        writing.append("note", {})  # type: ignore[attr-defined]
        return len(reader.entries())  # a reader that took the write lock would wait for this step for ever

    assert ledger.write(step) == 0


def test_row_sets_are_stored_once_and_verified(path: Path) -> None:
    ledger = opened(path)
    digests = {ledger.write(lambda writing: writing.keep(b"rows", "key", 1, "test")) for _ in range(3)}
    assert len(digests) == 1
    assert ledger.rowset(digests.pop()) == b"rows"
    with pytest.raises(LedgerError, match="gone"):
        ledger.rowset("0" * 64)


def test_a_changed_row_set_is_not_used(path: Path) -> None:
    ledger = opened(path)
    digest = ledger.write(lambda writing: writing.keep(b"rows", "key", 1, "test"))
    with sqlite3.connect(path) as raw:
        raw.execute("DROP TRIGGER rowsets_no_update")
        raw.execute("UPDATE rowsets SET blob = x'00'")
    with pytest.raises(LedgerError, match="changed"):
        ledger.rowset(digest)


def test_a_file_that_is_no_database_is_a_ledger_error(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database at all" * 500)
    with pytest.raises(LedgerError, match="damaged") as caught:
        opened(path)
    assert caught.value.exit_code == 5


def test_a_place_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError) as caught:
        opened(tmp_path / "file" / "ledger.db")
    assert caught.value.exit_code == 6


@pytest.mark.parametrize("url", ["mysql://host/x", "nonsense", "sqlite://", "sqlite:///:memory:"])
def test_what_is_no_ledger_address_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"guard\.ledger"):
        Ledger.open(url, "r1")


@pytest.mark.parametrize("url", [
    "postgresql://me:secret@host/db", "postgresql://me:se/cret@host:5432/db", "postgresql://me@host/db"
])  # fmt: skip
def test_passwords_are_not_shown(url: str) -> None:
    """As SQLAlchemy, which connects, tells a password from the rest."""
    assert without_password(url) == make_url(url).render_as_string(hide_password=True)
    assert without_password("sqlite:////tmp/ü:b@c.db") == "sqlite:////tmp/ü:b@c.db"  # a file's name stays as it is


def test_network_file_systems_are_known(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("server:/home /home nfs4 rw 0 0\n/dev/sda / ext4 rw 0 0\n")
    assert on_network(Path("/home/me/ledger.db"), mounts)
    assert not on_network(Path("/var/ledger.db"), mounts)


def _append(path: Path, replica: str, times: int) -> None:
    ledger = opened(path, replica)
    for index in range(times):
        ledger.append("note", {"pid": os.getpid(), "index": index})


@pytest.mark.parametrize("replicas", [("r1",) * 4, ("a", "b", "c", "d")])
def test_processes_that_start_together_and_write_together_lose_nothing(path: Path, replicas: tuple[str, ...]) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_append, args=(path, replica, 15)) for replica in replicas]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    entries = opened(path).entries()
    assert len(entries) == 60
    assert broken(entries) == []
