"""Forests of numbers beside scikit-learn's, what leaf statistics are worth, and how fast forests grow.

Errors: the tables of `regression_trees`, 70 % of the rows against the others, three draws; forests of 100 trees. scikit-learn
has nominal columns as indicators and gaps as the median. Statistics: CART with five rows a leaf, the strength of pruning chosen
by ten folds and the loss of the statistic; a row shows the loss of means over that of the statistic. Seconds are processor
time, side by side.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import nan
from statistics import median

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from benchmarks.common.number_tables import tables
from benchmarks.common.timing import Row, by_processor
from benchmarks.learners.regression_trees import DRAWS, SHARE, friedman, root
from modelsel.core.spec import make as part
from modelsel.core.types import Candidate, Floats, Integers, NumberTask, positions
from modelsel.dataset.read_table import read_table
from modelsel.dataset.targets import read_as
from modelsel.learner.forest import Forest
from modelsel.learner.tree import Tree
from modelsel.learner.trees.leaf import Leaf
from modelsel.scheme.kfold import Kfold
from modelsel.tree.growing.columns import release

TREES, GROWN, SIZE = 100, 10, (30_000, 20)
STATISTICS = {
    "median": Leaf(statistic="median"),
    "quantile .1": Leaf(statistic="quantile", q=0.1),
    "quantile .9": Leaf(statistic="quantile", q=0.9),
}
BOUND = (
    "By samples of the fit (a third of the features, min_leaf 1): the scan of cuts takes 19 %, dividing sorted keys 15 %, "
    "gathering and sorting codes in small nodes 20 %; half of the inner nodes have two or three rows."
)


def rows() -> Iterable[Row]:
    for name, table, target in tables():
        with read_as("regression"):
            task = read_table(table.reset_index(drop=True), target=target)
        yield from errors(name, task)
    yield from speed()


def errors(name: str, task: NumberTask) -> Iterator[Row]:
    """A row per forest and per statistic."""
    orders = [np.random.default_rng(seed).permutation(len(task)) for seed in range(DRAWS)]
    parts = [np.split(order, [round(SHARE * len(task))]) for order in orders]
    X, where = numbers(task), f"{name} {len(task)} × {len(task.features)}"
    for features, share in (("all", 1.0), (0.334, 0.334)):
        ours, theirs = [], []
        for seed, (train, test) in enumerate(parts):
            forest = Forest(trees=TREES, features=features).fit(task, train, np.random.default_rng(seed))
            peer = RandomForestRegressor(TREES, max_features=share, random_state=seed).fit(X[train], task.target[train])
            ours.append(root(forest.predict(task.take(test)), task, test))
            theirs.append(root(peer.predict(X[test]), task, test))
        yield compared(f"forest, features {features}: error on the other 30 %, {where}", "RandomForestRegressor", theirs, ours)
    for said, leaf in STATISTICS.items():
        pairs = [losses(task, leaf, train, test) for train, test in parts]
        means, own = [mean for mean, _ in pairs], [statistic for _, statistic in pairs]
        yield compared(f"leaves say {said}: its loss on the other 30 %, {where}", "leaves that say means", means, own)


def compared(work: str, against: str, theirs: list[float], ours: list[float]) -> Row:
    note = f"{against}: {median(theirs):.4g}, ours {median(ours):.4g}."
    pairs = tuple(them / us for us, them in zip(ours, theirs, strict=True))
    return Row(work, against, pairs, nan, nan, "of the same rows", note=note)


def numbers(task: NumberTask) -> Floats:
    """Nominal columns as indicators, gaps as the median."""
    columns = []
    for index, feature in enumerate(task.features):
        values = task.values[:, index]
        if feature.kind == "nominal":
            columns += [(values == level).astype(float) for level in range(len(feature.levels))]
        else:
            columns.append(np.where(np.isnan(values), np.nanmedian(values), values))
    return np.column_stack(columns)


def losses(task: NumberTask, leaf: Leaf, train: Integers, test: Integers) -> tuple[float, float]:
    """Loss on the other rows of leaves that say means, and of those that say a statistic."""
    found = []
    for own in (Leaf(), leaf):
        tree = chosen(task.take(train), own, leaf)
        model = tree.fit(task, train, np.random.default_rng(0))
        found.append(loss(leaf, task.target[test] - model.predict(task.take(test))).mean())
    return found[0], found[1]


def chosen(task: NumberTask, own: Leaf, judged: Leaf) -> Tree:
    """The strength of the sequence of least loss over ten folds."""
    whole = Tree(criterion=part("criterion", "variance"), min_leaf=5, leaf=own)
    path = whole.fit_path(task, positions(task), np.random.default_rng(0))
    members = path.members(replace(whole, pruner=part("pruner", "cost_complexity", alpha="path")))
    total = np.zeros(len(members))
    for fold in Kfold(folds=10).instantiate(task, 0).folds:
        grown = whole.fit_path(task, fold.analysis, np.random.default_rng(0))
        said = grown.outputs(members, task, fold.assessment, scores=False).predicted
        total += loss(judged, task.target[fold.assessment] - said).sum(axis=1)
    best: Tree = Candidate(members[int(np.argmin(total))]).learner
    return best


def loss(leaf: Leaf, off: Floats) -> Floats:
    """Pinball loss."""
    q = leaf.quantile
    assert q is not None
    return np.where(off > 0, q * off, (q - 1) * off)


def speed() -> Iterator[Row]:
    """Growing side by side, ranking included."""
    task = friedman(*SIZE)
    X, y = np.ascontiguousarray(task.values), task.target
    for features, share, leaf in (("all", 1.0, 1), ("all", 1.0, 5), (0.334, 0.334, 1), (0.334, 0.334, 5)):
        forest = Forest(trees=GROWN, features=features, min_leaf=leaf)
        peer = RandomForestRegressor(GROWN, max_features=share, min_samples_leaf=leaf, random_state=0)
        yield by_processor(
            f"grow {GROWN} trees of numbers, {SIZE[0]:,} × {SIZE[1]}, features {features}, min_leaf {leaf}",
            "RandomForestRegressor.fit", lambda f=forest: grown(f, task), lambda p=peer: p.fit(X, y), 6,
            "errors are compared above", turns=3, note=BOUND if leaf == 1 else "",
        )  # fmt: skip
    extra, peer = Forest(trees=GROWN, rows="all", features="all", cuts="random"), ExtraTreesRegressor(GROWN, random_state=0)
    yield by_processor(
        f"the same, extra trees, {SIZE[0]:,} × {SIZE[1]}", "ExtraTreesRegressor.fit", lambda: grown(extra, task),
        lambda: peer.fit(X, y), 1, "errors are compared above", turns=3,
    )  # fmt: skip


def grown(forest: Forest, task: NumberTask) -> object:
    """Fit on a task that nobody has ranked."""
    own = replace(task, values=task.values.copy(order="F"), target=task.target.copy())
    release(task)
    return forest.fit(own, positions(own), np.random.default_rng(0))
