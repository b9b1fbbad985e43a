"""Forests: growing, predicting, the grid read off one forest, threads and memory, beside scikit-learn's.

Both sides grow the same number of trees in one thread, ranking included; times are processor time.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import get_context
from statistics import median
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from benchmarks.common.timing import Row, in_two_threads, seconds
from modelsel.core.types import Feature, Task, positions
from modelsel.learner.forest import Forest

TREES, TURNS = 20, 5
ALONE = "a tree without the ranking: 1.21 beside scikit-learn's 1.24 in one run; n·log n alone would be 1.09"
SIZES, DEPTHS, SPLITS = range(5, 101, 5), (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, None), (2, 5, 10, 20, 50)
GRID = [Forest(trees=t, max_depth=d, min_split=s) for t in SIZES for d in DEPTHS for s in SPLITS]
Table = tuple[str, np.ndarray, np.ndarray]


def rows() -> Iterator[Row]:
    tables = two_classes(), letters(), bits()
    for table, goal in zip(tables, (8.0, 4.0, 3.0), strict=True):
        yield growing(table, goal)
    yield predicting(tables[0])
    for table, most in zip(tables[:2], (1.5, 2.2), strict=True):
        yield grid(table, most)
    yield beside_grid_search(tables[0])
    yield threads(tables[0])
    yield rising()
    yield from memory(tables[:2])


def two_classes(size: int = 20_000) -> Table:
    X, y = make_classification(size, 20, n_informative=8, flip_y=0.05, random_state=0)
    return f"{size:,} × 20, two classes", X, y


def letters() -> Table:
    """Sixteen columns of sixteen values and 26 classes, as the letters of Frey & Slate (1991) have."""
    X, y = make_classification(20_000, 16, n_informative=16, n_redundant=0, n_classes=26, class_sep=2.0, random_state=0)
    return "20,000 × 16 of 16 values, 26 classes", np.digitize(X, np.quantile(X, np.linspace(0, 1, 17)[1:-1])).astype(float), y


def bits() -> Table:
    rng = np.random.default_rng(0)
    X = (rng.random((20_000, 100)) < 0.4).astype(float)
    noisy = X[:, :10] @ rng.normal(size=10) + rng.normal(size=20_000) / 2
    return "20,000 × 100 of 0 and 1", X, (noisy > np.median(noisy)).astype(int)


def task(X: np.ndarray, y: np.ndarray) -> Task:
    """A new one every time, so that ranks are made anew."""
    features = tuple(Feature(f"x{i}", "numeric") for i in range(X.shape[1]))
    classes, target = np.unique(y, return_inverse=True)
    return Task(
        name="benchmark", features=features, values=X, rows=np.arange(len(X)), classes=tuple(map(str, classes)),
        target=target.astype(np.int32),
    )  # fmt: skip


def grown(table: Table, trees: int = TREES, part: np.ndarray | None = None) -> tuple[Task, Any]:
    made = task(*table[1:])
    path = Forest().fit_path(made, positions(made) if part is None else part, np.random.default_rng(0))
    path.trees(trees)
    return made, path


def spent(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def turns(work: str, against: str, ours: Callable[[], object], theirs: Callable[[], object], **facts: Any) -> Row:
    """Both by processor time, one after the other."""
    ours()
    pairs = [(spent(ours), spent(theirs)) for _ in range(TURNS)]
    ratios = tuple(them / us for us, them in pairs)
    return Row(work, against, ratios, median(us for us, _ in pairs), median(them for _, them in pairs), **facts)


def growing(table: Table, goal: float) -> Row:
    name, X, y = table
    return turns(
        f"a forest of {TREES} trees, {name}", "RandomForestClassifier.fit", lambda: grown(table),
        lambda: RandomForestClassifier(TREES, random_state=0).fit(X, y), goal=goal,
        equal="none: their draws are others (tests/forest compares errors)",
    )  # fmt: skip


def predicting(table: Table) -> Row:
    name, X, y = table
    made = task(X, y)
    ours = Forest(trees=100).fit(made, positions(made), np.random.default_rng(0))
    theirs = RandomForestClassifier(100, random_state=0).fit(X, y)
    rng = np.random.default_rng(1)
    many = X[rng.integers(0, len(X), 500_000)] + rng.normal(size=(500_000, X.shape[1])) / 20
    new = task(many, np.arange(len(many)) % 2)
    same = float((ours.predict(new) == theirs.predict(many)).mean())
    assert same > 0.95, same
    return turns(
        f"predict 500,000 rows by 100 trees, {name}", "RandomForestClassifier.predict", lambda: ours.predict(new),
        lambda: theirs.predict(many), goal=1.5, equal=f"{same:.1%} of labels (other draws); packed nodes equal plain ones",
    )  # fmt: skip


def halves(table: Table) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(0).permutation(len(table[1]))
    held = len(order) // 5
    return np.sort(order[held:]), np.sort(order[:held])


def grid(table: Table, most: float) -> Row:
    """Forest and grid together as a multiple of the forest."""
    analysis, assessment = halves(table)

    def both() -> None:
        made, path = grown(table, 100, analysis)
        path.outputs(GRID, made, assessment, False)

    both()
    pairs = [(spent(lambda: grown(table, 100, analysis)), spent(both)) for _ in range(TURNS)]
    return Row(
        f"{len(GRID):,} candidates read off a forest of 100 trees, {table[0]}, a fifth held out", "the forest alone",
        tuple(whole / alone for alone, whole in pairs), median(whole for _, whole in pairs),
        median(alone for alone, _ in pairs), "separate forests say the same (tests/forest)", most=most,
    )  # fmt: skip


def beside_grid_search(table: Table) -> Row:
    """Per candidate and fold; of theirs a sample of eight."""
    _, X, y = table
    analysis, assessment = halves(table)
    fold = np.where(np.isin(np.arange(len(X)), assessment), 0, -1)
    sample = {"max_depth": [4, 12], "min_samples_split": [2, 20], "n_estimators": [25, 100]}

    def ours() -> None:
        made, path = grown(table, 100, analysis)
        path.outputs(GRID, made, assessment, False)

    search = GridSearchCV(RandomForestClassifier(random_state=0), sample, cv=PredefinedSplit(fold), refit=False)
    ours()
    us, them = spent(ours) / len(GRID), spent(lambda: search.fit(X, y)) / 8
    return Row(
        f"a candidate on a fold, {table[0]}", "GridSearchCV, a sample of 8", (them / us,), us, them,
        "separate forests say the same (tests/forest)", goal=300.0,
    )  # fmt: skip


def threads(table: Table) -> Row:
    """Four forests one after the other and in two threads, wall clock; two processes show what the machine has to give."""
    parts = []
    with get_context("spawn").Pool(2) as pool:
        pool.map(_grow, [table] * 4)
        for _ in range(TURNS):
            one = seconds(lambda: [grown(table) for _ in range(4)])
            two = seconds(lambda: in_two_threads(lambda _: grown(table), range(4)))
            parts.append((one, two, seconds(lambda: pool.map(_grow, [table] * 4))))
    one, two = median(one for one, _, _ in parts), median(two for _, two, _ in parts)
    return Row(
        f"four forests in two threads, {table[0]}", "in one", tuple(one / two for one, two, _ in parts), two, one,
        "the same trees", goal=1.8,
        note=f"two processes that share nothing: {median(one / apart for one, _, apart in parts):.2f}",
    )  # fmt: skip


def _grow(table: Table) -> None:
    grown(table)


def rising() -> Row:
    """Growth with the rows: log₁₀ of the time for 100 times as many, halved; forests of two trees, ranking included.

    Of three turns the shortest counts on either side: a large table is what other programs on a machine disturb most.
    """
    used: list[list[float]] = [[], []]
    for size, times in ((10_000, 20), (1_000_000, 1)):
        table, theirs = two_classes(size), RandomForestClassifier(2, random_state=0)
        sides = partial(grown, table, 2), partial(theirs.fit, *table[1:])
        sides[0]()
        turns_of = [[sum(spent(side) for _ in range(times)) / times for side in sides] for _ in range(3)]
        for own, found in zip(used, zip(*turns_of, strict=True), strict=True):
            own.append(min(found))
    ours, others = (float(np.log10(large / small) / 2) for small, large in used)
    return Row(
        "exponent of the time of two trees, 10⁴ to 10⁶ rows × 20, two classes", f"scikit-learn's: {others:.2f}", (ours,),
        used[0][1], used[1][1], "none: their draws are others (tests/forest compares errors)", most=1.2, note=ALONE,
    )  # fmt: skip


def memory(tables: tuple[Table, ...]) -> Iterator[Row]:
    """Bytes of nodes and values, of the trees as they are grown and of the final model."""
    for name, X, y in tables:
        made = task(X, y)
        path = Forest().fit_path(made, positions(made), np.random.default_rng(0))
        model = path.model(Forest(trees=TREES)).describe().arrays.values()
        kept = [array for tree in path.trees(TREES) for array in (tree.nodes, tree.thresholds, tree.gains, *tree.leaves)]
        trees = RandomForestClassifier(TREES, random_state=0).fit(X, y).estimators_
        theirs = sum(tree.tree_.__getstate__()["nodes"].nbytes + tree.tree_.value.nbytes for tree in trees)
        for state, arrays in (("as it is grown", kept), ("fitted", model)):
            ours = sum(array.nbytes for array in arrays)
            yield Row(
                f"bytes of a forest of {TREES} trees {state}, {name}", "nodes and values of scikit-learn's", (ours / theirs,),
                ours / 1e9, theirs / 1e9, "none: sizes alone (as seconds: GB)", most=0.5,
            )  # fmt: skip
