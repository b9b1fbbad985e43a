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
