"""Entries of several ledgers as one history: each contact once, whatever of it and of its copies is left."""

import json
from typing import Any

import numpy as np
import pytest

from modelsel.guard.history import History
from modelsel.guard.joining import NOTHING, OtherLedgers, count_once, join_histories
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import IdentityKey
from tests.guard.chains import entry

KEY = IdentityKey(b"k" * 32)


def copy(of: LedgerEntry, seq: int, key: str = "k", replica: str = "home", **facts: Any) -> LedgerEntry:
    return entry(of.kind, replica, seq, **{**of.facts, "mirror": {"hash": of.hash, "key_id": key}, **facts})


def hashes(entries: list[LedgerEntry]) -> set[str]:
    return {one.hash for one in entries}


def test_a_seal_without_rows_is_compared_by_those_of_its_copy_alone() -> None:
    bare = entry("seal", testset="set", key_id="k", rows=None, development=None, train="rows of set")
    whole = entry("seal", testset="set", key_id="k", rows="mine", development="too")
    names = ("rows", "development", "key_id", "train")
    stated = {"testset": "SET", "rows": "r", "development": "d", "key_id": "own", "train": "ROWS"}
    for one, lent in ((bare, True), (whole, False)):
        for signers, mine in (({}, True), ({"home": "somebody else"}, False)):
            said = join_histories(History((one, copy(one, 2, **stated)), signers), NOTHING, "k").seals["set"]
            expected = (stated if lent and mine else one.facts).get
            assert [said.facts.get(name) for name in names] == [expected(name) for name in names]


def test_the_original_stands_where_it_is_there_under_a_key_at_hand_else_a_copy() -> None:
    one, other = entry("intent", seq=1), entry("intent", seq=2, id="j")
    lost = entry("intent", seq=3, id="l")
    copies = [copy(one, 1, "k"), copy(one, 2, "k"), copy(lost, 3, "k"), copy(other, 4, "x")]
    every = [one, other, *copies]
    assert hashes(count_once(every, {})) == {one.hash, other.hash, copies[2].hash}
    assert hashes(count_once(every, {}, {"k"})) == {one.hash, copies[2].hash, copies[3].hash}
    assert hashes(count_once(every, {}, set())) == {copies[0].hash, copies[2].hash, copies[3].hash}
    assert hashes(count_once(every[1:], {}, {"k", "x"})) == {other.hash, copies[0].hash, copies[2].hash}


def test_nobodys_copy_stands_for_what_another_signed() -> None:
    mine = entry("intent", testset="t", worst=9.0)
    forged = copy(mine, 1, replica="stranger", worst=0.0)
    at_home = copy(mine, 2)
    signers = {"r": "me", "home": "me", "stranger": "s"}
    assert hashes(count_once([forged, mine, at_home], signers)) == {mine.hash, forged.hash}
    assert hashes(count_once([forged, at_home], signers)) == {at_home.hash, forged.hash}


def test_seals_stay_under_every_name_and_terms_are_the_strictest() -> None:
    original = entry("seal", "team", testset="T", key_id="x")
    kept = copy(original, 1, "x", testset="t", key_id="k")
    both = join_histories(History((kept,)), OtherLedgers(entries=(original,)), "k")
    assert both.seals.keys() == {"t", "T"}
    here = History((entry("seal", testset="t"),))
    assert join_histories(here, OtherLedgers(), "k") is here


@pytest.mark.parametrize("seed", range(40))
def test_looks_and_nats_are_those_of_the_contacts_of_which_anything_is_left(seed: int) -> None:
    """Beside a count by hand: a contact is told by a number that no version of it loses."""
    rng = np.random.default_rng(seed)
    every: list[LedgerEntry] = []
    expected: dict[int, float] = {}
    for number in range(6):
        key = str(rng.choice(["k", "x"]))
        look = entry("intent", f"r{number}", 1, id=f"i{number}", spec_id=str(number), worst=10.0 + number, testset="t")
        end = entry("reveal", f"r{number}", 2, intent=f"i{number}", price=float(number))
        copies = [copy(look, 2 * number + 50 * place, key, id=f"c{number}.{place}") for place in (0, 1)]
        ends = [copy(end, 2 * number + 50 * place + 1, key, intent=f"c{number}.{place}") for place in (0, 1)]
        left = [one for one in (look, *copies) if rng.random() < 0.6]
        answers = [one for one in (end, *ends) if rng.random() < 0.5]
        every += [*left, *answers]
        known = [one.facts["id"] for one in left]
        if left:
            # an answer is known where its look, or another version of it, is there: a version names its own look
            of = [one for one in answers if one.facts["intent"] in known]
            expected[number] = float(number) if of else 10.0 + number
    order = rng.permutation(len(every))
    history = History(tuple(count_once([every[place] for place in order], {}, {"k"})))
    assert {int(look.spec_id): look.price for look in history.looks} == expected
    assert all(json.loads(one.body) == one.facts for one in history.entries)
