"""What is begun before a deadline: samples keep classes and units, the cheap come first, and what cannot end is not begun."""

from types import SimpleNamespace

import numpy as np
import pytest

from modelsel.core.types import Candidate, ClassTask, Feature
from modelsel.learner.majority import Majority
from modelsel.learner.naive_bayes import NaiveBayes
from modelsel.measure.error import Error
from modelsel.planning.make import make
from modelsel.runner import costs
from modelsel.runner.budget import Budget
from modelsel.runner.costs import samples
from modelsel.runner.evaluation.context import RunContext
from modelsel.scheme.stratified_group_kfold import StratifiedGroupKfold
from modelsel.scheme.stratified_kfold import StratifiedKfold


def context(rows, groups=None):
    rng = np.random.default_rng(0)
    target = (rng.random(rows) < 0.1).astype(int)
    features, values = (Feature("x", "numeric"),), rng.normal(size=(rows, 1))
    task = ClassTask(
        name="t", features=features, values=values, rows=np.arange(rows), classes=("a", "b"), target=target, groups=groups
    )
    folds = (StratifiedKfold if groups is None else StratifiedGroupKfold)(folds=5).instantiate(task, 0)
    some = (Candidate(NaiveBayes()), Candidate(Majority()), Candidate(NaiveBayes(prior="uniform")))
    return RunContext(task, folds, make(some, task, folds), Error())


def test_samples_are_parts_of_the_first_fold_with_its_shares_of_classes():
    work = context(40_000)
    made = list(samples(work))
    assert [len(one.work.resampling.folds[0].analysis) for one in made] == pytest.approx([200, 2000, 6000], rel=0.01)
    for one in made:
        fold, task = one.work.resampling.folds[0], one.work.task
        assert not np.isin(task.rows[fold.assessment], work.task.rows[work.resampling.folds[0].analysis]).any()
        assert np.isin(task.rows[fold.analysis], work.task.rows[work.resampling.folds[0].analysis]).all()
        assert task.target[fold.analysis].mean() == pytest.approx(work.task.target.mean(), abs=0.01)


def test_samples_take_whole_units():
    work = context(20_000, groups=np.arange(20_000) // 10)
    small = list(samples(work))[1].work
    assert set(np.unique(small.task.groups, return_counts=True)[1]) == {10}


def test_small_tables_have_small_samples_and_the_smallest_none():
    sizes = [len(one.work.resampling.folds[0].analysis) for one in samples(context(2_000))]
    assert sizes == pytest.approx([88, 177, 531], abs=2)
    assert not list(samples(context(400)))


@pytest.fixture
def three(monkeypatch):
    """Batches of 10, 1 and 100 seconds a cell on all rows, of scores .3, .5 and .1; two folds at a time of four."""
    monkeypatch.setattr(costs, "slowness", lambda: 1.0)
    plan = SimpleNamespace(batches=[SimpleNamespace(members=(at,)) for at in range(3)], folds=4)
    fold = SimpleNamespace(assessment=np.arange(5000))
    task = SimpleNamespace(values=np.zeros((2, 2)))
    work = SimpleNamespace(plan=plan, measure=Error(), resampling=SimpleNamespace(folds=[fold]), task=task)

    def made(seconds):
        found = Budget(work, seconds, 2)
        small, large = np.array([1.0, 0.1, 1.0]) / 9, np.array([1.0, 0.1, 10.0]) / 3  # the third grows with the square
        found.learn([small, small, large], [1 / 900, 1 / 90, 1 / 30], np.array([0.3, 0.5, 0.1]))
        return found

    return made


def test_cost_grows_as_it_grew_between_the_samples(three):
    assert three(1e6).cells == pytest.approx([10.0, 1.0, 10 / 3 * 30**2.5], rel=1e-6)


def test_where_all_fit_the_cheap_come_first(three):
    assert three(1e6).order() == [1, 0, 2]


def test_where_not_all_fit_the_cheapest_comes_first_and_then_the_best(three):
    assert three(60.0).order() == [1, 2, 0]


def test_what_would_not_end_with_the_winners_fit_is_not_begun_and_says_why(three):
    short = three(60.0)
    assert short.fits(1)
    short.correct(1, [1.0] * 4)
    assert not short.fits(2)
    assert short.fits(0)
    assert short.refusal(2).startswith("not begun: all folds and the winner's fit would take some ")


def test_what_cells_took_corrects_what_is_expected_of_the_next(three):
    found = three(100.0)
    before = found.needs(0)
    found.correct(1, [2.0] * 4)
    assert found.needs(0) == pytest.approx(2 * before)
