"""What an answer and the selection before it say together, at the limits of each finding; and the effort of selection."""

from dataclasses import replace
from math import exp, log, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import betabinom

from modelsel.core.spec import make
from modelsel.core.types import Finding
from modelsel.guard.checks import review as post_release
from modelsel.guard.checks.look_context import FEWEST
from modelsel.guard.checks.review import (
    IMPLAUSIBLE,
    answer,
    choices,
    count_candidates,
    log_most_candidates,
    majority_error,
    selection,
)
from modelsel.guard.facts import Look
from modelsel.guard.findings import certificate_findings
from modelsel.guard.release import Released
from modelsel.guard.requests import SelectionSummary
from tests.guard.histories import choice, history
from tests.guard.studies import numbers


def test_candidates_are_counted_once_for_each_study_of_these_rows() -> None:
    told = history(
        choice(tried=5), choice(tried=7), choice(spec_id="t", tried=2), choice(spec_id="u", train="others", tried=90)
    )
    assert count_candidates(told, "rows") == 9
    assert count_candidates(told, "nobody's") == 0


def asked(count: int, rows: int, error: float | None, measure: str = "error", weighted: bool = False) -> list[str]:
    """Findings of a selection on a table of which 40 % are of the smaller class."""
    target, weights = np.repeat([0, 1], [60, 40]).astype(np.int32), np.ones(100) if weighted else None
    task = replace(numbers(100), target=target, weights=weights)
    sealing = SimpleNamespace(measure=make("measure", measure), development=task)
    request: Any = SimpleNamespace(selected=SelectionSummary("w", 0.1, rows, error, count), sealing=sealing)
    chose = history(choice(tried=count))
    return [one.code for one in selection(request, chose, SimpleNamespace(train="rows"))]  # type: ignore[arg-type]


def test_too_many_candidates_are_told_where_chance_explains_the_lead() -> None:
    margin = sqrt((log(10) + log(20)) / (2 * 100))
    assert asked(10, 100, 0.4 - margin - 1e-9) == []
    assert asked(10, 100, 0.4 - margin + 1e-9) == ["G040"]
    assert asked(2, 1, 0.0) == ["G040"]
    assert asked(10, 100, 0.6, "within") == []
    for other in ((1, 100, 0.4), (10, 0, 0.4), (10, 100, None), (10, 100, 0.4, "auc"), (10, 100, 0.4, "error", True)):
        assert asked(*other) == []


def test_a_lead_that_chance_just_explains_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post_release, "majority_error", lambda task: 0.5)
    monkeypatch.setattr(post_release, "sqrt", lambda value: 0.25)
    assert asked(10, 100, 0.25) == ["G040"]


def test_the_error_of_the_commonest_class() -> None:
    assert majority_error(numbers()) == pytest.approx(np.bincount(numbers().target).min() / 400)


def codes(
    errors: int | None,
    told: tuple[float, int] | None,
    limits: tuple[float, float] | None = (0.1, 0.2),
    n: int = 100,
    **policy: Any,
) -> list[str]:
    facts = {"n": n, "n_clean": n, "look": 2, "certified": True, "release": "full", "metric": "f1"}
    released = Released("count", 0.1, errors, 1.0)
    return [one.code for one in answer(released, Look.read(facts), told, limits, make("guard", "warn", **policy))]


def test_an_answer_is_told_that_is_better_than_cross_validation_foresaw_once_in_a_hundred() -> None:
    for rate, rows in ((0.3, 200), (0.5, 30)):
        for errors in range(60):
            p = betabinom.cdf(errors, 100, rows * rate, rows * (1 - rate))
            assert (codes(errors, (rate, rows)) == ["G041"]) == (p < IMPLAUSIBLE)
    assert codes(None, (0.3, 200)) == codes(0, None) == []


def test_what_more_rows_may_bring_accuses_nobody() -> None:
    """Folds that train on two thirds foresee too many errors: 60 of 200 become 45 without any leak, 20 do not."""
    facts, policy = {"n": 200, "look": 1}, make("guard", "warn")

    def told(errors: int, trained: float) -> list[str]:
        released = Released("count", 0.1, errors, 1.0)
        return [one.code for one in answer(released, Look.read(facts), (0.3, 2000), (0.1, 0.2), policy, trained)]

    assert (told(44, 1.0), told(44, 2 / 3), told(20, 2 / 3)) == (["G041"], [], ["G041"])


