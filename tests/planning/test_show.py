"""The plan in words, its warnings against simulation, and what it will cost."""

import numpy as np
import pytest

from modelsel.core.spec import make as make_part
from modelsel.core.types import Candidate, Feature, NumberTask
from modelsel.learner.majority import Majority
from modelsel.learner.tree import Tree
from modelsel.measure.mse import Mse
from modelsel.planning import show
from modelsel.planning.make import make
from modelsel.planning.show import THOUSANDS, _luck, _thousands, agnostic, lines, of_guesses, warnings
from modelsel.pruner.cost_complexity import CostComplexity
from tests import doubles
from tests.doubles import spread

TASK = doubles.task(400, seed=7)


def test_the_text_counts_what_is_planned():
    plan = make((*spread(7), *spread(5, group=1)), TASK, doubles.folds(TASK, 10))
    text = "\n".join(lines(plan, TASK, 100))
    assert "candidates   12" in text
    assert "batches      2" in text
    assert "cells        20" in text
    assert "fits         21 instead of 121: 5.8 × fewer" in text
    assert "one look at 100 rows" in text


def test_sizes_that_count_different_things_are_not_compared() -> None:
    some = (Candidate(Tree(), entry="cart"), Candidate(Tree(max_depth=1), entry="cart"), Candidate(Majority()))
    said = lines(make(some, TASK, doubles.folds(TASK)), TASK, 0)
    assert "sizes        ties and rule=one_standard_error compare within a unit: leaves (cart); rules (majority)" in said
    assert not any(line.startswith("sizes") for line in lines(make(some[:2], TASK, doubles.folds(TASK)), TASK, 0))


def test_many_rows_are_told_what_sealing_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(test_rows: int) -> list[str]:
        return [
            line for line in lines(make(spread(2), TASK, doubles.folds(TASK)), TASK, test_rows) if line.startswith("sealing")
        ]

    columns, rows = len(TASK.features), 10**6
    monkeypatch.setattr(show, "memory", lambda: 1 << 40)
    assert (said(0), said(200)) == ([], [])
    (line,) = said(rows - len(TASK))
    assert f"about {8 * 8 * rows * columns / 2**20:,.0f} MiB beyond the data" in line
    assert "too few" not in line
    monkeypatch.setattr(show, "memory", lambda: 9 * 8 * rows * columns - 1)
    assert "a sample of the rows, or fewer columns" in said(rows - len(TASK))[0]


def test_without_sealed_rows_there_is_no_interval():
    plan = make(spread(2), TASK, doubles.folds(TASK))
    assert "final test   none: there are no sealed rows" in lines(plan, TASK, 0)


def test_the_agnostic_bound_holds_for_all_candidates_at_once():
    rng = np.random.default_rng(1)
    estimates = rng.binomial(300, 0.5, (2000, 50)) / 300
    outside = (np.abs(estimates - 0.5) > agnostic(50, 300, 0.05)).any(axis=1).mean()
    assert outside <= 0.05


def test_too_many_candidates_for_the_rows_are_said_and_few_are_not():
    small, large = doubles.task(60), doubles.task(3000)
    many = make(spread(300), small, doubles.folds(small))
    few = make(spread(2), large, doubles.folds(large))
    assert [finding.code for finding in warnings(many, small)] == ["MSEL-P01", "MSEL-P02"]
    assert warnings(few, large) == ()


@pytest.mark.parametrize(("rows", "severity"), [(24, "high"), (60, "medium"), (600, "low")])
def test_luck_is_as_grave_as_what_it_can_change(rows: int, severity: str) -> None:
    """The expected largest of 300 standard normal deviates, times the standard error of a guess on these rows."""
    task = doubles.task(rows)
    plan = make(spread(300), task, doubles.folds(task, 3))
    (finding,) = (one for one in warnings(plan, task) if one.code == "MSEL-P01")
    rate = 1 - np.bincount(task.target).max() / rows
    largest = np.random.default_rng(1).standard_normal((20_000, 300)).max(axis=1).mean()
    told = float(finding.message.split("up to ")[1].split()[0])
    assert told == pytest.approx(largest * np.sqrt(rate * (1 - rate) / rows), rel=0.02)
    assert finding.severity == severity


def test_a_family_says_for_how_many_candidates_it_may_stand():
    family = Candidate(Tree(pruner=CostComplexity(alpha="path"), min_leaf=4))
    plan = make((family, *spread(2)), TASK, doubles.folds(TASK))
    assert "candidates   2 candidates and one pruning path (up to 99 strengths)" in lines(plan, TASK, 0)


@pytest.mark.parametrize(
    "measure", ["auc", "log_loss", "brier", "kappa", "f1", "balanced_error", "mcc", "recall", "average_precision"]
)
def test_luck_is_told_on_the_scale_of_the_measure(measure: str) -> None:
    """ "up to 0.000 better", high, was said of every measure where the classes are nearly equal."""
    task = doubles.task(60)
    plan = make(spread(300), task, doubles.folds(task))
    (finding,) = warnings(plan, task, measure=make_part("measure", measure))
    assert finding.code == "MSEL-P01"
    assert f"better in {measure} than it is" in finding.message
    assert float(finding.message.split("up to ")[1].split()[0]) > 0.05


def test_the_luck_of_areas_is_that_of_mann_and_whitneys_null() -> None:
    """SD of an area under no signal: sqrt((n + m + 1) / (12 n m)), exact."""
    task = doubles.task(400)
    first = int((task.target == 0).sum())
    exact = np.sqrt((len(task) + 1) / (12 * first * (len(task) - first)))
    luck = of_guesses(make_part("measure", "auc"), task)
    assert luck.spread == pytest.approx(exact, rel=0.15)
    assert luck.reach == pytest.approx(0.5, abs=0.01)


def test_more_than_thousands_of_candidates_are_many() -> None:
    assert not list(_thousands(THOUSANDS))
    (finding,) = _thousands(THOUSANDS + 1)
    assert finding.code == "MSEL-P03"


def test_luck_with_numbers_is_told_by_the_root_in_the_unit_of_the_target() -> None:
    """The best of 200 guesses among 100 rows, found by drawing them: in the root of their mean squared error."""
    rng = np.random.default_rng(0)
    target = rng.normal(500, 100, 100)
    drawn = np.sqrt([np.square(rng.choice(target, 100) - target).mean() for _ in range(4000)])
    best = np.mean(drawn.reshape(20, 200).min(axis=1))
    task = NumberTask(
        name="t", features=(Feature("x", "numeric"),), values=rng.normal(size=(100, 1)), rows=np.arange(100), target=target,
        measured_in="kg",
    )  # fmt: skip
    (said,) = _luck(200, 100, of_guesses(Mse(), task), "mse", "kg")
    told = float(said.message.split("up to ")[1].split(" kg better in root mse")[0])
    assert told == pytest.approx(drawn.mean() - best, rel=0.25)
