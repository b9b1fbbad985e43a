"""Which look it is, and what it is charged: commitments, burned labels, other keys, rows in a sketch."""

from dataclasses import replace
from math import exp
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.guard.matching import _mask_seen
from modelsel.guard.release import LabelSummary, LadderRelease
from modelsel.guard.requests import Handed, LookRequest, SelectionSummary
from modelsel.ledger.home import Home
from modelsel.ledger.portraits.waves import freedom
from modelsel.ledger.rows.identity import number_tokens
from modelsel.ledger.rows.row_set import containment
from tests.guard.studies import Rule, Study, numbers


def test_commitments_have_the_places_after_all_that_was_shown_or_committed(home: Path) -> None:
    Study(numbers(), home).look()
    study = Study(numbers(), home, rule=Rule(1))
    gate = study.choose_only()
    for names in (("one", "two"), ("three",), ("two", "four")):
        gate.commit(study.sealing(), names)
    commits = [entry.facts for entry in gate.session.ledger.entries() if entry.kind == "commit"]
    assert [(facts["spec_id"], facts["look"]) for facts in commits] == [("one", 2), ("two", 3), ("three", 4), ("four", 5)]


def test_giving_the_labels_away_is_the_next_look(home: Path) -> None:
    study = Study(numbers(), home)
    first, gate = study.run()
    gate.burn(study.sealing())
    (burned,) = [e.facts for e in gate.session.ledger.entries() if e.kind == "intent" and e.facts["metric"] == "labels"]
    assert (burned["look"], burned["spent"]) == (2, pytest.approx(first.price))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("release", "foresees"), [("full", False), ("predicted", True)])
def test_another_measure_costs_less_where_it_was_foreseen_and_the_release_says_so(
    home: Path, release: str, foresees: bool
) -> None:
    def price(name: str, told: float) -> float:
        study = Study(numbers(), home / name, measure=make("measure", "auc"), settings={"release": release})
        gate, sealing = study.gate(), study.sealing()
        return gate.look(LookRequest(sealing, SelectionSummary("a", told, 280, 0.3, 1), Rule())).price

    right = Study(numbers(), home / "asked", measure=make("measure", "auc"), settings={"release": "full"}).look().score
    assert right is not None
    assert (price("near", right) < price("far", 1 - right)) == foresees
    assert foresees or price("again", right) == price("another", 1 - right)


def test_of_the_keys_at_hand_those_are_asked_under_which_something_was_sealed(home: Path) -> None:
    Study(numbers(), home, settings={"project": "used"}).look()
    Home(home).key("unused")
    session = Study(numbers(), home).gate().session
    assert session.other_keys() == [Home(home).key("used")]


def test_of_a_sketch_as_many_rows_count_as_it_holds_of_the_smallest_hashes(home: Path) -> None:
    study = Study(numbers(1000), home)
    gate = study.gate()
    subject = gate.subject(study.sealing())
    half = replace(subject.test, arrays={name: array[:150] for name, array in subject.test.arrays.items()})
    stored = half.stored(subject.names, gate.session.key).sketch(most=0)
    share = containment(subject.test.arrays["bound"], stored.arrays["bound"])
    assert 0.4 < share < 0.6
    assert _mask_seen("bound", subject, stored).sum() == round(300 * share)


@pytest.mark.parametrize(
    ("cramped", "u", "tells"), [(False, 0.95, True), (True, 1.0, False), (False, 0.94, False), (True, 0.5, False)]
)
def test_rows_are_told_apart_where_nearly_all_differ_and_have_room_to(home: Path, cramped: bool, u: float, tells: bool) -> None:
    study = Study(numbers(), home)
    subject = replace(study.gate().subject(study.sealing()), cramped=cramped, u={"bound": u})
    assert subject.identifiable == tells


@pytest.mark.parametrize(("errors", "moves"), [(20, False), (19, False), (18, True)])
def test_a_board_moves_for_more_than_a_step(errors: int, moves: bool) -> None:
    ladder = LadderRelease(100, 100, rounds=1, updates=1, board=20)
    assert ladder.release(LabelSummary(100, errors, 0.0, (), 100.0)).stays != moves


def test_the_degrees_of_freedom_are_those_of_independent_differences() -> None:
    """One where all go together, as many as there are where none do, four for each halving at most."""
    rng = np.random.default_rng(0)
    one = rng.normal(size=(4000, 1))
    assert freedom(np.repeat(one / one.std(), 10, axis=1)) == pytest.approx(1, abs=0.01)
    assert freedom(rng.normal(size=(4000, 10))) == pytest.approx(10, rel=0.1)
    assert freedom(rng.normal(size=(8, 1000))) == 32


def test_numbers_too_large_to_be_exact_are_compared_by_their_digits() -> None:
    same, others = number_tokens(np.array([2.0**53, 2.0**53 + 2])), number_tokens(np.array([2.0**53 - 1, 2.0**53 - 2]))
    assert same[0] == same[1]
    assert others[0] != others[1]


def test_a_look_that_was_seen_in_another_ledger_or_under_another_key_is_not_missed_here(home: Path) -> None:
    study = Study(numbers(), home)
    gate = study.run()[1]
    (anchor, *_), key = gate.session.anchors, gate.session.key.id
    digest, here = gate.subject(study.sealing()).digest, gate.session.ledger.id
    assert anchor.testsets(key, ()) == [digest]
    assert anchor.testsets("another key", ()) == []
    assert anchor.testsets(key, (here,)) == []


def test_a_copy_in_the_home_is_of_the_rows_that_chose(home: Path) -> None:
    study = Study(numbers(), home, settings={"project": "x"})
    study.look()
    development, test = study.parts()
    other = study.but(rule=Rule(1))
    object.__setattr__(other, "parts", lambda: (development.take(np.arange(200)), test))
    gate = other.run()[1]
    copies = [entry.facts for entry in gate.session.memory.entries() if entry.kind == "selection" and "mirror" in entry.facts]
    assert sorted(facts["cv_rows"] for facts in copies) == [200, 280]
    assert len({facts["train"] for facts in copies}) == 2


def test_an_exam_that_is_closed_twice_shows_the_same(home: Path) -> None:
    study = Study(numbers(), home, settings={"release": "full"})
    gate, sealing = study.gate(), study.sealing()
    handed = [Handed(name, rule(sealing.sealed)) for name, rule in (("good", Rule()), ("bad", Rule(3)), ("same", Rule()))]
    first = gate.close(sealing, handed, 0.5)
    again = study.gate().close(study.sealing(), handed, 0.5)
    assert again.answers == first.answers
    assert next(look for look in gate.session.ledger.entries() if look.kind == "reveal").facts["price"] == first.price
    bases = {one["base"] for one in next(e.facts for e in gate.session.ledger.entries() if e.kind == "intent")["answers"]}
    assert [exp(-base) for base in bases] == [pytest.approx(0.8 / 3)]  # the first index, shared by three
    says = {(one.answer, one.beside): one.says for one in first.verdicts}
    assert says == {("bad", "good"): "more errors", ("same", "good"): "cannot be told apart", ("same", "bad"): "fewer errors"}
