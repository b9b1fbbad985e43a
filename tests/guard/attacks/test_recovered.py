"""Looks that only anchors remember: written down again, given back by a merge, asked for under related sets too."""

import shutil
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from modelsel.guard.access.integrity import mark
from modelsel.guard.history import History
from modelsel.guard.reporting.audit import audit
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.entry import heads
from modelsel.ledger.home import Home
from tests.guard.attacks.test_attempts import Elsewhere
from tests.guard.studies import Rule, Study, numbers

FREE = {"declared_space": None}


def lost(home: Path, backup: Path) -> None:
    """Take the ledger away, and keep it aside."""
    backup.mkdir()
    for path in home.glob("ledger.db*"):
        shutil.move(path, backup / path.name)


@pytest.mark.slow
@pytest.mark.parametrize("anchors", [("state",), ("lockfile",)])
def test_a_recovered_look_that_a_merge_brings_back_is_counted_once(
    tmp_path: Path, home: Path, anchors: tuple[str, ...]
) -> None:
    (tmp_path / ".git").mkdir()
    study = Study(numbers(), home, settings={**FREE, "anchors": anchors}, runs=tmp_path / "runs")
    first, second = study.look(), study.but(rule=Rule(1)).look()
    lost(home, tmp_path / "backup")
    third = study.but(rule=Rule(2)).look()
    assert third.look == 3
    assert third.spent > first.price + second.price  # charged the most that they could have said
    gate = study.gate()
    assert "G072" in {flag["code"] for flag in audit(gate)["flags"]}
    gate.merge(str(tmp_path / "backup" / "ledger.db"))
    looks = audit(study.gate())["test_sets"][0]["looks"]
    assert [look["status"] for look in looks] == ["revealed"] * 3
    fourth = study.but(rule=Rule(3)).look()
    assert fourth.look == 4
    assert fourth.spent == pytest.approx(first.price + second.price + third.price)


@pytest.mark.slow
def test_the_same_loss_is_written_down_once(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    for path in home.glob("ledger.db*"):
        path.unlink()
    for column in (1, 2, 3):
        study.but(rule=Rule(column)).look()
    kinds = [entry.kind for entry in study.gate().session.ledger.entries()]
    assert kinds.count("recovered") == 1


def test_anchors_are_asked_about_sets_that_share_rows(home: Path, tmp_path: Path) -> None:
    witness = Elsewhere()
    study = Study(numbers(), home, anchors=(witness,), settings={"anchors": ("mlflow",)})
    study.choose_only()
    with closing(sqlite3.connect(home / "ledger.db")) as raw:
        raw.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
    study.look()
    for path in [*home.glob("ledger.db*"), home / "state.json"]:
        path.unlink()
    shutil.copy(tmp_path / "copy.db", home / "ledger.db")  # the rows are known, the look at them is not
    result, gate = study.but(split_seed=1, rule=Rule(1)).run()
    assert "G071" in {finding.code for finding in gate.findings}
    assert "G020" in result.flags
    assert result.spent > 0
    (entry,) = [entry for entry in gate.session.ledger.entries() if entry.kind == "recovered"]
    assert entry.facts["testset"] == study.gate().subject(study.sealing()).digest
    assert len(History.of(gate.session.ledger.entries()).looks) == 2


def test_a_mark_is_read_under_the_lock_so_that_none_goes_back(home: Path) -> None:
    place, url = Home(home), f"sqlite:///{home / 'ledger.db'}"
    ledger = Ledger.open(url, place.replica(url))
    ledger.append("note", {"text": "before"})
    late = threading.Thread(target=mark, args=(place, ledger, url))
    with place.changing():
        late.start()
        time.sleep(0.2)  # a mark that read the ledger before it has the lock would have read it by now
        newest = ledger.append("note", {"text": "meanwhile"})
    late.join()
    assert place.state()["marks"][ledger.id] == {newest.replica: [newest.seq, newest.hash]}
    assert heads(ledger.entries())[newest.replica] == newest
