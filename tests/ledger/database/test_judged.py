"""What the home keeps of judged entries spares work and changes nothing: the same is believed, whatever is done to it."""

import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from modelsel.ledger.database import reading
from modelsel.ledger.database.reading import JudgedEntries
from modelsel.ledger.database.schema import sqlite_url
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import Home
from modelsel.ledger.trust import TrustedEntries

OLD, LATER = 8, 3  # entries of each person that the file knows, and that came since


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "FEWEST", 4)
    monkeypatch.setattr(reading, "FURTHER", 4)


class Team:
    """A ledger of two people, the first of whom keeps what was judged."""

    def __init__(self, folder: Path, name: str = "one") -> None:
        self.file = folder / "ledger.db"
        self.home, self.other = Home(folder / name), Home(folder / "two")
        self.url = sqlite_url(self.file)

    def files(self, version: str = "1") -> JudgedEntries:
        return JudgedEntries(self.home.folder / "judged", self.home.secret("index.key"), version)

    def opened(self, home: Home | None = None, judged: JudgedEntries | None = None) -> Ledger:
        home = home or self.home
        return Ledger.open(self.url, home.replica(self.url), home.signer(), judged)

    def write(self, count: int, keep: bool = False) -> None:
        one, two = self.opened(judged=self.files()), self.opened(self.other)
        for number in range(count):
            for ledger in (one, two):
                ledger.append("note", {"text": f"number {number}", "at": f"2026-01-01T00:00:{number:02}"})
        if keep:
            one.keep_judged(lambda read: True)
        one.close()
        two.close()

    def raw(self, *statements: str) -> None:
        with sqlite3.connect(self.file) as raw:
            for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                raw.execute(f'DROP TRIGGER "{name}"')
            for statement in statements:
                raw.execute(statement)
        raw.close()

    @property
    def kept(self) -> Path:
        return next((self.home.folder / "judged").iterdir())


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """Entries that are known to the file, and some that came since."""
    team = Team(tmp_path)
    team.write(OLD, keep=True)
    team.write(LATER)
    return team


def told(read: TrustedEntries) -> tuple[Any, ...]:
    """Everything that a reading says."""
    fields = [(e.replica, e.seq, e.kind, e.body, e.prev, e.hash) for e in read]
    return fields, sorted(str(one) for one in read.bad), sorted(read.lost), read.signers, read.owner, read.before, read.me


def same(team: Team) -> TrustedEntries:
    """Read with the file and without: the same is believed."""
    plain, with_file = team.opened().entries(), team.opened(judged=team.files()).entries(anew=True)
    assert told(with_file) == told(plain)
    return with_file


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many entries were examined, each time all were."""
    times: list[int] = []
    real = reading.examine
    monkeypatch.setattr(reading, "examine", lambda entries, *rest: (times.append(len(entries)), real(entries, *rest))[1])
    return times


def test_entries_whose_bytes_are_the_same_are_not_examined_again(team: Team, examined: list[int]) -> None:
    assert len(same(team)) == 2 * (OLD + LATER)
    assert len(examined) == 1  # without the file
    ledger = team.opened(judged=team.files())
    assert ledger.entries(anew=True) == ledger.entries(anew=True)
    assert [_stated(entry) for entry in ledger.entries()] == [_stated(entry) for entry in team.opened().entries()]
    assert len(examined) == 2


def test_who_owns_a_ledger_is_read_with_it(team: Team) -> None:
    assert team.opened().entries().owner == team.home.signer().public
    assert team.opened(team.other).entries().owner == team.home.signer().public


def _stated(entry: LedgerEntry) -> dict[str, Any]:
    return {name: value for name, value in vars(entry.brief).items() if value}


def test_it_is_written_again_when_much_came(team: Team, examined: list[int]) -> None:
    before = team.kept.read_bytes()
    team.opened(judged=team.files()).keep_judged(lambda read: True)  # nothing was read yet
    assert team.kept.read_bytes() == before
    ledger = team.opened(judged=team.files())
    ledger.entries(anew=True)
    ledger.keep_judged(lambda read: False)
    assert team.kept.read_bytes() == before
    ledger.keep_judged(lambda read: True)
    assert team.kept.read_bytes() != before
    assert not examined
    same(team)


ONE = "seq = 3 AND replica = (SELECT min(replica) FROM entries)"
LAST = "rowid = (SELECT max(rowid) FROM entries)"
CHANGES = {
    "replica": f"UPDATE entries SET replica = 'x' || substr(replica, 2) WHERE {ONE}",
    "seq": f"UPDATE entries SET seq = 99 WHERE {ONE}",
    "kind": f"UPDATE entries SET kind = 'seal' WHERE {ONE}",
    "body": f"UPDATE entries SET body = replace(body, 'number', 'nunber') WHERE {ONE}",
    "body as bytes": f"UPDATE entries SET body = CAST(body AS BLOB) WHERE {ONE}",
    "prev": f"UPDATE entries SET prev = hash WHERE {ONE}",
    "hash": f"UPDATE entries SET hash = prev WHERE {ONE}",
    "last body": f"UPDATE entries SET body = replace(body, 'number', 'nunber') WHERE {LAST}",
    "gone": f"DELETE FROM entries WHERE {ONE}",
    "last gone": f"DELETE FROM entries WHERE {LAST}",
    "all gone": "DELETE FROM entries",
    "one chain gone": "DELETE FROM entries WHERE replica = (SELECT min(replica) FROM entries)",
    "all since gone": f"DELETE FROM entries WHERE seq > {OLD}",
    "cut into what is known": f"DELETE FROM entries WHERE seq > {OLD - 2}",
    "exchanged": "UPDATE entries SET seq = 7 - seq WHERE seq IN (3, 4)",
    "twice": f"INSERT INTO entries SELECT replica, seq, kind, body, prev, 'x' || substr(hash, 2) FROM entries WHERE {ONE}",
    "a stranger's": "INSERT INTO entries SELECT 'stranger', seq, kind, body, prev, hash FROM entries WHERE seq = 1",
    "signature": "UPDATE signatures SET signature = replace(signature, '1', '2')",
    "signer": "UPDATE signatures SET signer = replace(signer, '1', '2')",
    "signatures gone": "DELETE FROM signatures",
    "a signature gone": f"DELETE FROM signatures WHERE hash = (SELECT hash FROM entries WHERE {LAST})",
    "owner": "UPDATE about SET value = 'somebody' WHERE name = 'owner'",
}
IN_VAIN = {  # what changes nothing of what is believed
    "signature of nothing": "INSERT INTO signatures SELECT 'x' || substr(hash, 2), signer, signature FROM signatures LIMIT 1",
    "migrated": "UPDATE about SET value = (SELECT min(hash) FROM entries) WHERE name = 'migrated'",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_changed_in_the_ledger_is_seen_as_without_the_file(team: Team, change: str) -> None:
    before = told(same(team))
    team.raw(CHANGES[change])
    assert told(same(team)) != before


@pytest.mark.parametrize("change", IN_VAIN)
def test_what_changes_nothing_changes_nothing(team: Team, change: str) -> None:
    before = told(same(team))
    team.raw(IN_VAIN[change])
    assert told(same(team)) == before


@pytest.mark.slow
def test_a_bit_flipped_anywhere_in_the_ledgers_file_is_seen_as_without(team: Team) -> None:
    """Where the database cannot be read either way, both refuse."""
    whole = team.file.read_bytes()
    for place in range(100, len(whole), 1499):
        for rest in team.file.parent.glob("ledger.db-*"):
            rest.unlink()
        team.file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        assert _said(team, None) == _said(team, team.files())


def _said(team: Team, judged: JudgedEntries | None) -> tuple[Any, ...]:
    try:
        return told(team.opened(judged=judged).entries(anew=True))
    except Exception as error:
        return (type(error).__name__,)


def _flipped(team: Team) -> None:
    raw = bytearray(team.kept.read_bytes())
    raw[len(raw) // 2] ^= 1
    team.kept.write_bytes(raw)


def _anothers(team: Team) -> None:
    """The file of another home that holds the same ledger."""
    shutil.copytree(team.file.parent, team.file.parent / "copy")
    away = Team(team.file.parent / "copy", "three")
    away.home.replica(away.url)
    ledger = away.opened(judged=away.files())
    ledger.entries()
    ledger.keep_judged(lambda read: True)
    team.kept.write_bytes(away.kept.read_bytes())


def _of_another_ledger(team: Team) -> None:
    """This home's own file about other entries."""
    (team.file.parent / "else").mkdir()
    away = Team(team.file.parent / "else")
    away.home = team.home
    before = team.kept
    away.write(OLD, keep=True)
    (new,) = (path for path in (team.home.folder / "judged").iterdir() if path != before)
    new.replace(before)


