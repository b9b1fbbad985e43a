"""Forests that may only rise or fall with a column: on grids of inputs, every cut by brute force, scikit-learn's answers."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from modelsel.config.build import build
from modelsel.core.spec import spec_of
from modelsel.core.types import ClassTask, NumberTask, positions
from modelsel.forest import forest_tree
from modelsel.forest.grow import grow_tree
from modelsel.learner.forest import Forest
from tests.forest.test_forest import plainly, same_tree, some_rows
from tests.forest.test_number_forest import forest_of, grid_of, means, numbers, rows_of_nodes
from tests.tree.number_tables import number_task
from tests.tree.test_monotone_trees import said, table

WAYS = {"a": "increasing", "b": "decreasing"}


def forest(kind: str = "forest", **settings: object) -> Forest:
    return build(kind, {"trees": 7, "monotone": WAYS, **settings})[0]


def at_random(task: NumberTask, rng: np.random.Generator) -> Forest:
    """A forest with a direction for some of the columns that may have one."""
    drawn = {one.name: rng.choice(["increasing", "decreasing"]) for one in task.features if one.kind != "nominal"}
    ways = {name: way for name, way in drawn.items() if rng.random() < 0.7}
    return replace(forest_of(rng, honest=0.0), monotone=ways)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("kind", ["forest", "extra_trees"])
def test_no_answer_on_a_grid_of_inputs_goes_the_other_way(kind: str, classes: bool) -> None:
    against = 0
    for seed in range(16):
        task = table(seed, classes)
        if seed % 4 == 0:
            task = replace(task, weights=task.row_weights / 3)
        spec = forest(kind, nominal=("subset", "equality")[seed % 2], missing=("branch", "majority")[seed // 2 % 2], features=2)
        path = spec.fit_path(task, positions(task), np.random.default_rng(seed))
        for own in (
            *(replace(spec, max_depth=depth, trees=trees) for depth, trees in ((1, 1), (2, 7), (None, 7))),
            *(forest(kind, pruner={"kind": "cost_complexity", "alpha": alpha}) for alpha in (0.01, 0.3)),
            *([replace(spec, vote="majority")] if classes else []),
        ):
            answers = said(path.model(own), task)
            assert (np.diff(answers, axis=0) >= 0).all(), seed
            assert (np.diff(answers, axis=1) <= 0).all(), seed
        free = said(replace(spec, monotone=None).fit(task, positions(task), np.random.default_rng(seed)), task)
        against += bool((np.diff(free, axis=0) < 0).any())
    assert against > 10  # without being held they do


def test_every_cut_is_the_best_of_those_that_keep_to_the_directions() -> None:
    """All rows and features of numeric columns; bounds are found again from the means of the nodes above."""
    held = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, least, signs = int(rng.integers(6, 30)), int(rng.integers(1, 3)), {0: 1, 1: -1}
        X = rng.integers(0, 6, (n, 3)).astype(float)
        y = (X[:, 0] - X[:, 1] + X[:, 2] + 3 * rng.normal(size=n)).round(2)
        task = number_task(X, y)
        spec = Forest(trees=1, rows="all", features="all", min_leaf=least, monotone={"x0": "increasing", "x1": "decreasing"})
        path = spec.fit_path(task, positions(task), rng)
        tree = path.trees(1)[0]
        mean, bounds = means(tree, path.ground), {0: (-np.inf, np.inf)}
        for node, own in sorted(rows_of_nodes(tree, task).items()):
            low, high = bounds[node]
            kept, free = best_cuts(X[own], y[own], signs, least, low, high)
            if tree.terminal[node]:
                assert not kept or len(set(y[own].tolist())) == 1
                continue
            assert tree.goodness[node] == pytest.approx(max(kept) / len(own), abs=1e-9)
            held += max(free) > max(kept) + 1e-9
            sides = node + 1, int(tree.nodes[node, forest_tree.RIGHT])
            for side in sides:
                bounds[side] = low, high
            sign, middle = signs.get(int(tree.nodes[node, forest_tree.COLUMN]), 0), (mean[sides[0]] + mean[sides[1]]) / 2
            if sign:
                bounds[sides[0]], bounds[sides[1]] = [(low, min(high, middle)), (max(low, middle), high)][::sign]
    assert held > 20


def best_cuts(
    X: np.ndarray, y: np.ndarray, signs: dict[int, int], least: int, low: float, high: float
) -> tuple[list[float], list[float]]:
    """What each cut saves that keeps to the directions, and what each cut does."""
    kept, every, total = [], [], np.square(y - y.mean()).sum()
    for feature in range(X.shape[1]):
        for value in sorted(set(X[:, feature].tolist()))[:-1]:
            left = X[:, feature] <= value
            if min(left.sum(), (~left).sum()) < least:
                continue
            one, other = y[left].mean(), y[~left].mean()
            every.append(total - sum(np.square(part - part.mean()).sum() for part in (y[left], y[~left])))
            within = min(one, other) >= low - 1e-9 and max(one, other) <= high + 1e-9
            if within and signs.get(feature, 0) * (other - one) >= -1e-9:
                kept.append(every[-1])
    return kept, every


def test_a_tree_of_all_rows_says_what_that_of_scikit_learn_says() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] - np.abs(X[:, 1]) + rng.normal(size=400)
    task, ways = number_task(X, y), {"x0": "increasing", "x1": "decreasing", "x2": "increasing"}
    spec = Forest(trees=1, rows="all", features="all", min_leaf=10, monotone=ways)
    ours = spec.fit(task, positions(task), rng).predict(task)
    theirs = DecisionTreeRegressor(monotonic_cst=[1, -1, 1], random_state=0, min_samples_leaf=10).fit(X, y).predict(X)
    assert np.mean(np.isclose(ours, theirs, rtol=1e-9)) > 0.98


@pytest.mark.parametrize("seed", range(12))
def test_the_compiled_grower_grows_the_tree_of_the_plain_one(seed: int) -> None:
    """Weights of any kind, gaps in columns with and without a direction, levels, drawn cuts."""
    rng = np.random.default_rng(seed)
    task = numbers(rng)
    path = at_random(task, rng).fit_path(task, some_rows(task, rng), np.random.default_rng(seed))
    unit = path.ground.numbers.unit**2
    for number in range(2):
        compiled, plain = grow_tree(path.ground, path.growth, number), plainly(path.ground, path.growth, number)
        nearly = 1e-6 * max(plain.gains.max(initial=0.0), 1.0)
        same_tree(replace(compiled, gains=compiled.gains * unit), plain, nearly=nearly)


@pytest.mark.parametrize("seed", range(3))
def test_one_forest_says_what_each_learner_grown_alone_would_bit_for_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = numbers(rng)
    rows, base = some_rows(task, rng), at_random(task, rng)
    asked = grid_of(base)[::7]
    path = base.fit_path(task, rows, np.random.default_rng(seed))
    found = path.outputs(asked, task, positions(task), scores=False).predicted
    for learner, own in zip(asked, found, strict=True):
        alone = learner.fit(task, rows, np.random.default_rng(seed))
        assert np.array_equal(alone.predict(task), own)


def test_without_kernels_the_same_is_said(code) -> None:
    for classes in (False, True):
        task = table(2, classes)
        with code("kernels"):
            with_kernels = said(forest().fit(task, positions(task), np.random.default_rng(0)), task)
        with code("plain"):
            without = said(forest().fit(task, positions(task), np.random.default_rng(0)), task)
        assert np.array_equal(with_kernels, without)


def test_two_classes_are_held_by_the_share_of_the_second() -> None:
    """Leaves hold the weights of the rows that came there."""
    task = table(3, True)
    path = forest(rows="all", missing="majority").fit_path(task, positions(task), np.random.default_rng(0))
    tree = path.trees(1)[0]
    assert isinstance(task, ClassTask)
    assert tree.counts[0].tolist() == np.bincount(task.target, task.row_weights, 2).tolist()
    assert 0 <= tree.gains.min() <= tree.gains.max() <= 0.5


def test_what_cannot_be_is_refused_before_a_fit() -> None:
    task = table(0, False)

    def reasons(asked: NumberTask | ClassTask = task, **settings: object) -> str:
        return " ".join(replace(forest(), **settings).problems(asked))

    assert not reasons()
    assert not reasons(table(0, True))
    assert "monotone.c: there is no such column" in reasons(monotone={"c": "increasing"})
    assert "increasing or decreasing, not 'up'" in reasons(monotone={"a": "up"})
    assert "set honest=0" in reasons(honest=0.5)
    assert "leaf.statistic out" in reasons(leaf=replace(forest().leaf, statistic="median"))
    assert "not entropy" in reasons(table(0, True), criterion=build("tree", {"criterion": "entropy"})[0].criterion)
    assert "these are 3" in reasons(replace(table(0, True), classes=("no", "yes", "more")))
    assert "monotone" not in spec_of(Forest())
    assert build("forest", spec_of(forest()))[0] == forest()