def test_what_is_foreseen_just_once_in_a_hundred_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post_release, "error_count_distribution", lambda n, *told: np.array([IMPLAUSIBLE, 1.0]))
    assert codes(0, (0.3, 200)) == []


def test_of_how_many_errors_were_foreseen_it_is_said() -> None:
    (found,) = answer(
        Released("count", 0, 0, 1.0), Look.read({"n": 200, "look": 1}), (0.25, 400), (0.1, 0.2), make("guard", "warn")
    )
    assert "50" in found.message


@pytest.mark.parametrize(
    ("limits", "most", "said"),
    [((0.0, 0.8), None, ["G051"]), ((0.0, 0.79), None, []), ((0.1, 0.9), 0.1, ["G051"]), ((0.0, 0.2), 0.125, []),
     ((0.5, 0.7), 0.12, ["G050"]), ((0.5, 0.7), 0.13, []), ((0.5, 0.7), None, [])],
)  # fmt: skip
def test_a_wide_interval_is_told_by_what_is_left_of_the_budget(
    limits: tuple[float, float], most: float | None, said: list[str]
) -> None:
    assert codes(None, None, limits, max_halfwidth=most) == said


@pytest.mark.parametrize(
    ("facts", "expected"),
    [({"certified": False, "n_clean": FEWEST - 1}, certificate_findings.not_certified_too_few_clean(FEWEST - 1, 100, FEWEST)),
     ({"certified": False, "n_clean": FEWEST}, certificate_findings.not_certified_shared_unknown()),
     ({"release": "thresholdout"}, certificate_findings.not_certified_by_thresholdout()),
     ({}, certificate_findings.not_certified("f1", "full"))],
)  # fmt: skip
def test_each_reason_for_no_interval_is_told_in_its_own_words(facts: dict[str, Any], expected: Finding) -> None:
    whole = {"n": 100, "n_clean": 100, "look": 2, "certified": True, "release": "full", "metric": "f1", **facts}
    assert list(answer(Released("value", 0.1, None, 1.0), Look.read(whole), None, None, make("guard", "warn"))) == [expected]


@pytest.mark.parametrize(
    ("look", "expected"),
    [(1, certificate_findings.budget_exhausted_too_few_rows()), (2, certificate_findings.budget_exhausted())],
)
def test_a_first_look_without_information_has_too_few_rows(look: int, expected: Finding) -> None:
    found = answer(Released("x", 0.1, None, 1.0), Look.read({"n": 9, "look": look}), None, (0.0, 1.0), make("guard", "warn"))
    assert list(found) == [expected]


def test_a_validation_set_carries_so_many_candidates() -> None:
    for rows in (100, 1000):
        carried = log_most_candidates(rows, 0.1)
        assert sqrt((carried + log(20)) / (2 * rows)) == pytest.approx(0.1)


def test_the_effort_of_selection_is_that_of_all_studies_on_the_rows_of_the_last() -> None:
    told = history(
        choice(tried=5), choice(tried=7), choice("other", spec_id="o", tried=50), choice(spec_id="t", tried=2, cv_error=0.2)
    )
    found = choices(told, "mine")
    assert found is not None
    assert (found["candidates"], found["rows"]) == (9, 90)
    assert found["bound"] == pytest.approx(sqrt((log(9) + log(20)) / 180))
    assert found["luck"] == pytest.approx(1.485013 * sqrt(0.2 * 0.8 / 90), abs=1e-4)  # E max of nine normal deviates
    assert found["carried"] == int(exp(180 * 0.05**2) / 20)


@pytest.mark.parametrize(
    ("facts", "found", "lucky"),
    [({}, True, True), ({"tried": 0}, False, False), ({"cv_rows": 0}, False, False), ({"cv_rows": 1}, True, True),
     ({"tried": 1}, True, True), ({"measure": "auc"}, True, False), ({"measure": "error"}, True, True),
     ({"cv_error": None}, True, False), ({"cv_error": 1.1}, True, False), ({"cv_error": 0}, True, True),
     ({"cv_error": 1}, True, True),
     ({"testset": "other"}, False, False)],
)  # fmt: skip
def test_luck_is_told_of_error_rates_where_somebody_chose(facts: dict[str, Any], found: bool, lucky: bool) -> None:
    said = choices(history(choice(**{"tried": 3, **facts})), "mine")
    assert (said is not None) == found
    assert (said is not None and said["luck"] is not None) == lucky


def test_nobody_counts_beyond_a_quadrillion() -> None:
    said = choices(history(choice(cv_rows=10**6, tried=3)), "mine")
    assert said is not None
    assert said["carried"] == 10**15
