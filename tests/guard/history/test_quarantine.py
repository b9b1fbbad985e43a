"""What is not believed is charged: entries that lack a fact, and answers of colleagues below what they cost at least."""

from dataclasses import asdict, replace
from math import inf, log, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modelsel.core.types import Task
from modelsel.guard.facts import SealTerms
from modelsel.guard.quarantine import all_fit, believed_entries, person, quarantine_charges
from modelsel.guard.release import LabelSummary, count_channel, worst_of
from modelsel.ledger.entry import LedgerEntry, follow
from modelsel.ledger.trust import TrustedEntries
from tests.guard.chains import FLAG, TERMS, entry, grown, reading
from tests.guard.studies import Rule, Study, numbers


def read(home: Path, reader: str, **changed: Any) -> TrustedEntries:
    """A real look with some facts of its intent and its answer changed, as the person with this key reads it."""
    entries = Study(numbers(), home, settings={"declared_space": None}).run()[1].session.ledger.entries()
    found: list[LedgerEntry] = []
    for one in entries:
        facts = {**one.facts, **{k: v for k, v in changed.items() if k in one.facts and one.kind in ("intent", "reveal")}}
        found.append(follow(found[-1] if found else None, "r", one.kind, facts))
    return TrustedEntries(found, signers={"r": "colleague"}, me=reader)


@pytest.mark.parametrize(
    ("reader", "changed", "said"),
    [("me", {}, ""), ("me", {"price": 0.001}, "its price is 0.001"), ("colleague", {"price": 0.001}, ""),
     ("me", {"metric": "auc", "price": 0.001}, ""), ("me", {"symbol": "board", "price": 0.0}, ""),
     ("me", {"n": 29}, "computed on 29 rows"), ("me", {"metric": "labels", "n": 29}, "")],
)  # fmt: skip
def test_an_answer_of_another_person_is_believed_at_its_price(
    home: Path, reader: str, changed: dict[str, Any], said: str
) -> None:
    entries = read(home, reader, **changed)
    believed_entries(entries)
    bad = [str(one) for one in entries.memo["bad"]]
    assert bool(bad) == bool(said)
    assert all(said in one for one in bad)


def test_what_cannot_be_a_rate_foresaw_nothing(home: Path) -> None:
    said = []
    for told in (7.0, None):
        entries = read(home, "me", cv_error=told, cv_mean=7.0, price=0.001)
        believed_entries(entries)
        said += [one.why for one in entries.memo["bad"]]
    assert len(said) == 2
    assert said[0] == said[1]


def test_a_bad_entry_is_charged_to_the_set_that_it_names_if_that_was_sealed(home: Path) -> None:
    entries = read(home, "me")
    sealed = next(entry.facts["testset"] for entry in entries if entry.kind == "seal")
    for named, charged in ((sealed, sealed), ("no such set", "")):
        bad = follow(entries[-1], "r", "intent", {"testset": named})
        (look,) = quarantine_charges(believed_entries(TrustedEntries([*entries, bad], signers={"r": "colleague"}, me="me")))
        assert look.facts["testset"] == charged


class ARowFewer(Study):
    """The same split without one of its test rows."""

    def parts(self) -> tuple[Task, Task]:
        development, test = super().parts()
        return development, test.take(np.arange(1, len(test)))


@pytest.mark.parametrize("terms", [{"release": "passfail", "target": 0.4}, {"resolution": 0.05}], ids=["passfail", "rounded"])
def test_a_colleague_whose_terms_were_inherited_is_not_accused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terms: dict[str, Any]
) -> None:
    """The second one seals exact counts of a row fewer, and is answered, at a lower price, as the first one sealed."""
    monkeypatch.setenv("MODELSEL_KEY", "ab" * 32)
    team = {"ledger": f"sqlite:///{tmp_path / 'team.db'}"}
    Study(numbers(), tmp_path / "a", settings={**team, **terms}).look()
    assert ARowFewer(numbers(), tmp_path / "b", settings=team, rule=Rule(1)).look().errors is None
    entries = Study(numbers(), tmp_path / "c", settings=team).gate().session.ledger.entries()
    believed_entries(entries)
    assert [str(one) for one in entries.memo["bad"]] == []


