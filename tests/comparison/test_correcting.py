"""What corrects the winner's score: BBC, nested where it is asked for, a caution where BBC is near the floor."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from benchmarks.simulations.nested_worth import Rules, cross_validated, fit, nested, study
from modelsel.comparison.nested import sum_up_outer as summed
from modelsel.comparison.selection import CAUTION, coverage_caution, near_floor, needs_nested, with_caution, with_nested
from modelsel.core.outcome import CorrectedFacts


@dataclass(frozen=True)
class Board:
    se: tuple[float, ...] = (0.02, 0.9)


@dataclass(frozen=True)
class Chosen:
    """As much of a selection as is read."""

    corrected: CorrectedFacts | None
    winner: int = 0
    board: Board = Board()


BBC = CorrectedFacts(method="bbc", mean=0.47, low=0.4, high=0.5, tibshirani=0.46)


def test_a_log_loss_on_few_rows_or_groups_is_doubted_by_name_and_near_the_floor_both_are_said() -> None:
    assert not coverage_caution("log_loss", 300, None)
    assert not coverage_caution("error", 40, None)
    assert str(coverage_caution("log_loss", 299, None)).startswith("on 299 rows")
    few = coverage_caution("log_loss", 600, np.repeat(np.arange(200), 3))
    assert few is not None
    assert few.startswith("on 200 groups")
    both = with_caution(Chosen(BBC.but(caution=few)), near=True).corrected  # type: ignore[type-var]
    assert both is not None
    assert both["caution"] == f"{few}; {CAUTION}"


@pytest.mark.parametrize(("mean", "near"), [(0.47, True), (0.461, True), (0.539, True), (0.45, False), (0.30, False)])
def test_near_is_within_two_standard_errors_of_the_winner(mean: float, near: bool) -> None:
    assert near_floor(Chosen(BBC.but(mean=mean)), [0.5, 0.9]) is near  # type: ignore[arg-type]


def test_without_a_correction_nothing_is_near_and_auto_asks_for_nested() -> None:
    none = Chosen(None)
    assert not near_floor(none, [0.5])  # type: ignore[arg-type]
    assert needs_nested("auto", none, near=False)  # type: ignore[arg-type]
    assert with_caution(none, near=True) is none  # type: ignore[type-var]


def test_auto_asks_near_the_floor_alone() -> None:
    some: Any = Chosen(BBC)
    assert [needs_nested("auto", some, near) for near in (True, False)] == [True, False]
    assert all(needs_nested(how, some, near) for how in ("nested", "bbc") for near in (True, False))


def test_nested_takes_the_place_and_bbc_stays_beside_it() -> None:
    some: Any = Chosen(BBC)
    found = summed([0.4, 0.5, 0.6], 0.5, ["a", "b", "a"])
    after = with_nested(some, found, "nested").corrected
    assert (after["method"], after["mean"], after["bbc"], after["tibshirani"]) == ("nested", 0.5, BBC, BBC["tibshirani"])
    assert (after["low"], after["high"]) == (found.low, found.high)
    assert with_nested(some, found, "bbc") is some
    assert with_nested(replace(some, corrected=None), found, "bbc").corrected["method"] == "nested"
    assert with_caution(some, near=True).corrected == {**BBC, "caution": CAUTION}
    assert with_caution(some, near=False) is some


def test_the_simulation_s_truth_is_that_of_rows_without_end() -> None:
    rng = np.random.default_rng(0)
    rules = Rules(np.array([[0, 1, 2], [2, 3, 4]]), rng.normal(size=(2, 3)), np.array([0.1, -0.2]))
    means, y = np.array([0.3, 0.3, 0.3, 0.0, 0.0]), np.arange(200_000) % 2
    x = rng.normal(size=(len(y), 5)) + np.where(y == 1, 1, -1)[:, None] * means
    assert rules.wrong(x, y).mean(axis=0) == pytest.approx(rules.errors(means), abs=0.005)


def test_the_simulation_s_rule_is_the_linear_one() -> None:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    x, columns = rng.normal(size=(60, 6)) + y[:, None], np.array([[0, 2, 5], [1, 2, 3]])
    theirs = [LinearDiscriminantAnalysis().fit(x[:, triple], y).predict(x[:, triple]) != y for triple in columns]
    assert (fit(x, y, columns).wrong(x, y) == np.array(theirs).T).all()


def test_without_signal_bbc_is_optimistic_and_nested_is_not() -> None:
    """Thirty studies of 80 rows and 60 candidates: the plain best flatters by .12, nested by nothing that can be told."""
    found = np.array([study(80, 60, 10, 0.0, np.random.default_rng(each)) for each in range(30)])
    _, best, bbc, outside, auto, asked = found.mean(axis=0)
    assert best < -0.08
    assert best < bbc < outside
    assert abs(outside) < 0.03
    assert abs(auto) < 0.03
    assert asked > 0.8


def test_every_row_is_assessed_once() -> None:
    rng = np.random.default_rng(2)
    y, x = np.arange(40) % 2, rng.normal(size=(40, 5))
    losses = cross_validated(x, y, np.array([[0, 1, 2]]), rng)
    assert set(np.unique(losses)) <= {0.0, 1.0}
    assert 0 <= nested(x, y, np.array([[0, 1, 2], [2, 3, 4]]), rng) <= 1
