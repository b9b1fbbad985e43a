"""A history that grows with its ledger is the one that is made of all entries at once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.guard.entries import origin
from modelsel.guard.facts import SealTerms
from modelsel.guard.history import History, differences
from modelsel.ledger.entry import LedgerEntry
from tests.guard.chains import TERMS, WHOLE, entry, grown, reading
from tests.guard.studies import Study, numbers

SAYS = ("looks", "seals", "selections", "commits", "replays", "tested", "keys", "latest")


@pytest.mark.slow
def test_a_history_that_grew_says_what_one_of_all_its_entries_says(home: Path) -> None:
    study = Study(numbers(), home)
    gate = study.run()[1]
    ledger, rng = gate.session.ledger, np.random.default_rng(0)
    asked, told = (next(one.facts for one in ledger.entries() if one.kind == kind) for kind in ("intent", "reveal"))
    ids, carried = [asked["id"]], 0
    for _ in range(60):
        kind = str(rng.choice(["intent", "reveal", "abort", "note", "selection"]))
        if kind == "intent":
            ids.append(ledger.append(kind, {**asked, **origin(), "testset": f"set {rng.integers(3)}"}).facts["id"])
        elif kind in ("reveal", "abort"):
            ledger.append(kind, {**told, **origin(), "intent": str(rng.choice(ids))})  # some are answered twice
        else:
            mine = next(one.facts for one in ledger.entries() if one.kind == "selection")
            ledger.append(kind, {**mine, **origin(), "train": f"rows {rng.integers(3)}"})
        grown = History.of(ledger.entries())
        carried += "looks" in vars(grown)
        anew = History(tuple(ledger.everything()))
        assert [getattr(grown, name) for name in SAYS] == [getattr(anew, name) for name in SAYS]
        assert grown.looks_at(["set 1"]) == tuple(look for look in anew.looks if look.testset == "set 1")
    assert carried > 50
    ledger.append("recovered", {**asked, **origin(), "head": "r:1:gone", "worst": 3.0})
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


def random_chains(rng: np.random.Generator, size: int, strays: bool = True) -> list[LedgerEntry]:
    """Entries as three people would write them, in the order of writing; clocks stand still, go on, and go back.

    With `strays` some answers are to looks that are not there.
    """
    counts, entries = dict.fromkeys("abc", 0), []
    for number in range(size):
        replica = str(rng.choice(list("abc")))
        counts[replica] += 1
        kind = str(rng.choice(["intent", "intent", "reveal", "abort", "note", "selection", "recovered", "seal", "commit"]))
        time = f"{max(0, number - int(rng.integers(-2, 2))):03}" if rng.random() < 0.9 else None
        heads, asked = ([one.place for one in entries] or ["r:1:gone"]), [e.facts["id"] for e in entries if e.kind == "intent"]
        if kind in ("reveal", "abort") and not strays:
            kind = kind if asked else "note"
        look = str(rng.choice(asked)) if asked and not strays else f"i{rng.integers(6)}"
        facts: dict[str, dict[str, Any]] = {
            "intent": {"id": f"i{rng.integers(6)}", "testset": str(rng.choice(list("tuv")))},
            "reveal": {"intent": look}, "abort": {"intent": look},
            "recovered": {"head": str(rng.choice([*heads, "r:1:gone"])), "id": f"lost {number}"},
            "seal": {"testset": str(rng.choice(list("tuv"))), "terms": {**TERMS, "policy": str(rng.choice(["off", "warn"]))}},
            "commit": {"testset": str(rng.choice(list("tuv")))}, "selection": {"train": f"d{rng.integers(3)}"},
        }  # fmt: skip
        rare = kind == "recovered" and rng.random() < 0.7
        entries.append(
            entry("note" if rare else kind, replica, counts[replica], at=time, **({} if rare else facts.get(kind, {})))
        )
    return entries


def test_a_history_of_several_people_that_grew_is_the_one_that_is_read_at_once() -> None:
    rng, carried = np.random.default_rng(1), 0
    for turn in range(80):
        for read in grown(random_chains(rng, 12, strays=turn % 2 == 1), 2, signers=dict.fromkeys("abc", "x"), me="x"):
            found, anew = History.of(read), History.of(reading(read, signers=dict.fromkeys("abc", "x"), me="x"))
            carried += "looks" in vars(found)
            assert [getattr(found, name) for name in SAYS] == [getattr(anew, name) for name in SAYS]
            assert found.entries == anew.entries
            assert found.looks_at(["t", "u"]) == tuple(look for look in anew.looks if look.testset in ("t", "u"))
            assert [found.of_kind(kind) for kind in WHOLE] == [anew.of_kind(kind) for kind in WHOLE]
    assert carried > 30


def test_what_a_history_says_is_what_its_entries_say() -> None:
    """Each answer against its definition, on chains of three people."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        entries = tuple(random_chains(rng, 14))
        history, places = History(entries), {one.place for one in entries}
        looks = [
            one for one in entries if one.kind == "intent" or (one.kind == "recovered" and one.facts["head"] not in places)
        ]
        assert [look.entry for look in history.looks] == looks
        for look in history.looks:
            ends = [one for one in entries if one.kind in ("reveal", "abort") and one.facts["intent"] == look.entry.facts["id"]]
            status = "open" if not ends else "revealed" if ends[0].kind == "reveal" else "failed"
            assert look.status == ("recovered" if look.entry.kind == "recovered" else status)
            assert look.price == (ends[0].facts["price"] if look.status == "revealed" else look.facts.worst)
            assert look.end == (ends[0] if look.status == "revealed" else None)
        for name in "tuv":
            seals = [one for one in entries if one.kind == "seal" and one.facts["testset"] == name]
            first = next((one for one in seals if one.facts["terms"]["policy"] != "off"), seals[0] if seals else None)
            assert history.seals.get(name) == first
            assert list(history.sealings([name])) == seals
            assert list(history.commits_on([name])) == [e for e in history.commits if e.facts["testset"] == name]