NUMBERS = ((0, 0.0, 1.5, 7), (-1, -1e-9, True, "1", None, [], inf, nan))
COUNTS = ((0, 7), (-1, 1.5, True, "1", None, []))
TEXTS = (("", "a"), (1, None, [], True))
LISTS = (([], ["a"], [1]), ({}, "ab", None))
FLAGS: Any = (
    ([], [FLAG], [FLAG, FLAG]),
    ({}, "", None, ["a"], [{}], [{**FLAG, "more": "x"}], [{**FLAG, "do": 1}], [FLAG, {"code": "G001"}]),
)
TOLD: Any = (
    ({**TERMS, "rank": 0}, {**TERMS, "delta": 1}),
    ({}, [], None, *({**TERMS, k: []} for k in ("delta", "release", "rank"))),
)
OPTIONAL = {
    "mirror": (({"hash": "h", "key_id": "k"},), ({}, {"hash": "h"}, {"key_id": "k"}, {"hash": 1, "key_id": "k"}, [], "hash")),
    "rows_in_all": ((1, 2), (0, -1, True, 1.5, "1")),
    "charged": (([], ["a"]), (["a", 1], "ab", {})),
    "seen": (({}, {"r": 0}), ({"r": -1}, {"r": "1"}, [])),
    "config": (({},), ([], "a")),
    "score": ((-1.5, 0, 2), (True, inf, nan, "1")),
    "interval": (([0, 1], [-0.5, 2.5]), ([0], [0, 1, 2], [0, "1"], [0, nan], {}, "ab")),
    "released": ((), ({}, 1, {"bounds": [0, 1]})),
    "rows": (*TEXTS[:1], (1, [])),
}
STATED: list[tuple[str, str, Any]] = [
    ("commit", "spent", NUMBERS), ("commit", "look", COUNTS), ("commit", "testset", TEXTS), ("seal", "names", LISTS),
    ("intent", "certified", ((True, False), (0, 1, None, "yes"))), ("intent", "flags", FLAGS), ("seal", "terms", TOLD),
    *(("seal" if name in ("mirror", "rows_in_all", "rows") else "intent" if name in ("charged", "seen", "config") else "reveal",
       name, ((None, ..., *fit), bad)) for name, (fit, bad) in OPTIONAL.items()),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "values"), STATED, ids=[f"{kind} {name}" for kind, name, _ in STATED])
def test_a_fact_that_is_not_what_it_has_to_be_makes_an_entry_bad(kind: str, name: str, values: Any) -> None:
    for value, fits in [*((value, True) for value in values[0]), *((value, False) for value in values[1])]:
        read = reading([entry("intent"), entry(kind, seq=2, **{name: value})])
        believed_entries(read)
        assert [one.why for one in read.memo["bad"]] == ([] if fits else [f"as {kind} it lacks {name}"]), value


@pytest.mark.parametrize(
    ("stated", "lacking"),
    [({"code": "c", "at": "now"}, []), ({"code": 1, "at": "now"}, ["code"]), ({"refused": "x", "flags": []}, []),
     ({"refused": "x", "flags": 1}, ["flags"]), ({"flags": 1}, []), ({"contact": "x", "rows": 1}, ["rows"])],
)  # fmt: skip
def test_a_note_has_to_state_what_its_kind_of_note_states(stated: dict[str, Any], lacking: list[str]) -> None:
    for kind in ("note", "ruling"):  # what a note has to state no other kind has
        read = reading([entry(kind, text="t", **stated)])
        believed_entries(read)
        bad = lacking if kind == "note" else []
        assert [one.why for one in read.memo["bad"]] == [f"as note it lacks {name}" for name in bad]


