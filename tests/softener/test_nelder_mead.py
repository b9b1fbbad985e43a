"""The simplex search: its objective against a plain twin, SciPy's own iterates, and what it promises."""

import numpy as np
import pytest
from scipy.optimize import minimize

from modelsel.softener.nelder_mead import NelderMead, Objective
from modelsel.softener.range_fraction import RangeFraction
from modelsel.tree.softening import Widths, values_at_tests
from tests.tree.in_numpy import evaluate

KINDS = ("auc", "exptr", "square", "diff")


def objective(cut, task, kind):
    rows = np.arange(len(task))
    return Objective.of(cut, values_at_tests(cut.tree, task, rows), task, rows, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_compiled_objective_is_its_twin(table, grown, kind, classes):
    rng = np.random.default_rng(classes)
    task = table(rng, classes=classes, missing=0.1, weighted=True)
    cut = grown(task, "fractional")
    loss = objective(cut, task, kind)
    for _ in range(10):
        widths = Widths(rng.exponential(size=len(cut.tree)), rng.exponential(size=len(cut.tree)))
        assert loss(widths) == pytest.approx(evaluate(loss, widths), abs=1e-12)


def test_it_starts_from_half_the_range_and_never_ends_worse(table, grown):
    task = table(np.random.default_rng(5))
    cut = grown(task)
    rows = np.arange(len(task))
    for kind in KINDS:
        found = NelderMead(kind, iterations=60).search(cut, task, rows)
        loss = objective(cut, task, kind)
        assert found.start == pytest.approx(loss(RangeFraction(1.0).widths(cut, task, rows)), abs=1e-12)
        assert found.value == pytest.approx(loss(found.widths), abs=1e-12)
        assert found.value < found.start


def test_it_follows_scipy_on_the_plain_twin(table, grown):
    """The same end as SciPy's search over a smooth objective written out in NumPy."""
    task = table(np.random.default_rng(6))
    cut = grown(task, depth=2)
    start = RangeFraction(1.0).widths(cut, task, np.arange(len(task)))
    z = np.concatenate([start.below, start.above])
    free, loss = np.flatnonzero(z), objective(cut, task, "square")

    def plain(p):
        scaled = z.copy()
        scaled[free] *= p**2
        return evaluate(loss, Widths(*np.split(scaled, 2)))

    theirs = minimize(plain, np.ones(len(free)), method="Nelder-Mead", options={"maxiter": 40, "maxfev": 10**6})
    ours = NelderMead("square", iterations=40).search(cut, task, np.arange(len(task)))
    assert (ours.iterations, ours.evaluations - 0) == (theirs.nit, theirs.nfev)
    assert ours.value == pytest.approx(theirs.fun, abs=1e-10)


def test_it_says_when_the_simplex_has_collapsed_or_the_iterations_ran_out(table, grown):
    task = table(np.random.default_rng(7))
    rows = np.arange(len(task))
    cut = grown(task, depth=1)
    assert NelderMead().search(cut, task, rows).collapsed
    short = NelderMead(iterations=3).search(grown(task), task, rows)
    assert not short.collapsed
    assert short.iterations == 3


def test_a_tree_without_numeric_tests_stays_hard(table, grown):
    task = table(np.random.default_rng(8))
    nominal = task.with_features(task.features[2:], task.values[:, 2:])
    cut = grown(nominal)
    found = NelderMead().search(cut, nominal, np.arange(len(task)))
    assert found.evaluations == 1
    assert not found.widths.below.any()


def test_rows_of_one_class_leave_the_start(table, grown):
    task = table(np.random.default_rng(9))
    cut = grown(task)
    rows = np.flatnonzero(task.target == 0)
    assert NelderMead().search(cut, task, rows).evaluations == 1


@pytest.mark.parametrize("rows", [1, 127, 128, 129, 700])
def test_the_rows_of_a_node_together_are_the_walk_row_by_row_to_the_last_bit(table, grown, rows):
    from modelsel.kernels.trees import soft
    from modelsel.tree.softening import layout

    rng = np.random.default_rng(rows)
    task = table(rng, rows=700)
    numeric = task.with_features(task.features[:2], task.values[:, :2])
    cut = grown(numeric, depth=6)
    x = np.ascontiguousarray(values_at_tests(cut.tree, numeric, np.arange(rows)))
    x[rng.random(x.shape) < 0.02] = np.inf
    x[rng.random(x.shape) < 0.02] = -np.inf
    x[:, 0] = np.where(rng.random(rows) < 0.2, cut.tree.threshold[0], x[:, 0])  # rows that stand on a threshold
    of_leaf = rng.random(len(cut.tree))
    for _ in range(8):
        below, above = (rng.exponential(size=len(cut.tree)) * (rng.random(len(cut.tree)) < 0.7) for _ in range(2))
        by_row, together = np.empty(rows), np.empty(rows)
        arrays = layout(cut.tree, Widths(below, above))
        soft.mean(x, arrays, of_leaf, by_row)
        soft.mean_of_ramps(np.ascontiguousarray(x.T), arrays, of_leaf, together)
        assert np.array_equal(by_row, together)


def test_only_trees_of_ramps_take_the_rows_of_a_node_together(table, grown):
    task = table(np.random.default_rng(10), missing=0.1)
    numeric = task.with_features(task.features[:2], task.values[:, :2])
    assert objective(grown(task), task, "auc").by_test is None  # levels are no ramps
    assert objective(grown(numeric, "fractional"), numeric, "auc").by_test is None  # rows are divided
    plain = objective(grown(numeric), numeric, "auc")
    assert plain.by_test is not None
    widths = RangeFraction(1.0).widths(grown(numeric), numeric, np.arange(len(task)))
    assert plain(widths) == pytest.approx(evaluate(plain, widths), abs=1e-12)
