"""A dishonest colleague who may insert into the team's ledger: each forgery is named, stops nobody and hides nothing."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from math import log
from pathlib import Path
from typing import Any

import pytest

from modelsel.api.results.audit import code_of
from modelsel.core.errors import ConfigurationError
from modelsel.guard.history import History
from modelsel.guard.quarantine import PLACE, believed_entries, quarantine_charges
from modelsel.guard.release import worst_of
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.page import markdown
from modelsel.ledger.database.store import FIELDS, Ledger
from modelsel.ledger.entry import LedgerEntry, follow
from modelsel.ledger.home import Home
from tests.guard.studies import Rule, Study, numbers

WORST = worst_of(log(10 * 121))


class Team:
    """Two homes under one key, and one ledger; `insert` is what a stranger with the grants can do."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "team.db"
        Home(folder / "alice").key("team")
        shutil.copytree(folder / "alice" / "keys", folder / "bob" / "keys")
        settings = {"ledger": f"sqlite:///{self.path}", "project": "team", "anchors": (), "declared_space": None, "quota": None}
        self.alice = Study(numbers(), folder / "alice", settings=settings)
        self.bob = Study(numbers(), folder / "bob", settings=settings, rule=Rule(1))

    def ledger(self, study: Study) -> Ledger:
        return study.gate().session.ledger

    def insert(self, entry: LedgerEntry) -> None:
        with closing(sqlite3.connect(self.path)) as raw, raw:
            raw.execute("INSERT INTO entries VALUES (?,?,?,?,?,?)", [getattr(entry, name) for name in FIELDS])

    def last(self, kind: str) -> LedgerEntry:
        return [entry for entry in self.ledger(self.alice).everything() if entry.kind == kind][-1]

    def told(self) -> list[str]:
        return [one["message"] for one in audit(self.alice.gate())["flags"] if one["code"] == "G079"]


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


def reveal_in_a_colleagues_chain(team: Team) -> str:
    end, intent = team.last("reveal"), team.last("intent")
    good = {**end.facts, "score": 0.01, "errors": 1, "interval": [0.0, 0.03], "intent": intent.facts["id"], "id": "forged"}
    team.insert(follow(team.ledger(team.alice).everything()[-1], end.replica, "reveal", good))
    return "nobody who may write this chain signed it"


def reveal_in_a_chain_of_his_own(team: Team) -> str:
    end, intent = team.last("reveal"), team.last("intent")
    team.ledger(team.bob).append("reveal", {**end.facts, "score": 0.01, "errors": 1, "intent": intent.facts["id"]})
    return "it answers another person's look"


def negative_price(team: Team) -> str:
    ledger, intent, end = team.ledger(team.bob), team.last("intent"), team.last("reveal")
    mine = ledger.append("intent", {**intent.facts, "predictions": "none"})
    ledger.append("reveal", {**end.facts, "intent": mine.facts["id"], "price": -1000.0})
    return "as reveal it lacks price"


def low_price(team: Team) -> str:
    ledger, intent, end = team.ledger(team.bob), team.last("intent"), team.last("reveal")
    mine = ledger.append("intent", {**intent.facts, "predictions": "none"})
    ledger.append("reveal", {**end.facts, "intent": mine.facts["id"], "price": 0.001})
    return "its price is 0.001, and its answer costs"


def malformed(team: Team) -> str:
    team.insert(LedgerEntry(team.ledger(team.alice).replica, 99, "intent", "{not json", "0" * 64, "1" * 64))
    return "its contents were changed"


def malformed_and_signed(team: Team) -> str:
    team.ledger(team.bob).append("intent", {"testset": team.last("intent").facts["testset"], "worst": "much"})
    return "as intent it lacks"


