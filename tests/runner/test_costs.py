"""What a plan is expected to cost: samples of two sizes and what grew between them, kinds that are cheap and dear."""

from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.spec import make as make_part
from modelsel.core.types import Candidate, Feature, Fold, Resampling
from modelsel.learner.majority import Majority
from modelsel.learner.tree import Tree
from modelsel.measure.error import Error
from modelsel.measure.log_loss import LogLoss
from modelsel.planning.make import make
from modelsel.pruner.cost_complexity import CostComplexity
from modelsel.runner import costs
from modelsel.runner.costs import estimate, extrapolate
from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.execution.executors import Pool
from tests import doubles
from tests.doubles import Double, spread

TASK = doubles.task(400, seed=7)


def cost(some, folds, measure=None, workers=1, task=TASK):
    work = RunContext(task, folds, make(some, task, folds), measure or Error())
    return estimate(work, Pool("threads", workers))


def test_seconds_grow_as_between_the_larger_samples_and_what_was_not_asked_keeps_its_power():
    nan, shares = np.nan, [0.01, 0.1, 0.3]
    measured = [np.array([9.0, 9.0, 0.1]), np.array([1.0, 1.0, nan]), np.array([3.0, 9.0, nan])]
    assert extrapolate(measured, shares) == pytest.approx([10.0, 100.0, 10.0])
    assert extrapolate(measured[:2], shares) == pytest.approx([10.0, 10.0, 10.0])


def test_a_square_is_seen_on_samples(monkeypatch):
    """A cell of 27,000 rows takes 20 seconds, and so does the winner's fit; those on samples follow the same law."""
    task = doubles.task(30_000, seed=1)
    monkeypatch.setattr(costs, "_answer", lambda work, jobs: 20.0 * (len(work.resampling.folds[0].analysis) / 27_000) ** 2)
    found = [cost(spread(2), doubles.folds(task, 10), workers=workers, task=task).seconds for workers in (1, 2)]
    assert found == pytest.approx([220.0, 200.0 / 2**costs.TOGETHER + 20.0], rel=0.01)


def test_more_folds_and_candidates_cost_more():
    some = tuple(Candidate(Tree(max_depth=depth)) for depth in range(1, 9))
    short, long = cost(some[:2], doubles.folds(TASK)), cost(some, doubles.folds(TASK, 50), LogLoss())
    assert 0 < short.seconds < long.seconds
    assert 0 < short.memory < long.memory


def test_a_family_costs_what_its_members_cost():
    family = Candidate(Tree(pruner=CostComplexity(alpha="path"), min_leaf=4))
    assert cost((family, *spread(2)), doubles.folds(TASK)).seconds > 0


def test_what_is_dear_is_not_estimated_at_the_price_of_the_rest():
    hard = Tree(pruner=CostComplexity(alpha=0.001))
    dear = replace(hard, softener=make_part("softener", "nelder_mead", iterations=200))
    cheap, both = (cost(tuple(map(Candidate, own)), doubles.folds(TASK, 3)).seconds for own in ((hard,), (hard, dear)))
    assert both > 3 * cheap


def test_rows_that_take_part_in_no_fold_cost_nothing():
    """Training sets side by side: a fold knows a few of the rows, and is not charged for the others."""
    some = tuple(Candidate(Tree(max_depth=depth)) for depth in range(1, 9))
    rows = np.arange(len(TASK))
    fold = Fold(0, 0, rows[:20], rows[20:40])
    few = Resampling("predefined", TASK.fingerprint, (fold,))
    all_of_them = Resampling("predefined", TASK.fingerprint, (replace(fold, analysis=rows[:200], assessment=rows[200:]),))
    one, other = (cost(some, folds, LogLoss()).memory for folds in (few, all_of_them))
    assert one < other


def test_few_batches_of_a_kind_stand_for_all_of_it(monkeypatch):
    tried = []
    monkeypatch.setattr(costs, "_answer", lambda work, jobs: tried.append(jobs) or 0.25)
    some = (*(Candidate(Double(group=at)) for at in range(100)), Candidate(Majority()))
    found = cost(some, doubles.folds(TASK, 4))
    assert len(tried) <= 2 * (costs.STAND_INS + 1) + 4  # those weighed
    assert found.seconds == pytest.approx(4 * 101 * (0.25 + costs.PER_CELL) + 0.25)


def test_a_candidate_that_fails_on_few_rows_ends_no_plan():
    assert cost((Candidate(Double(deed="raise")), Candidate(Majority())), doubles.folds(TASK)).seconds > 0


@pytest.mark.parametrize(("rows", "columns", "sizes"), [(1_400, 2, [70, 140, 420]), (1_400, 2_000, [50, 100, 300])])
def test_samples_of_a_wide_table_have_fewer_rows(rows, columns, sizes):
    task = doubles.task(rows, seed=3)
    wide = task.with_features(tuple(Feature(f"x{at}", "numeric") for at in range(columns)), np.ones((rows, columns)))
    folds = doubles.folds(wide, 10)
    found = costs.samples(RunContext(wide, folds, make(spread(2), wide, folds), Error()))
    assert [len(one.work.resampling.folds[0].analysis) for one in found] == pytest.approx(sizes, abs=2)
