"""Neighbours and table lookup where the target is a number, against twins that take rows one by one."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from modelsel.core.spec import make
from modelsel.core.types import Candidate, ClassTask, Description, NumberTask, positions
from modelsel.learner.knn import Knn
from modelsel.learner.knn_numbers import weighted_quantiles
from modelsel.learner.table import Table
from modelsel.planning.make import batches
from tests.tree.number_tables import drawn, friedman, number_task

RNG = np.random.default_rng(0)


def quantile(values: np.ndarray, weights: np.ndarray, q: float) -> float:
    """The smallest minimiser of the pinball loss, and the middle to the largest one."""
    kept = weights > 0
    values, weights = values[kept], weights[kept]
    loss = [np.sum(weights * np.where(values > a, q * (values - a), (q - 1) * (values - a))) for a in values]
    least = np.flatnonzero(np.isclose(loss, min(loss), rtol=1e-9, atol=1e-12))
    return (values[least].min() + values[least].max()) / 2


@pytest.mark.parametrize("vote", ["uniform", "inverse", "rank"])
def test_one_search_says_the_statistic_of_the_neighbours_for_every_k(vote: str) -> None:
    rng = np.random.default_rng(3)
    X, y = friedman(60)
    weights = rng.integers(1, 4, 60).astype(float)
    task = number_task(X, np.round(y + rng.random(60), 3), weights)
    own, asked = np.arange(50), np.arange(50, 60)
    learners = [
        Knn(k=k, vote=vote, statistic=statistic, q=q)
        for k in (1, 4, 9) for statistic, q in ((None, None), ("mean", None), ("median", None), ("quantile", 0.2))
    ]  # fmt: skip
    assert len(batches([Candidate(learner) for learner in learners])) == 1
    path = learners[0].fit_path(task, own, RNG)
    together = path.outputs(learners, task, asked, scores=False).predicted
    scale = np.ptp(X[own], axis=0)
    for learner, said in zip(learners, together, strict=True):
        alone = Knn.restore(learner.fit(task, own, RNG).describe())
        assert np.array_equal(alone.predict(task.take(asked)), said)
        for row, number in zip(asked, said, strict=True):
            distance = np.sqrt(np.square((X[own] - X[row]) / scale).sum(axis=1))
            near = np.argsort(distance, kind="stable")[: learner.k]
            votes = weights[near] * {
                "uniform": 1.0, "inverse": 1 / distance[near], "rank": np.arange(learner.k, 0, -1.0)
            }[vote]  # fmt: skip
            expected = (
                np.average(task.target[near], weights=votes) if learner.quantile is None
                else quantile(task.target[near], votes, learner.quantile)
            )  # fmt: skip
            assert number == pytest.approx(expected, rel=1e-9)


def test_means_of_neighbours_are_those_of_scikit_learn() -> None:
    X, y = friedman(80)
    task = number_task(X, y)
    learner = Knn(k=7, distance=make("distance", "euclidean"), normalise="none", vote="inverse")
    theirs = KNeighborsRegressor(7, weights="distance").fit(X[:60], y[:60]).predict(X[60:])
    np.testing.assert_allclose(learner.fit(task, np.arange(60), RNG).predict(task)[60:], theirs, rtol=1e-9)


def test_quantiles_of_columns_leave_out_what_has_no_weight() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 5, (int(rng.integers(1, 9)), 1)).astype(float)
        weights, q = rng.integers(0, 3, values.shape).astype(float), float(rng.choice([0.1, 0.25, 0.5, 0.9]))
        weights[0] += 1
        assert weighted_quantiles(values, weights, q)[0] == pytest.approx(quantile(values[:, 0], weights[:, 0], q))


def epsilon(column: np.ndarray, task: NumberTask) -> float:
    """How much of the variance a column explains, by rows."""
    w, y = task.row_weights, task.target
    codes = np.nan_to_num(column, nan=-99.0)
    cells, n = np.unique(codes[w > 0]), int((w > 0).sum())
    total = np.sum(w * (y - np.average(y, weights=w)) ** 2)
    if total == 0 or len(cells) in (1, n):
        return 0.0
    each = [(y[codes == cell], w[codes == cell]) for cell in cells]
    within = sum(np.sum(own * (one - np.average(one, weights=own)) ** 2) for one, own in each)
    return 1 - within / (n - len(cells)) / (total / (n - 1))


def looked_up(task: NumberTask, row: np.ndarray, back_off: str) -> float:
    """Compare with all rows, over ever fewer features."""
    order = sorted(range(len(row)), key=lambda f: (-round(epsilon(task.values[:, f], task), 12), f))
    known, asked = np.nan_to_num(task.values, nan=-99.0), np.nan_to_num(row, nan=-99.0)
    lengths = range(len(order), -1, -1) if back_off != "majority" else (len(order), 0)
    for length in lengths:
        same = (known[:, order[:length]] == asked[order[:length]]).all(axis=1)
        if same.any():
            weights = task.row_weights[same]
            return float(np.average(task.target[same], weights=weights if weights.sum() > 0 else None))
    raise AssertionError("the empty prefix has all rows")


def test_a_table_says_the_mean_of_equal_rows_and_backs_off_to_fewer_features() -> None:
    for seed in range(6):
        task, rng = drawn(seed).task, np.random.default_rng(seed)
        asked = task.values[rng.integers(0, len(task), 20)].copy()
        asked[np.arange(20), rng.integers(0, 4, 20)] = 1.0
        table = task.take(np.arange(20) % len(task)).with_features(task.features, asked)
        both = [Table(), Table(back_off="majority")]
        path = both[0].fit_path(task, positions(task), RNG)
        said = path.outputs(both, table, positions(table), scores=False).predicted
        order = rng.permutation(len(task))
        for learner, own in zip(both, said, strict=True):
            np.testing.assert_allclose(own, [looked_up(task, row, learner.back_off) for row in asked], rtol=1e-9, atol=1e-9)
            assert np.array_equal(Table.restore(learner.fit(task, positions(task), RNG).describe()).predict(table), own)
            assert np.array_equal(learner.fit(task.take(order), positions(task), RNG).predict(table), own)
        off = path.model(both[0]).predict(task) - task.target
        expected = np.sqrt(np.average(np.square(off), weights=task.row_weights))
        assert path.training_error(both)[0] == pytest.approx(expected, rel=1e-9)


def test_what_speaks_of_classes_is_refused() -> None:
    task = number_task(*friedman(20))
    assert list(Table(smoothing=1.0).problems(task))
    assert any("q is the share" in said for said in Knn(statistic="quantile").problems(task))
    classes = ClassTask(
        name="c", features=task.features, values=task.values, rows=task.rows, classes=("a", "b"), target=np.zeros(20, np.int32)
    )
    assert any("are about numbers" in said for said in Knn(statistic="median").problems(classes))


def test_damaged_descriptions_are_refused() -> None:
    task = number_task(*friedman(20))
    table, near = Table().fit(task, positions(task), RNG).describe(), Knn(k=3).fit(task, positions(task), RNG).describe()
    broken = table.arrays["counts_1"].copy()
    broken[0, 1] = 0.0
    with pytest.raises(ValueError, match="do not fit together"):
        Table.restore(Description("table", table.facts, {**table.arrays, "counts_1": broken}))
    with pytest.raises(ValueError, match="vote or statistic"):
        Knn.restore(Description("knn", {**near.facts, "statistic": "mode"}, near.arrays))
