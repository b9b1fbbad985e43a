"""The page on keys: its commands do what it says, its database keeps people out of each other's chains."""

import re
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from modelsel.cli import audit as audit_command
from modelsel.cli import doctor as doctor_command
from modelsel.guard.quarantine import person
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.home import Home
from tests.extras import needs
from tests.guard.attacks.test_forgery import Team, malformed
from tests.guard.studies import Rule, Study

PAGE = Path(__file__).parents[2] / "docs" / "guard" / "keys.md"


def commands(**values: str) -> list[list[str]]:
    """The commands of the page in their order, with values for its words in capitals."""
    found = [line.split()[1:] for line in re.findall(r"^\$ (modelsel .*)$", PAGE.read_text("utf-8"), re.MULTILINE)]
    return [[values.get(word, word) for word in words] for words in found]


def run(words: list[str], home: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("MODELSEL_HOME", str(home))
    monkeypatch.chdir(home)
    return {"audit": audit_command.main, "doctor": doctor_command.main}[words[0]](words[1:])


@pytest.mark.slow
def test_the_commands_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    team = Team(tmp_path)
    team.alice.look()
    team.bob.look()
    malformed(team)
    ledger = team.ledger(team.alice)
    (bad,) = ledger.entries().bad
    values = {"ADDRESS": ledger.url, "ENTRY": bad.entry.place}
    void, whoami, _, again = commands(**values)
    assert run(void, team.alice.home, monkeypatch) == 0
    assert run(whoami, team.bob.home, monkeypatch) == 0
    said = capsys.readouterr().out
    (bobs,) = re.findall(r"signs as +(\w{64})", said)
    assert bobs == Home(team.bob.home).signer().public
    alices = Home(team.alice.home).signer().public
    assert run(commands(**values, KEY=bobs)[2], team.alice.home, monkeypatch) == 0
    assert run(commands(**values, KEY=alices)[2], team.bob.home, monkeypatch) == 0
    read = ledger.entries()
    assert len({person(read, entry) for entry in read if entry.kind == "intent"}) == 1
    (team.bob.home / "signing.key").unlink()
    assert run(again, team.bob.home, monkeypatch) == 0
    result = team.bob.but(rule=Rule(3)).look()  # the lost key's looks stay, the new one's are another person's
    assert result.look == 3
    assert result.interval is not None


def test_nobody_but_the_owner_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from modelsel.core.errors import ConfigurationError

    team = Team(tmp_path)
    team.alice.look()
    with pytest.raises(ConfigurationError, match="MSEL-275"):
        run(["audit", "--ledger", team.ledger(team.bob).url, "--void", "x:1:y"], team.bob.home, monkeypatch)


@pytest.mark.slow
def test_the_database_keeps_people_out_of_each_others_chains(tmp_path: Path) -> None:
    needs("psycopg")
    from tests.ledger.postgresql import Server

    (rules,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    grants = "GRANT SELECT, INSERT ON entries, rowsets, signatures, about TO alice, mallory"
    with Server() as server:
        owner = Ledger.open(server.url, "owner")
        engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:"))
        study = Study(Team(tmp_path).alice.task, tmp_path / "alice", settings={"ledger": "", "anchors": ()})
        address = server.url.replace("ledger@", "alice@")
        mine = Study(study.task, study.home, settings={"ledger": address, "anchors": ()})
        with engine.begin() as connection:
            for statement in ("CREATE ROLE alice LOGIN", "CREATE ROLE mallory LOGIN", grants, *rules.split(";")):
                if statement.strip():
                    connection.execute(text(statement))
            chain = {"replica": Home(study.home).replica(address)}
            connection.execute(text("INSERT INTO chains VALUES (:replica, 'alice')"), chain)
        assert mine.look().look == 1
        forged = "INSERT INTO entries SELECT replica, seq + 9, kind, body, prev, hash FROM entries"
        stranger = create_engine(server.url.replace("postgresql://ledger", "postgresql+psycopg://mallory"))
        with pytest.raises(DBAPIError, match="row-level security"), stranger.begin() as connection:
            connection.execute(text(forged))
        assert len(owner.everything()) == 4
