"""Sets of levels at the root against every set there is: two classes and thirteen levels, more classes and ten, and beyond."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from modelsel.config.schema import kinds
from modelsel.core.spec import make
from modelsel.core.types import Feature, Task, positions
from modelsel.learner.tree import Splits, Tree
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.growth import GrowthParams

SUBSET = GrowthParams(nominal="subset", min_leaf=1e-6)
READ_CLASSES = [kind for kind in kinds("criterion") if "classes" in make("criterion", kind).reads]
COMPARED = [kind for kind in READ_CLASSES if kind not in ("gain_ratio", "tan_schlimmer", "nunez")]  # not goodness alone


def drawn(levels: int, classes: int, seed: int, rows: int = 300) -> Task:
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(levels), rng.integers(0, levels, rows - levels))
    share = rng.dirichlet(np.full(classes, 1.5), levels)
    target = np.array([rng.choice(classes, p=share[code]) for code in codes], np.int32)
    feature = Feature("code", "nominal", tuple(f"c{i}" for i in range(levels)))
    return Task(
        name="codes", features=(feature,), values=codes[:, None].astype(float), rows=np.arange(rows),
        classes=tuple("ABCDE"[:classes]), target=target,
    )  # fmt: skip


def tables(task: Task) -> np.ndarray:
    """Of every division of the levels into two, the first level in the first part."""
    levels, classes = len(task.features[0].levels), len(task.classes)
    counts = np.bincount(task.values[:, 0].astype(int) * classes + task.target, minlength=levels * classes).reshape(levels, -1)
    inside = np.array([(1, *rest) for rest in product((0, 1), repeat=levels - 1) if not all(rest)])
    return np.stack([inside @ counts, (1 - inside) @ counts], axis=1).astype(float)


def at_root(task: Task, criterion: Any) -> float:
    return float(grow(task, positions(task), criterion, SUBSET).goodness[0])


@pytest.mark.parametrize("kind", [kind for kind in COMPARED if make("criterion", kind).convex])
@pytest.mark.parametrize("seed", range(3))
def test_levels_in_order_of_class_share_are_enough_for_two_classes(kind: str, seed: int) -> None:
    """Breiman et al. 1984, theorem 4.5: 12 cuts are as good as 4,095 sets."""
    task, criterion = drawn(13, 2, seed), make("criterion", kind)
    assert at_root(task, criterion) == pytest.approx(criterion.goodness(tables(task)).max(), abs=1e-9)


@pytest.mark.parametrize("kind", COMPARED)
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_all_sets_of_ten_levels_are_tried(kind: str, classes: int) -> None:
    task, criterion = drawn(10, classes, seed=7), make("criterion", kind)
    assert at_root(task, criterion) == pytest.approx(criterion.goodness(tables(task)).max(), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", COMPARED)
def test_of_more_levels_a_set_grows_by_the_one_that_helps_most(kind: str) -> None:
    """Four classes and twelve levels: as good as the best set on the way, which is near the best of all 2,047."""
    task, criterion = drawn(12, 4, seed=3), make("criterion", kind)
    counts = np.bincount(task.values[:, 0].astype(int) * 4 + task.target, minlength=48).reshape(12, 4).astype(float)
    inside: list[int] = []
    best = -np.inf
    while len(inside) < 11:
        free = [level for level in range(12) if level not in inside]
        parts = [(counts[[*inside, level]].sum(0), np.delete(counts, [*inside, level], 0).sum(0)) for level in free]
        found = [float(criterion.goodness(np.array(part))) for part in parts]
        inside.append(free[int(np.argmax(np.array(found) > max(found) - 1e-12))])
        best = max(best, *found)
    assert at_root(task, criterion) == pytest.approx(best, abs=1e-9)
    assert best > 0.8 * criterion.goodness(tables(task)).max()


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("nominal", ["multiway", "equality", "subset"])
def test_three_thousand_levels_are_learnt(nominal: str, classes: int) -> None:
    """Levels decide the class here; every tenth value is missing, and half of the levels come once or twice."""
    rng = np.random.default_rng(1)
    levels = tuple(f"code {i}" for i in range(3000))
    codes = np.minimum((rng.random(15_000) ** 2 * 3000).astype(int), 2999)
    values = codes.astype(float)[:, None]
    values[rng.random(15_000) < 0.1] = np.nan
    task = Task(
        name="codes", features=(Feature("code", "nominal", levels),), values=values, rows=np.arange(15_000),
        classes=tuple("ABC"[:classes]), target=(codes * 7919 % 101 % classes).astype(np.int32),
    )  # fmt: skip
    depth = 40 if nominal == "equality" else None  # a level at a time: a tree of thousands of tests
    learner = Tree(criterion=make("criterion", "gini"), splits=Splits(nominal=nominal), missing="branch", max_depth=depth)
    model = learner.fit(task, positions(task), np.random.default_rng(0))
    known = ~np.isnan(values[:, 0])
    wrong = (model.predict(task) != task.target)[known].mean()
    assert wrong == 0 if depth is None else wrong < (task.target[known] != np.bincount(task.target[known]).argmax()).mean()
