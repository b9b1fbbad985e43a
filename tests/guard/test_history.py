"""A history that grows with its ledger is the one that is made of all entries at once."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from modelsel.guard.history.entries import who
from modelsel.guard.history.history import History
from tests.guard.studies import Study, numbers

SAYS = ("looks", "seals", "selections", "commits", "replays", "tested", "keys", "latest")


def test_a_history_that_grew_says_what_one_of_all_its_entries_says(home: Path) -> None:
    study = Study(numbers(), home)
    gate = study.run()[1]
    ledger, rng = gate.session.ledger, np.random.default_rng(0)
    asked, told = (next(one.facts for one in ledger.entries() if one.kind == kind) for kind in ("intent", "reveal"))
    ids, carried = [asked["id"]], 0
    for _ in range(60):
        kind = str(rng.choice(["intent", "reveal", "abort", "note", "selection"]))
        if kind == "intent":
            ids.append(ledger.append(kind, {**asked, **who(), "testset": f"set {rng.integers(3)}"}).facts["id"])
        elif kind in ("reveal", "abort"):
            ledger.append(kind, {**told, **who(), "intent": str(rng.choice(ids))})  # some are answered twice
        else:
            mine = next(one.facts for one in ledger.entries() if one.kind == "selection")
            ledger.append(kind, {**mine, **who(), "train": f"rows {rng.integers(3)}"})
        grown = History.of(ledger.entries())
        carried += "looks" in vars(grown)
        anew = History(tuple(ledger.everything()))
        assert [getattr(grown, name) for name in SAYS] == [getattr(anew, name) for name in SAYS]
        assert grown.looks_at(["set 1"]) == tuple(look for look in anew.looks if look.testset == "set 1")
    assert carried > 50
    ledger.append("recovered", {**asked, **who(), "head": "r:1:gone", "worst": 3.0})
    assert History.of(ledger.entries()).looks[-1].status == "recovered"


def test_an_answer_before_its_look_and_a_name_used_twice_are_told_as_in_a_whole_reading(home: Path) -> None:
    gate = Study(numbers(), home).run()[1]
    ledger = gate.session.ledger
    asked, told = (next(one for one in ledger.entries() if one.kind == kind) for kind in ("intent", "reveal"))
    before = History.of(ledger.entries())
    assert before.looks[0].end == told
    stray = replace(told, body=told.body.replace(asked.facts["id"], "another look"))
    for strange in (asked, stray):
        assert before._with([strange]) == {}
