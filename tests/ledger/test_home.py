"""The person's place: keys that stay, and stay private."""

import stat
from pathlib import Path

import pytest

from modelsel.core.errors import ConfigurationError, LedgerError, StoreError
from modelsel.ledger.home import Home, IdentityKey


def test_modelsel_home_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "h"))
    assert Home.find().ledger == tmp_path / "h" / "ledger.db"
    monkeypatch.delenv("MODELSEL_HOME")
    assert Home.find().folder.is_absolute()


def test_a_key_is_made_once_and_private(tmp_path: Path) -> None:
    home = Home(tmp_path / "h")
    key = home.key()
    assert Home(tmp_path / "h").key() == key
    assert len(key.secret) == 32
    assert stat.S_IMODE((tmp_path / "h" / "keys" / "user").stat().st_mode) == 0o600
    assert home.key("team") != key
    assert key.secret.hex() not in repr(key)


def test_a_key_from_the_environment_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MODELSEL_KEY", "ab" * 32)
    assert Home(tmp_path).key() == IdentityKey(b"\xab" * 32)
    monkeypatch.setenv("MODELSEL_KEY", "not hexadecimal")
    with pytest.raises(LedgerError, match="MODELSEL_KEY"):
        Home(tmp_path).key()


def test_a_damaged_key_is_said_and_not_replaced(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.key()
    (tmp_path / "keys" / "user").write_bytes(b"short")
    with pytest.raises(LedgerError, match="5 bytes instead of 32"):
        home.key()


def test_the_chain_of_a_copied_ledger_has_another_name(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.replica("sqlite:///a") == home.replica("sqlite:///a") != home.replica("sqlite:///b")


def test_state_is_kept_and_damage_is_said(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with home.changing() as state:
        state["marks"] = {"x": 1}
    assert home.state() == {"marks": {"x": 1}}
    (tmp_path / "state.json").write_text("{")
    with pytest.raises(LedgerError, match="damaged"):
        home.state()


def test_a_home_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="MODELSEL_HOME"):
        Home(tmp_path / "file" / "home").key()


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "a/b", "..", ".", "", ".hidden", "a\0b"])
def test_a_name_of_a_key_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"guard\.project") as caught:
        Home(tmp_path / "a" / "home").key(name)
    assert caught.value.exit_code == 2
    assert list(tmp_path.rglob("*")) == []


def test_the_users_key_is_the_homes_own_and_that_of_a_project_is_not(tmp_path: Path) -> None:
    home = Home(tmp_path)
    own, user, team = home.own(), home.key(), home.key("team")
    assert own == user != team
    assert home.keys() == {key.id: key for key in (own, team)}
    old = Home(tmp_path / "old")
    (old.folder / "keys").mkdir(parents=True)
    (old.folder / "keys" / "user").write_bytes(b"u" * 32)
    assert old.own().secret == b"u" * 32  # a home of before there was a key of its own


def test_keys_at_hand_are_those_of_the_right_length_and_the_one_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path)
    own = home.own()
    (tmp_path / "keys").mkdir(exist_ok=True)
    (tmp_path / "keys" / "short").write_bytes(b"short")
    (tmp_path / "keys" / "folder").mkdir()
    assert set(home.keys()) == {own.id}
    monkeypatch.setenv("MODELSEL_KEY", "ab" * 32)
    assert set(home.keys()) == {own.id, IdentityKey(b"\xab" * 32).id}
    monkeypatch.setenv("MODELSEL_KEY", "ab")
    assert set(home.keys()) == {own.id}


def test_an_own_key_that_is_gone_or_another_is_said(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.own()
    assert home.since == home.state()["since"]
    before = (tmp_path / "own.key").read_bytes()
    (tmp_path / "own.key").write_bytes(b"o" * 32)
    with pytest.raises(LedgerError, match="another one"):
        Home(tmp_path).own()
    (tmp_path / "own.key").unlink()
    with pytest.raises(LedgerError, match="gone"):
        Home(tmp_path).own()
    assert not (tmp_path / "own.key").exists()
    (tmp_path / "own.key").write_bytes(before)
    assert Home(tmp_path).own().secret == before


def test_the_chains_of_a_place_are_those_of_every_generation_and_of_before_signatures(tmp_path: Path) -> None:
    home, names = Home(tmp_path), []
    assert home.replicas("a") == {home.replica("a"), home._salt("a", 0)}
    for generation in (0, 1, 2):
        with home.changing() as state:
            state["generation"] = {"a": generation, "b": 7}
        names.append(home.replica("a"))
    assert len(set(names)) == 3
    assert home.replicas("a") == {*names, *(home._salt("a", generation) for generation in (0, 1, 2))}
    assert all(len(name) == 32 for name in names)
    assert home.secret("index.key") == home.secret("index.key") != home.secret("other.key")
    assert home.signer().public == Home(tmp_path).signer().public


def test_passwords_of_ledgers_are_not_remembered(tmp_path: Path) -> None:
    """Neither new ones, nor those that an earlier version wrote down."""
    home, url = Home(tmp_path), "postgresql://ann:secret@db.example.org/looks"
    chain = home.replica(url)
    with home.changing() as state:
        state["generation"], state["places"] = {url: 1}, {url: "a ledger"}
    assert home.state()["places"] == {"postgresql://ann:***@db.example.org/looks": "a ledger"}
    assert chain in home.replicas(url)
    assert home.replica(url) != chain
    with home.changing():
        pass
    assert "secret" not in (tmp_path / "state.json").read_text()