FORGERIES = (
    reveal_in_a_colleagues_chain, reveal_in_a_chain_of_his_own, negative_price, low_price, malformed, malformed_and_signed,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("forge", FORGERIES)
def test_a_forgery_is_named_stops_nobody_and_hides_nothing(team: Team, forge: Callable[[Team], str]) -> None:
    first = team.alice.look()
    said = forge(team)
    again = team.alice.look()
    assert again.replay
    assert again.score == first.score  # not what was forged
    assert first.interval is not None
    assert again.interval is not None
    # a bad entry may stand for a look that did not know of this one, which then counts as if after it: wider, never narrower
    assert again.interval[0] <= first.interval[0]
    assert again.interval[1] >= first.interval[1]
    result = team.alice.but(rule=Rule(2)).look()
    assert result.score is not None
    assert (
        result.interval is None or result.spent >= first.price + WORST - 1e-9
    )  # a bad entry costs what the set that it names could have released
    assert "G079" in result.flags
    report = audit(team.alice.gate())
    assert any(said in message for message in team.told())
    assert report["ledger"]["intact"] is True
    assert "ledger is whole" not in markdown(report)
    assert code_of(report, None) == 0


@pytest.mark.slow
def test_an_entry_that_names_no_set_takes_every_certificate_until_the_owner_rules(team: Team) -> None:
    team.alice.look()
    malformed(team)
    assert team.alice.but(rule=Rule(2)).look().interval is None
    assert team.bob.look().interval is None
    place = team.ledger(team.alice).entries().bad[0].entry.place
    with pytest.raises(ConfigurationError, match="only the owner"):
        team.bob.gate().rule([place], "please")
    team.ledger(team.bob).append("ruling", {"void": [place]})
    assert team.bob.but(rule=Rule(3)).look().interval is None
    team.alice.gate().rule([place], "a test of the database")
    result = team.bob.but(rule=Rule(3, 0.1)).look()
    assert result.interval is not None
    assert not any("until it is ruled void" in message for message in team.told())


@pytest.mark.slow
@pytest.mark.parametrize("forge", [negative_price, malformed_and_signed])
def test_what_the_owner_ruled_void_is_charged_no_more_and_not_believed_either(team: Team, forge: Callable[[Team], str]) -> None:
    first = team.alice.look()
    forge(team)
    (place,) = [one.facts["head"] for one in quarantine_charges(believed_entries(team.ledger(team.alice).entries()))]
    team.alice.gate().rule([place], "a test of the database")
    result = team.alice.but(rule=Rule(2)).look()
    assert result.spent >= first.price - 1e-9  # without the price below nought
    assert "G079" not in result.flags


def test_a_bad_entry_stays_bad_when_others_follow_it_while_a_process_is_at_work(team: Team) -> None:
    team.alice.look()
    ledger = team.ledger(team.alice)
    malformed_and_signed(team)
    for number in range(3):
        assert len(quarantine_charges(believed_entries(ledger.entries()))) == 1
        ledger.append("note", {"text": str(number)})
    assert History.of(ledger.entries()).entries[0].replica == PLACE


@pytest.mark.slow
def test_ones_own_looks_are_not_hidden_by_spoiling_them(team: Team) -> None:
    team.alice.look()
    before = team.bob.look()
    mine = team.ledger(team.bob).replica
    with closing(sqlite3.connect(team.path)) as raw, raw:
        raw.execute("DROP TRIGGER entries_no_update")
        raw.execute("UPDATE entries SET body = '{}' WHERE replica = ? AND kind IN ('intent', 'reveal')", (mine,))
    result = team.alice.but(rule=Rule(2)).look()
    assert result.interval is None or result.spent > before.spent + before.price
    assert result.score is not None


@pytest.mark.slow
def test_a_false_answer_that_was_signed_is_not_replayed(team: Team, tmp_path: Path) -> None:
    """Bob knows Alice's model, and writes its answer down before she looks: one that pleases."""
    honest = Team(tmp_path / "aside").alice
    shutil.copytree(tmp_path / "alice" / "keys", tmp_path / "aside" / "alice" / "keys", dirs_exist_ok=True)
    truth = honest.look()
    aside = [entry for entry in honest.gate().session.ledger.entries() if entry.kind in ("intent", "reveal")]
    team.bob.choose_only()
    ledger = team.ledger(team.bob)
    intent = ledger.append("intent", aside[0].facts)
    released = {**aside[1].facts["released"], "errors": 1, "low": 1, "high": 1, "score": 1 / 120, "price": WORST}
    pleasing = {"intent": intent.facts["id"], "score": 1 / 120, "errors": 1, "interval": [0.0, 0.03], "price": WORST}
    ledger.append("reveal", {**aside[1].facts, **pleasing, "released": released})
    result, gate = team.alice.run()
    assert (result.replay, result.errors) == (False, truth.errors)
    assert any("not what the labels say" in finding.message for finding in gate.findings)
    assert result.look == 2


def test_the_true_answer_of_a_colleague_is_replayed(team: Team) -> None:
    first = team.alice.look()
    again = team.bob.but(rule=team.alice.rule).look()
    assert (again.replay, again.look, again.score, again.interval) == (True, 1, first.score, first.interval)


def test_a_row_set_under_a_wrong_digest_is_named_and_not_used(team: Team) -> None:
    team.alice.look()
    facts = team.last("seal").facts
    with closing(sqlite3.connect(team.path)) as raw, raw:
        raw.execute("INSERT INTO rowsets VALUES (?, 'key', 1, 'test', x'00', 'forged')", (facts["rows"],))
        raw.execute("INSERT INTO rowsets VALUES (?, 'key', 1, 'test', x'00', 'forged')", ("0" * 64,))
    assert team.alice.but(rule=Rule(2)).look().look == 2
    told = team.told()
    assert len(told) == 2
    assert facts["rows"][:16] in " ".join(told)


def test_a_second_key_is_its_persons_once_both_say_so(team: Team) -> None:
    from modelsel.guard.quarantine import person

    team.alice.look()
    team.bob.look()

    def people() -> int:
        read = team.ledger(team.alice).entries()
        return len({person(read, entry) for entry in read if entry.kind == "intent"})

    assert people() == 2
    team.bob.gate().vouch(Home(team.alice.home).signer().public)  # Bob alone says that he is Alice
    assert people() == 2
    team.alice.gate().vouch(Home(team.bob.home).signer().public)
    assert people() == 1


def test_keys_are_private(team: Team) -> None:
    import stat

    team.alice.look()
    for name in ("signing.key", "own.key"):
        assert stat.S_IMODE((team.alice.home / name).stat().st_mode) == 0o600


def test_a_flipped_bit_that_breaks_the_json_of_an_entry_is_an_untrusted_ledger(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    with closing(sqlite3.connect(home / "ledger.db")) as raw, raw:
        raw.execute("DROP TRIGGER entries_no_update")
        raw.execute("UPDATE entries SET body = 'z' || substr(body, 2) WHERE kind = 'reveal'")
    report = audit(study.gate())
    assert report["ledger"]["intact"] is False
    assert code_of(report, None) == 5
    assert "G070" in {one["code"] for one in report["flags"]}


def of_before(home: Path, path: Path, url: str) -> None:
    """Write a ledger of today down in the form that it had before there were signatures, by its rule."""
    with closing(sqlite3.connect(path)) as raw:
        rows = [LedgerEntry(*row) for row in raw.execute("SELECT * FROM entries ORDER BY seq")]
        sets = raw.execute("SELECT digest, key_id, n, kind, blob FROM rowsets").fetchall()
        ((name,),) = raw.execute("SELECT value FROM about WHERE name = 'ledger'")
    replica = Home(home)._salt(url, 0)
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    for gone in ("signing.key", "own.key", "state.json"):
        (home / gone).unlink()
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(
            "CREATE TABLE entries (replica VARCHAR(32) NOT NULL, seq INTEGER NOT NULL, kind VARCHAR(32) NOT NULL, "
            "body TEXT NOT NULL, prev VARCHAR(64) NOT NULL, hash VARCHAR(64) NOT NULL, PRIMARY KEY (replica, seq), "
            "UNIQUE (prev), UNIQUE (hash))"
        )
        raw.execute(
            "CREATE TABLE rowsets (digest VARCHAR(64) NOT NULL, key_id VARCHAR(16) NOT NULL, n INTEGER NOT NULL, "
            "kind VARCHAR(32) NOT NULL, blob BLOB NOT NULL, PRIMARY KEY (digest))"
        )
        raw.execute("CREATE TABLE about (name VARCHAR(32) NOT NULL, value VARCHAR(64) NOT NULL, PRIMARY KEY (name))")
        raw.execute("INSERT INTO about VALUES ('ledger', ?)", (name,))
        last: LedgerEntry | None = None
        for row in rows:
            last = follow(last, replica, row.kind, row.facts)
            raw.execute("INSERT INTO entries VALUES (?,?,?,?,?,?)", [getattr(last, field) for field in FIELDS])
        raw.executemany("INSERT INTO rowsets VALUES (?,?,?,?,?)", sets)
        for table in ("entries", "rowsets", "about"):
            for event in ("update", "delete"):
                stop = "SELECT RAISE(ABORT, 'the ledger is append-only')"
                raw.execute(f"CREATE TRIGGER {table}_no_{event} BEFORE {event} ON {table} BEGIN {stop}; END")


@pytest.mark.slow
def test_a_ledger_of_before_is_migrated_when_it_is_opened(home: Path) -> None:
    study = Study(numbers(), home, settings={"declared_space": None})
    first = study.look()
    of_before(home, home / "ledger.db", f"sqlite:///{home / 'ledger.db'}")
    second = study.but(rule=Rule(1)).look()
    assert (second.look, second.spent) == (2, pytest.approx(first.price))
    assert study.look().replay
    report = audit(study.gate())
    assert report["ledger"]["intact"] is True
    assert {one["code"] for one in report["flags"]} & {"G070", "G071", "G072", "G079"} == set()
    assert markdown(report).count("The ledger is whole.") == 2


def test_an_unsigned_entry_after_the_migration_is_bad(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    url = f"sqlite:///{home / 'ledger.db'}"
    of_before(home, home / "ledger.db", url)
    ledger = study.gate().session.ledger
    old = [entry for entry in ledger.everything() if entry.replica == Home(home)._salt(url, 0)]
    forged = follow(old[-1], old[-1].replica, "reveal", {**old[-1].facts, "score": 0.0})
    with closing(sqlite3.connect(home / "ledger.db")) as raw, raw:
        raw.execute("INSERT INTO entries VALUES (?,?,?,?,?,?)", [getattr(forged, name) for name in FIELDS])
    read: Any = ledger.entries()
    assert [one.entry for one in read.bad] == [forged]
    assert set(old) < {*read}