SPOILED: dict[str, Callable[[Team], Any]] = {
    "flipped": _flipped,
    "cut": lambda team: team.kept.write_bytes(team.kept.read_bytes()[:-9]),
    "empty": lambda team: team.kept.write_bytes(b""),
    "gone": lambda team: team.kept.unlink(),
    "another home's": _anothers,
    "another ledger's": _of_another_ledger,
    "another secret": lambda team: (team.home.folder / "index.key").write_bytes(b"k" * 32),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("done", SPOILED)
def test_a_file_that_is_not_what_was_written_says_nothing(team: Team, examined: list[int], done: str) -> None:
    SPOILED[done](team)
    del examined[:]
    same(team)
    assert len(examined) == 2  # without the file, and with it


def test_what_other_code_judged_is_judged_again(team: Team, examined: list[int]) -> None:
    team.opened(judged=team.files("2")).entries()
    assert len(examined) == 1


def test_an_old_file_beside_a_grown_ledger_and_a_new_one_beside_an_old_copy(team: Team, examined: list[int]) -> None:
    stale, copy = team.kept.read_bytes(), team.file.read_bytes()
    team.write(LATER)
    ledger = team.opened(judged=team.files())
    ledger.entries()
    ledger.keep_judged(lambda read: True)
    fresh = team.kept.read_bytes()
    assert fresh != stale
    del examined[:]
    team.kept.write_bytes(stale)
    assert len(same(team)) == 2 * (OLD + 2 * LATER)
    assert len(examined) == 1  # what is known to the old file is not examined
    team.kept.write_bytes(fresh)
    for rest in team.file.parent.glob("ledger.db-*"):
        rest.unlink()
    team.file.write_bytes(copy)
    assert len(same(team)) == 2 * (OLD + LATER)
    assert len(examined) == 3


def test_two_that_write_at_once_leave_one_whole_file(team: Team, examined: list[int]) -> None:
    def keep(_: int) -> None:
        ledger = team.opened(judged=team.files())
        ledger.append("note", {"text": "meanwhile"})
        ledger.entries(anew=True)
        ledger.keep_judged(lambda read: True)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(keep, range(8)))
    del examined[:]
    assert len(same(team)) == 2 * (OLD + LATER) + 8
    assert len(examined) == 1


def test_nothing_is_kept_of_a_ledger_with_bad_entries(team: Team) -> None:
    team.raw(CHANGES["a stranger's"])
    before = team.kept.read_bytes()
    ledger = team.opened(judged=team.files())
    assert ledger.entries().bad
    ledger.keep_judged(lambda read: True)
    assert team.kept.read_bytes() == before
