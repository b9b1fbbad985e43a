"""Tables as most are: a thousand rows, thirty thousand, names among the columns; calls of `classifier` beside scikit-learn's.

Seconds are processor time of one thread on either side; a call on a thousand rows is mostly what a call costs at all.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.common.timing import Row, by_processor
from modelsel import classifier

TREES = 20
BOUNDS = {  # what bounds a row that misses its goal, by profile
    "k-NN fit and predict, 1,000 × 20": (
        "Of 3 ms where nothing else runs the product of all pairs and looking through its 10⁶ sums take 2.1, votes .2, fitting "
        ".6 (the digests that order rows of equal distance .25)."
    ),
    "naive Bayes fit, 30,000 × 20": "Of 4 ms two passes over the numbers take 2.4, turning rows into columns .9.",
    "predict_proba of a tree of 31 nodes, 300,000 × 20": "Of 5.6 ms the walk down takes 4.8 (np.sum of the table 1.6).",
    "predict_proba of a tree of 1461 nodes, 300,000 × 20": "Of 14.7 ms the walk down takes 13.8, a step waiting for the last.",
    "a forest of 20 trees, predict, 30,000 × 20": (
        "Of 29 ms coding the numbers by the cuts of the trees, and walking and votes, take nine tenths, about half each."
    ),
    "a forest of 20 trees, predict, 300,000 × 20": "As of 30,000 rows.",
}


def rows() -> Iterable[Row]:
    with threadpool_limits(1):
        yield from thousand()
        yield from bayes()
        yield from shares()
        yield from forests()
        yield from names()


def thousand() -> Iterable[Row]:
    """A thousand rows of twenty numbers."""
    X, y = made(1_000)
    cart, peer = classifier("cart", pruner="unpruned").fit(X, y), DecisionTreeClassifier(random_state=0).fit(X, y)
    assert cart.score(X, y) == peer.score(X, y) == 1.0
    yield row("cart fit", lambda: cart.fit(X, y), lambda: peer.fit(X, y), 6, "both are right on every training row")
    yield row("cart predict", lambda: cart.predict(X), lambda: peer.predict(X), 1.5, "both are right on every training row")
    c45 = classifier("c45").fit(X, y)
    yield row("c45 predict", lambda: c45.predict(X), lambda: peer.predict(X), 1.5, "none: another tree")
    bayes, gaussian = classifier("naive_bayes").fit(X, y), GaussianNB().fit(X, y)
    assert np.array_equal(bayes.predict(X), gaussian.predict(X))
    yield row("naive Bayes fit", lambda: bayes.fit(X, y), lambda: gaussian.fit(X, y), 1.5, "labels")
    yield row("naive Bayes predict", lambda: bayes.predict(X), lambda: gaussian.predict(X), 1.5, "labels")
    knn, near = classifier("knn", k=5, distance="euclidean", normalise="none"), KNeighborsClassifier(5)
    assert np.array_equal(knn.fit(X, y).predict(X), near.fit(X, y).predict(X))
    yield row("k-NN fit and predict", lambda: knn.fit(X, y).predict(X), lambda: near.fit(X, y).predict(X), 1.5, "labels")


def bayes() -> Iterable[Row]:
    X, y = made(30_000)
    ours, theirs = classifier("naive_bayes").fit(X, y), GaussianNB().fit(X, y)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.999  # theirs widens every variance by 1e-9 of the largest
    yield row("naive Bayes fit", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), 2, "labels of 99.9% of rows", "30,000 × 20")


def shares() -> Iterable[Row]:
    """Class shares of many rows by a tree of two classes."""
    X, y = made(300_000)
    some = slice(0, 20_000)
    for depth in (4, None):
        ours = classifier("cart", pruner="unpruned", max_depth=depth).fit(X[some], y[some])
        theirs = DecisionTreeClassifier(random_state=0, max_depth=depth).fit(X[some], y[some])
        if depth:
            assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
        yield row(
            f"predict_proba of a tree of {ours.n_nodes_} nodes", lambda ours=ours: ours.predict_proba(X),
            lambda theirs=theirs: theirs.predict_proba(X), 2, "class shares where trees are unique (depth 4)", "300,000 × 20",
        )  # fmt: skip


def forests() -> Iterable[Row]:
    for count in (30_000, 300_000):
        yield from forest(count)


def forest(count: int) -> Iterable[Row]:
    X, y = made(count)
    ours = classifier("forest", trees=TREES).fit(X, y)
    theirs = RandomForestClassifier(TREES, random_state=0).fit(X, y)
    assert abs(ours.score(X, y) - theirs.score(X, y)) < 0.01
    size, equal = f"{count:,} × 20", "training accuracy to .01 (their draws are others)"
    name = f"a forest of {TREES} trees,"
    yield row(f"{name} predict", lambda: ours.predict(X), lambda: theirs.predict(X), 3, equal, size, 3)
    yield row(f"{name} fit", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), 8, equal, size, 3)


def names() -> Iterable[Row]:
    """Columns of names, and names beside numbers, three classes; the peer codes names in columns of 0 and 1."""
    for kind in ("nominal", "mixed"):
        X, y, wide = named(kind)
        size = f"{kind}, 30,000 × {X.shape[1]}, three classes"
        ours = classifier("cart", pruner="unpruned", min_leaf=5).fit(X, y)
        encoder = ColumnTransformer([("names", OneHotEncoder(), wide)], remainder="passthrough")
        theirs = make_pipeline(encoder, DecisionTreeClassifier(random_state=0, min_samples_leaf=5)).fit(X, y)
        assert ours.score(X, y) > theirs.score(X, y) - 0.02
        yield row("cart fit", lambda ours=ours, X=X, y=y: ours.fit(X, y), lambda theirs=theirs, X=X, y=y: theirs.fit(X, y), 8,
                  "training accuracy no more than .02 below (their tests are others)", size, 3)  # fmt: skip
    forest = classifier("forest", trees=TREES).fit(X, y)
    peer = make_pipeline(encoder, RandomForestClassifier(TREES, random_state=0)).fit(X, y)
    yield row(f"a forest of {TREES} trees, fit", lambda: forest.fit(X, y), lambda: peer.fit(X, y), 6,
              "none: their draws and tests are others", size, 3)  # fmt: skip


def made(count: int) -> tuple[Any, Any]:
    """Numbers with eight informative columns, two classes."""
    return make_classification(count, 20, n_informative=8, flip_y=0.02, random_state=0)  # type: ignore[no-any-return]


def named(kind: str) -> tuple[pd.DataFrame, Any, list[str]]:
    """Columns of ten to thirty names (and as many of numbers where mixed), classes that some of them tell of."""
    rng, count, columns = np.random.default_rng(0), 30_000, 10
    codes = {f"n{f}": rng.integers(0, 10 + 2 * f, count) for f in range(columns)}
    numbers = {f"x{f}": rng.normal(size=count) for f in range(columns if kind == "mixed" else 0)}
    signal = sum(np.sin(1.7 * codes[f"n{f}"] * (f + 1)) for f in range(4)) + (numbers["x0"] if numbers else 0)
    y = np.digitize(signal + 0.3 * rng.normal(size=count), [-0.7, 0.7])
    frame = pd.DataFrame({name: pd.Categorical([f"v{code}" for code in column]) for name, column in codes.items()} | numbers)
    return frame, y, list(codes)


def row(
    call: str, ours: Callable[[], object], theirs: Callable[[], object], goal: float, equal: str, size: str = "1,000 × 20",
    turns: int = 7,
) -> Row:  # fmt: skip
    work = f"{call}, {size}"
    return by_processor(work, "scikit-learn's", ours, theirs, goal, equal, turns=turns, note=BOUNDS.get(work, ""))
