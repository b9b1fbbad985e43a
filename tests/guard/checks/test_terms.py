"""Terms that hold for a look, case by case: whose terms count, which of two is stricter, and where a quota is used up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.guard.checks.look_context import (
    STRICTNESS,
    LookContext,
    in_force,
    is_used_up,
    ladder_steps,
    left_by_quota,
    strictest,
    terms_for,
    width,
)
from modelsel.guard.facts import SealTerms
from modelsel.guard.release import LookTerms
from modelsel.statistics.certificate import SpendingState, interval
from tests.guard.chains import entry
from tests.guard.histories import TERMS, history, seal

SEALED = SealTerms.read(TERMS)


def position(
    told: Any = None, *, past: int = 1, standing: SpendingState | None = None, commit: float | None = None, **facts: Any
) -> Any:
    """A look at 200 rows, which were sealed with some terms, after so many others."""
    made = SimpleNamespace(
        digest="mine", relations=(), charged=("mine",), history=told or history(seal(**facts)), past=[None] * past, n=200,
        standing=standing or SpendingState(1 + past, 3.0 * past), rows=np.arange(200) < 150,
        commit=None if commit is None else entry("commit", spent=commit), sizes=lambda rate, nats: None,
    )  # fmt: skip
    made.foreseen = lambda rate, nats: LookContext.foreseen(made, rate, nats)  # type: ignore[arg-type]
    return made


@pytest.mark.parametrize(
    ("role", "same", "charged", "policy", "counts"),
    [("test", True, False, "warn", True), ("test", False, True, "warn", True), ("selection", True, False, "warn", False),
     ("test", False, False, "warn", False), ("test", True, True, "off", False), ("selection", False, True, "warn", True)],
)  # fmt: skip
def test_the_terms_of_a_set_count_that_is_the_same_or_charged_and_was_guarded(
    role: str, same: bool, charged: bool, policy: str, counts: bool
) -> None:
    here = position(history(seal(), seal("other", delta=0.01, policy=policy), seal("stranger", delta=0.001)))
    here.relations = (SimpleNamespace(testset="other", role=role, same=same),)
    here.charged = ("mine", "other") if charged else ("mine",)
    assert terms_for(here).delta == (0.01 if counts else 0.05)


@pytest.mark.parametrize("first", STRICTNESS)
@pytest.mark.parametrize("second", STRICTNESS)
def test_of_two_seals_each_term_is_the_stricter_one(first: str, second: str) -> None:
    one = SEALED.but(release=first, delta=0.1, steps=20, budget=9, noise=1, target=0.2, quota=3)
    two = SEALED.but(release=second, delta=0.2, steps=50, budget=4, noise=2, target=0.3, quota=None)
    for seals in ([one, two], [two, one]):
        found = strictest(SEALED, seals)
        stricter = max(first, second, key=STRICTNESS.index)
        assert found.release == stricter
        assert (found.delta, found.steps, found.budget, found.noise) == (0.1, 20, 4, seals[0].noise)
        assert found.target == next(terms.target for terms in seals if terms.release == stricter)
        assert found.quota == (3,)


def test_what_no_seal_states_is_not_there() -> None:
    found = strictest(SEALED, [SEALED, SEALED.but(release="passfail")])
    assert (found.target, found.steps, found.quota) == (None, None, ())
    assert strictest(SEALED, []).delta == 0.05
    late = strictest(SEALED, [SEALED.but(steps=None), SEALED.but(steps=9, target=0.1)])
    assert (late.target, late.steps) == (0.1, 9)


@pytest.mark.parametrize("release", ["full", "predicted", "grid", "ladder"])
def test_a_used_quota_leaves_the_ladder(release: str) -> None:
    assert in_force(position(release=release, quota=1), 0.2).release == "ladder"
    assert in_force(position(release=release, quota=1), 0.2).steps == 20
    assert in_force(position(release=release, quota=1, steps=70), 0.2).steps == 70


@pytest.mark.parametrize(
    "other",
    [{"quota": None}, {"past": 0}, {"release": "passfail"}, {"release": "thresholdout"}, {"commit": 0.0},
     {"standing": SpendingState(2, 3.0, 4, True)}, {"quota": 2}],
)  # fmt: skip
def test_answers_stay_as_sealed_without_a_used_quota_or_where_the_model_was_fixed_before(other: dict[str, Any]) -> None:
    whole = {"release": "full", "quota": 1, **other}
    found = in_force(position(**whole), 0.2)
    assert (found.release, bool(found.closed)) == (whole["release"], False)


def test_a_commitment_after_an_answer_is_no_model_that_was_fixed_before() -> None:
    assert in_force(position(quota=1, commit=0.1), 0.2).release == "ladder"


def test_where_the_next_interval_says_nothing_none_is_shown() -> None:
    found = in_force(position(quota=1, standing=SpendingState(2, 500.0)), 0.2)
    assert (found.release, "used up" in found.closed) == ("full", True)
    assert "exam" in in_force(position(release="closed"), 0.2).closed


def test_the_next_width_is_that_of_the_clean_rows_at_the_foreseen_rate() -> None:
    here = position(standing=SpendingState(3, 5.0))
    low, high = interval(30, 30, 150, SpendingState(3, 5.0).nats(0.1))
    assert width(here, 0.1, 0.2) == pytest.approx((high - low) / 2)


@pytest.mark.parametrize(
    ("quota", "answers", "half", "used"),
    [(3, 2, 0.1, False), (3, 3, 0.1, True), (3, 4, 0.1, True), (1, 1, 0.0, True), (1, 0, 0.9, False),
     (0.5, 1, 0.5, False), (0.5, 1, 0.51, True), (0.1, 9, 0.1, False), (0.1, 1, 0.2, True)],
)  # fmt: skip
def test_a_quota_is_reached_by_its_last_answer_or_beyond_its_width(quota: float, answers: int, half: float, used: bool) -> None:
    assert is_used_up(quota, answers, half) == used


@pytest.mark.parametrize(
    ("release", "quota", "answers", "half", "left"),
    [("full", [2], 2, 0.399, "ladder"), ("full", [2], 2, 0.4, "closed"), ("ladder", [2], 2, 0.4, "closed"),
     ("full", [2], 1, 0.4, "full"),
     ("full", [], 9, 0.4, "full"), ("full", [2, 9], 2, 0.1, "ladder"), ("passfail", [1], 9, 0.4, "passfail"),
     ("full", [0.1], 0, 0.4, "full")],
)  # fmt: skip
def test_what_a_quota_leaves(release: str, quota: list[float], answers: int, half: float, left: str) -> None:
    assert left_by_quota(LookTerms(release, quota=tuple(quota)), answers, half) == left


@pytest.mark.parametrize(("n", "steps"), [(0, 10), (100, 20), (10_000, 200)])
def test_the_steps_of_a_ladder_are_near_half_a_standard_error(n: int, steps: int) -> None:
    assert ladder_steps(LookTerms("ladder"), n) == steps
    assert ladder_steps(LookTerms("ladder", steps=33), n) == 33
