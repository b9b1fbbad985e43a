"""What a real server refuses is told apart: each cause is brought about there, and has its code and its remedy."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from modelsel.core.errors import ConfigurationError, LedgerError, StoreError
from modelsel.ledger.database import schema, store
from modelsel.ledger.database.store import Ledger
from tests.extras import needs
from tests.ledger.postgresql import Server

needs("psycopg")
FULL = """CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE 'no space left' USING ERRCODE = '53100'; END $$"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        Ledger.open(running.url, "owner").append("note", {"n": 1})
        _type(running, "CREATE ROLE weak LOGIN", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO weak")
        _type(running, "CREATE ROLE strong LOGIN", "GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO strong")
        _type(running, "CREATE ROLE reader LOGIN IN ROLE strong", "ALTER ROLE reader SET default_transaction_read_only = on")
        _type(running, "CREATE ROLE hasty LOGIN IN ROLE strong", "ALTER ROLE hasty SET statement_timeout = 200")
        _type(running, "CREATE ROLE known LOGIN PASSWORD 'right' IN ROLE strong")
        rules = running.data / "pg_hba.conf"
        rules.write_text(f"host all known 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        _type(running, "SELECT pg_reload_conf()")
        yield running


def _type(server: Server, *statements: str) -> None:
    engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def _as(server: Server, who: str, more: str = "") -> str:
    return server.url.replace("ledger@", f"{who}@") + more


def _append(url: str) -> None:
    Ledger.open(url, "somebody").append("note", {"n": 2})


CASES: dict[str, tuple[str, str, Callable[[Server], str]]] = {
    "no rights": ("MSEL-642", "GRANT SELECT, INSERT", lambda server: _as(server, "weak")),
    "read only": ("MSEL-644", "takes writes", lambda server: _as(server, "reader")),
    "wrong password": ("MSEL-646", "check role and password", lambda server: _as(server, "known:wrong")),
    "no such role": ("MSEL-646", "check role and password", lambda server: _as(server, "stranger")),
    "wrong database": ("MSEL-647", "createdb", lambda server: server.url.replace("/postgres", "/nowhere")),
    "no TLS": ("MSEL-648", "sslmode", lambda server: _as(server, "strong", "?sslmode=require")),
    "wrong port": ("MSEL-641", "mend the address", lambda server: server.url.replace(str(server.port), "1")),
}


@pytest.mark.slow
@pytest.mark.parametrize("cause", CASES)
def test_a_cause_has_its_code_and_its_remedy(server: Server, cause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, remedy, address = CASES[cause]
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    with pytest.raises(StoreError, match=remedy) as refused:
        _append(address(server))
    assert (refused.value.code, refused.value.exit_code) == (code, 6)
    assert "wrong@" not in str(refused.value)


@pytest.mark.slow
def test_a_right_password_is_let_in(server: Server) -> None:
    _append(_as(server, "known:right"))


@pytest.mark.slow
def test_a_full_disk_is_no_damage(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's own code for it, raised by a trigger: a disk that is full would end other tests."""
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    _type(server, FULL, "CREATE TRIGGER full_disk BEFORE INSERT ON entries EXECUTE FUNCTION full_disk()")
    try:
        with pytest.raises(StoreError, match="MSEL-643") as refused:
            _append(server.url)
    finally:
        _type(server, "DROP TRIGGER full_disk ON entries", "DROP FUNCTION full_disk")
    assert "free some space" in str(refused.value)


@pytest.mark.slow
def test_a_lock_that_is_held_too_long_is_no_damage(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as holding:
        holding.execute(text("LOCK TABLE entries IN ACCESS EXCLUSIVE MODE"))
        with pytest.raises(StoreError, match="MSEL-645"):
            _append(_as(server, "hasty"))
    engine.dispose()


@pytest.mark.slow
def test_a_form_of_a_later_version_asks_for_an_upgrade() -> None:
    with Server() as later:
        Ledger.open(later.url, "owner")
        _type(later, "INSERT INTO about (name, value) VALUES ('form', '99')")
        with pytest.raises(StoreError, match=r"MSEL-649.*upgrade"):
            _append(later.url)


def test_a_driver_that_is_not_installed_is_named_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"pip install 'modelsel\[postgresql\]'"):
        Ledger.open("postgresql://ann:secret@db.example.org/looks", "somebody")


def test_a_file_that_is_no_ledger_is_damaged_and_one_that_is_full_is_not(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"no database" * 100)
    with pytest.raises(LedgerError, match="MSEL-502"):
        Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", "somebody")
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'small.db'}", "somebody")

    def fill(writing: store.WriteTransaction) -> None:
        writing.connection.exec_driver_sql("PRAGMA max_page_count = 1")
        writing.keep(b"x" * 1_000_000, "key", 1, "test")

    with pytest.raises(StoreError, match="MSEL-643"):
        ledger.write(fill)