@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=20))
@example([("a", "d"), ("d", "a"), ("d", "e"), ("e", "d"), ("e", "c"), ("c", "e"), ("c", "b"), ("b", "c")])
@example([("a", "b")])
def test_keys_that_vouch_for_each_other_however_indirectly_are_one_person(said: list[tuple[str, str]]) -> None:
    vouched = [entry("vouch", one, seq, key=other) for seq, (one, other) in enumerate(said)]
    read = reading([*vouched, entry("vouch", "unsigned", key="a")], signers={key: key for key in "abcdefg"})
    root = {key: key for key in "abcdefg"}
    for _ in root:  # the least key that any chain of mutual vouchers leads to
        for one, other in said:
            if (other, one) in said:
                root[one] = root[other] = min(root[one], root[other])
    assert {key: person(read, entry("note", key)) for key in root} == root
    assert person(read, entry("note", "unsigned")) == "unsigned"


def test_an_answer_is_believed_of_the_person_who_asked_alone() -> None:
    for signers, why in (({"a": "x", "b": "x"}, []), ({"a": "x", "b": "y"}, ["it answers another person's look"])):
        read = reading([entry("intent", "a"), entry("abort", "b")], signers=signers, me="x")
        believed_entries(read)
        assert [one.why for one in read.memo["bad"]] == why
    read = reading([entry("abort")])
    believed_entries(read)
    assert [one.why for one in read.memo["bad"]] == ["it answers a look that is not there"]


@pytest.mark.parametrize(("n", "sealed", "believed"), [(29, 50, False), (30, 50, True), (9, 10, False), (10, 10, True)])
def test_a_look_at_part_of_a_set_is_believed_from_thirty_rows_on(n: int, sealed: int, believed: bool) -> None:
    entries = [entry("seal", "a", n=sealed), entry("intent", "a", 2, n=n), entry("reveal", "a", 3)]
    read = reading(entries, signers={"a": "colleague"}, me="me")
    believed_entries(read)
    assert bool(read.memo["bad"]) is not believed


RATES = [{"cv_error": 0.0}, {"cv_error": 1.0}, {"cv_error": 0.2}, {"cv_mean": 0.2}, {"cv_error": "x", "cv_mean": 0.2}, {}]


@pytest.mark.parametrize("told", [*RATES, {"cv_error": -0.1}, {"cv_error": 1.1}], ids=str)
def test_the_least_price_is_that_of_the_count_as_it_was_foreseen(told: dict[str, Any]) -> None:
    rate = next((one for one in (told.get("cv_error"), told.get("cv_mean")) if isinstance(one, float)), None)
    foreseen = (rate, 1000) if rate is not None and 0 <= rate <= 1 else (0.5, 1)
    terms = {**TERMS, "release": "predicted"}
    exact = count_channel(SealTerms.read(terms).of_look, 50, foreseen, [], 1).release(LabelSummary(50, 12, 0.0, (), 50.0))
    for price, believed in ((exact.price, True), (exact.price - 1e-7, True), (exact.price - 1e-5, False)):
        released = asdict(replace(exact, price=price))
        asked = entry("intent", "a", 2, **{"cv_rows": 1000, **told})
        answer = entry("reveal", "a", 3, price=price, symbol=exact.symbol, released=released)
        read = reading([entry("seal", "a", terms=terms), asked, answer], signers={"a": "colleague"}, me="me")
        believed_entries(read)
        assert bool(read.memo["bad"]) is not believed


def test_what_an_answer_says_otherwise_than_it_would_have_been_costs_the_most() -> None:
    exact = count_channel(SealTerms.read(TERMS).of_look, 50, (0.5, 1), [], 1).release(LabelSummary(50, 12, 0.0, (), 50.0))
    for symbol, believed in ((exact.symbol, True), ("another", False)):
        answer = entry("reveal", "a", 3, price=exact.price, symbol=symbol, released=asdict(exact))
        asked = entry("intent", "a", 2, worst=exact.price + 1, cv_error=0.5, cv_rows=1)
        read = reading([entry("seal", "a"), asked, answer], signers={"a": "colleague"}, me="me")
        believed_entries(read)
        assert bool(read.memo["bad"]) is not believed