def test_entries_of_several_people_are_ordered_by_the_latest_time_that_each_has_stated() -> None:
    rng = np.random.default_rng(3)
    for people in (1, 2, 3):
        for _ in range(20):
            entries = [one for one in random_chains(rng, 12) if one.replica in "abc"[:people]]
            so_far = {(e.replica, e.seq): max(o.facts["at"] or "" for o in entries if o.replica == e.replica and o.seq <= e.seq)
                      for e in entries}  # fmt: skip
            wanted = sorted(entries, key=lambda e: (so_far[e.replica, e.seq], e.replica, e.seq))
            assert list(History.of(rng.permutation(np.array(entries, object)).tolist()).entries) == wanted


def test_as_it_stood_when_a_look_was_asked_for_a_history_has_what_was_seen() -> None:
    entries = [entry("note", replica, seq) for replica in "ab" for seq in (1, 2, 3)]
    history = History((*entries, entry("intent", "c", 1, seen={"a": 2})))
    assert [one.place for one in history.before(history.entries[-1]).entries] == [one.place for one in entries[:2]]
    assert history.before(entry("intent", "c", 1)).entries == ()


def test_the_policies_of_a_set_are_those_of_its_seal_and_of_each_change() -> None:
    changes = [entry("policy_change", "b", seq, testset=name, terms={**TERMS, "rank": seq}) for seq, name in enumerate("tut")]
    history = History((entry("seal"), *changes))
    assert [policy.rank for policy in history.policies("t")] == [TERMS["rank"], 0, 2]
    assert [policy.rank for policy in history.policies("u")] == [1]


def test_a_look_is_the_same_question_where_all_four_agree() -> None:
    asked = {"testset": "t", "metric": "error", "spec_id": "s", "train": "d"}
    look = History((entry("intent", **asked),)).looks[0]
    assert look.same_question(**asked)
    assert not any(look.same_question(**{**asked, name: "other"}) for name in asked)


def test_settings_that_decide_no_answer_are_no_difference_and_others_that_begin_alike_are() -> None:
    before = {"limit": 1, "limits": 1, "dataset": {"dir": "a", "name": "x", "text": 1, "rows": 1.0}, "a": None, "b": {"c": 1}}
    after = {
        "limit": {"rows": 2},
        "limits": 2,
        "dataset": {"dir": "b", "text": 2, "rows": 1},
        "b": 1,
        "note": {"x": 1},
        "e": None,
    }
    assert differences(before, after) == ["b", "dataset.text", "limits"]  # one that says nothing is as good as none
    assert differences(before, before) == []
    assert [SealTerms.read({"policy": kind}).off for kind in ("off", "warn", None)] == [True, False, False]
