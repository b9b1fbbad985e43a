"""Trees by absolute error and pinball loss: every test against brute force, the kernel against its twin, scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from modelsel.config.build import build
from modelsel.core.errors import ConfigurationError
from modelsel.core.types import Feature, positions
from modelsel.kernels.layout import PINBALL
from modelsel.tree.growing.grow_numbers import grow_numbers
from modelsel.tree.growing.growth import ABSOLUTE_ERROR, GrowthParams, NumberLoss
from modelsel.tree.node import LEAF
from modelsel.tree.routing import route
from tests.tree.number_tables import drawn, number_task, rows_of_nodes
from tests.tree.test_number_trees import assert_same, compiled, in_numpy

TABLES = 50  # to a block
LOSSES = (ABSOLUTE_ERROR, NumberLoss(PINBALL, 0.9), NumberLoss(PINBALL, 0.13))


def loss_of(y: np.ndarray, loss: NumberLoss) -> float:
    """The least loss about any of the numbers themselves, where the least is."""
    off = y[:, None] - y[None, :]
    q = loss.quantile
    return loss.times * float(np.where(off > 0, q * off, (q - 1) * off).sum(axis=0).min()) if len(y) else 0.0


def lower_quantile(y: np.ndarray, q: float) -> float:
    return float(np.quantile(y, q, method="inverted_cdf"))


def best_of_all(X: np.ndarray, y: np.ndarray, loss: NumberLoss, least: int) -> float | None:
    """What the best admissible test saves: every cut of the first column, of the second prefixes of levels by quantile."""
    saved = []
    for f, column in enumerate(X.T):
        values = sorted(set(column.tolist()))
        if f == 1:
            values.sort(key=lambda value, column=column: lower_quantile(y[column == value], loss.quantile))
        for left in (np.isin(column, values[:k]) for k in range(1, len(values))):
            if min(left.sum(), (~left).sum()) >= least:
                saved.append(loss_of(y, loss) - loss_of(y[left], loss) - loss_of(y[~left], loss))
    return max(saved, default=None)


@pytest.mark.parametrize("block", range(6))
def test_every_test_is_the_best_of_all_on_fifty_small_tables(block: int) -> None:
    features = (Feature("a", "numeric"), Feature("b", "nominal", tuple("abcd")))
    for seed in range(TABLES * block, TABLES * (block + 1)):
        rng = np.random.default_rng(seed)
        n, least = int(rng.integers(3, 16)), int(rng.integers(1, 3))
        X = np.column_stack([rng.integers(0, 7, n), rng.integers(0, 4, n)]).astype(float)
        y = rng.standard_t(2.0, n) if seed % 2 else rng.integers(0, 9, n) / 4
        loss, task = LOSSES[seed % 3], number_task(X, y, None, features)
        tree = grow_numbers(task, positions(task), GrowthParams(nominal="subset", min_leaf=float(least), min_split=2.0), loss)
        for node, rows in rows_of_nodes(tree, X):
            best = best_of_all(X[rows], y[rows], loss, least)
            if tree.test[node] == LEAF:
                assert len(set(y[rows].tolist())) == 1 or best is None
                continue
            assert tree.goodness[node] == pytest.approx(best / len(rows), rel=1e-9, abs=1e-9), (seed, node)


def undivided(seed: int):
    """A table of every kind, grown by a policy that divides no row."""
    table = drawn(seed)
    policy = ("node_mode", "branch", "surrogate")[seed % 3] if table.growth.nominal != "multiway" else "branch"
    return replace(table, growth=replace(table.growth, missing=policy))


@pytest.mark.sampled(15)
@pytest.mark.parametrize("seed", range(60))
def test_the_kernel_and_its_twin_agree_to_the_last_bit_whatever_the_weights_gaps_and_levels(seed: int, code) -> None:
    table, loss = undivided(seed), LOSSES[seed // 3 % 3]
    ours = compiled(code, table.task, table.growth, loss)
    assert_same(ours, in_numpy(table.task, table.growth, loss), exactly=False)


@pytest.mark.parametrize("seed", range(30))
def test_the_order_of_rows_changes_no_bit(seed: int) -> None:
    table, loss = undivided(seed), LOSSES[seed // 3 % 3]
    other = table.rows(np.random.default_rng(seed).permutation(len(table.y)))
    assert_same(
        grow_numbers(table.task, positions(table.task), table.growth, loss),
        grow_numbers(other, positions(other), table.growth, loss),
    )


def test_a_whole_weight_is_so_many_repeats() -> None:
    for seed in range(20):
        table, loss = undivided(seed), LOSSES[seed % 3]
        weight = np.random.default_rng(seed).integers(1, 4, len(table.y))
        growth = GrowthParams(missing=("node_mode", "branch")[seed % 2], nominal="subset", min_leaf=2.0, min_split=2.0)
        weighted = number_task(table.X, table.y, weight.astype(float), table.features)
        rows = np.repeat(np.arange(len(table.y)), weight)
        repeated = number_task(table.X[rows], table.y[rows], None, table.features)
        assert_same(
            grow_numbers(weighted, positions(weighted), growth, loss),
            grow_numbers(repeated, positions(repeated), growth, loss),
            exactly=False,
        )


@pytest.mark.slow
def test_rows_beyond_one_word_of_bits_are_found_again(code) -> None:
    """The rows in the middle leave first, so that the quantile jumps over what is gone."""
    rng = np.random.default_rng(5)
    y = np.arange(9000) - 4500.25 + rng.random(9000)
    X = np.column_stack([np.abs(y) + rng.normal(size=9000), rng.integers(0, 50, 9000)]).round(1)
    task, growth = number_task(X, y), GrowthParams(min_leaf=3.0, min_split=2.0, max_depth=2)
    for loss in LOSSES:
        assert_same(compiled(code, task, growth, loss), in_numpy(task, growth, loss), exactly=False)


@pytest.mark.parametrize("limits", [{"max_depth": 4}, {"max_depth": 8, "min_samples_leaf": 10}, {"min_samples_leaf": 5}])
def test_predictions_are_those_of_scikit_learn(limits: dict[str, int]) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(501, 4))
    y = X[:, 0] + np.abs(X[:, 1]) * rng.standard_t(3, 501)
    settings = {"min_leaf": limits.get("min_samples_leaf", 1), "max_depth": limits.get("max_depth")}
    task = number_task(X, y)
    model = build("tree", {"criterion": "absolute_error", **settings})[0].fit(task, positions(task), np.random.default_rng(0))
    theirs = DecisionTreeRegressor(criterion="absolute_error", random_state=0, **limits).fit(X, y).predict(X)
    assert np.mean(np.isclose(model.predict(task), theirs, rtol=1e-9)) > 0.98


@pytest.mark.parametrize("q", [0.1, 0.9])
def test_leaves_say_the_quantile_that_the_tree_was_grown_by(q: float) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    task = number_task(X, y)
    spec = build("tree", {"criterion": {"kind": "quantile", "q": q}, "max_depth": 3})[0]
    said = spec.fit(task, positions(task), np.random.default_rng(0)).predict(task)
    tree = grow_numbers(task, positions(task), GrowthParams(min_split=2.0, max_depth=3), NumberLoss(PINBALL, q))
    leaf = route(tree, task, positions(task)).leaf
    for node in np.unique(leaf):
        own = y[leaf == node]
        assert said[leaf == node] == pytest.approx(np.quantile(own, q, method="averaged_inverted_cdf"))
    named = replace(spec, leaf=replace(spec.leaf, statistic="mean"))
    means = named.fit(task, positions(task), np.random.default_rng(0)).predict(task)
    np.testing.assert_allclose(means, tree.numbers.mean[leaf])


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_pruning_is_by_the_loss_that_the_tree_was_grown_by(criterion: str) -> None:
    """scikit-learn's sequence of strengths: the impurity of its criterion, half the deviance for counts."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(301, 3))
    y = rng.gamma(2.0, np.exp(0.5 * X[:, 0]))
    task = number_task(X, y)
    spec = build("tree", {"criterion": criterion, "min_leaf": 7, "pruner": {"kind": "cost_complexity", "alpha": 0.0}})[0]
    path = spec.fit_path(task, positions(task), np.random.default_rng(0))
    theirs = DecisionTreeRegressor(criterion=criterion, min_samples_leaf=7, random_state=0)
    strengths = theirs.cost_complexity_pruning_path(X, y).ccp_alphas
    steps = spec.pruner.path(
        path._standings(spec.number_loss).base(spec), path._standings(spec.number_loss).evidence_for(spec)
    ).steps()
    steps = steps[(steps > 0) & np.isfinite(steps)]
    assert len(steps) > 5
    ours, others = np.sort(steps)[-4:], np.sort(strengths)[-4:]
    np.testing.assert_allclose(ours, others, rtol=1e-6)


def test_what_cannot_be_is_refused_before_a_fit() -> None:
    task = number_task(np.arange(8.0)[:, None], np.arange(8.0))

    def reasons(**settings: object) -> str:
        return " ".join(build("tree", settings)[0].problems(task))

    assert not reasons(criterion="absolute_error")
    assert "divides no rows" in reasons(criterion="absolute_error", missing="fractional")
    with pytest.raises(ConfigurationError, match="above 0 and below 1"):
        reasons(criterion={"kind": "quantile", "q": 1.0})
    assert "pruned by its own loss" in reasons(criterion="absolute_error", pruner="reduced_error")
    assert "pruned by its own loss" in reasons(criterion="poisson", pruner="reduced_error")
    assert "single trees" in " ".join(build("forest", {"criterion": "absolute_error"})[0].problems(task))