def test_a_bad_entry_is_charged_as_the_dearest_look_at_its_set() -> None:
    seal = entry("seal", "a", n=10**6)
    looks = [entry("intent", "a", 2, worst=0.5), entry("intent", "a", 3, id="j", metric="labels", worst=500.0)]
    for further, worst in (([], worst_of(log(10 * (10**6 + 1)))), ([entry("intent", "a", 4, id="d", worst=77.5)], 77.5)):
        for bad, testset in (
            (entry("intent", "b", testset="t", worst="x"), "t"), (entry("reveal", "b", intent="i", price="x"), "t"),
            (entry("reveal", "b", intent="none", price="x"), ""), (entry("commit", "b", testset="never sealed", look=-1), ""),
        ):  # fmt: skip
            (look,) = quarantine_charges(believed_entries(reading([seal, *looks, *further, bad])))
            assert look.facts["testset"] == testset
            assert look.facts["worst"] == pytest.approx(worst if testset else worst_of(log(20)))


def test_only_the_ledgers_owner_rules_that_an_entry_is_void() -> None:
    bad = entry("commit", "b", look=-1)
    for owner, ruler, void in (("x", "x", True), ("x", "y", False), ("", "", False), ("", "x", False)):
        for kind in ("ruling", "note"):
            said = entry(kind, "a", void=[bad.place])
            read = reading([said, bad], signers={"a": ruler} if ruler else {}, owner=owner)
            assert bool(quarantine_charges(believed_entries(read))) is not (void and kind == "ruling")
            assert bad not in believed_entries(read)


def test_what_is_judged_as_it_comes_is_what_is_judged_of_all_at_once() -> None:
    """Looks, answers, seals and bad entries of three people, one after the other; a second seal may change the past."""
    rng, bad, kinds = np.random.default_rng(0), 0, ("seal", "intent", "reveal", "abort", "note", "commit")
    about: dict[str, Any] = {"signers": {"a": "x", "b": "x", "c": "y"}, "me": "x"}
    for _ in range(60):
        entries: list[LedgerEntry] = []
        for number in range(8):
            replica, kind = str(rng.choice(list("abc"))), str(rng.choice(kinds))
            facts = {"seal": {"testset": str(rng.choice(["t", "u"])), "n": int(rng.choice([10, 50]))},
                     "intent": {"id": f"i{rng.integers(3)}", "n": 20}, "reveal": {"intent": f"i{rng.integers(3)}"},
                     "abort": {"intent": f"i{rng.integers(3)}"},
                     "commit": {"look": int(rng.choice([-1, 1, 1, 1]))}}  # fmt: skip
            entries.append(entry(kind, replica, number, **facts.get(kind, {})))
        for read in grown(entries, 3, **about):
            anew = reading(read, **about)
            assert believed_entries(read) == believed_entries(anew)
            assert all_fit(read) == (not anew.memo["bad"])
            bad += len(anew.memo["bad"])
    assert bad > 100


def test_a_second_seal_of_an_earlier_chain_decides_what_is_believed_also_as_it_comes() -> None:
    first, asked = entry("seal", "b", n=50), entry("intent", "c", n=20)
    entries = [first, asked, entry("seal", "a", n=10), entry("reveal", "c", 2)]
    about: dict[str, Any] = {"signers": {"a": "x", "b": "x", "c": "y"}, "me": "x"}
    *_, read = grown(entries, 2, **about)
    assert believed_entries(read) == believed_entries(reading(entries, **about)) == list(read)
    assert quarantine_charges(
        believed_entries(reading([first, asked, entries[3]], **about))
    )  # of fifty rows twenty are too few
