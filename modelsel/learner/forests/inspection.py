"""Inspection of a grown forest: importances of features, proximities of rows, variances of class shares.

    impurity     mean over trees and rows out of bag of the rise in the share of the row's own class at each test, per feature;
                 trees judge rows that they have not drawn, so that noise comes out near 0 (Li et al. 2019, MDI-oob)
    proximity    share of trees in which two rows end in one leaf (Breiman 2001)
    variance     of a class share, by the infinitesimal jackknife: Σ_i cov_b(N_bi, t_b)², less n/B² Σ_b (t_b − t)² for B trees
                 being few (Wager, Hastie & Efron 2014)

`path` is what `Forest.fit_path` returns.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Integers, Table
from modelsel.forest.forest_tree import ForestTree, summed
from modelsel.forest.grid import bits
from modelsel.forest.grow import drawn_rows
from modelsel.forest.growth import BOOTSTRAP
from modelsel.forest.votes import Coder, leaves_of
from modelsel.kernels.forests.forest_layout import COLUMN
from modelsel.learner.forests.cuts import GrownTree, stops


def impurity_importance(path: Any, trees: int, learner: Any = None) -> Floats:
    """Rank features by what their tests do for rows out of bag.

    Parameters
    ----------
    path : ForestPath
        A grown forest.
    trees : int
        How many of its trees are asked.
    learner : Forest, optional
        Whose limits and pruner cut the trees back; without one they are taken as they were grown.

    Returns
    -------
    numpy.ndarray
        A number per feature; together the mean rise of the share of a row's own class from root to leaf. Near 0, also below,
        for features that say nothing.

    Raises
    ------
    ValueError
        When no row is out of bag.

    Examples
    --------
    >>> from modelsel.core.types import Feature, Task, positions
    >>> from modelsel.learner.forest import Forest
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(200, 2))
    >>> task = Task(name="t", features=(Feature("x", "numeric"), Feature("noise", "numeric")), values=values,
    ...             rows=np.arange(200), classes=("no", "yes"), target=(values[:, 0] > 0).astype(np.int32))
    >>> impurity_importance(Forest().fit_path(task, positions(task), rng), 20).round(1).tolist()
    [0.5, 0.0]
    """
    ground, found = path.ground, []
    for number, (tree, leaf) in enumerate(_reached(path, trees, ground.task, ground.rows)):
        out = drawn_rows(ground, path.growth, number)[0] == 0
        if out.any():
            rows = ground.rows[out]
            gains = _gains(tree, leaf[out], ground.task.target[rows], ground.weights[rows])
            gains[~_standing(path, tree, learner)] = 0.0
            found.append(np.bincount(tree.nodes[:, COLUMN] + 1, gains, len(ground.task.features) + 1)[1:])
    if not found:
        raise ValueError("no row is out of bag: importances are taken from rows that a tree has not drawn")
    return np.asarray(np.mean(found, axis=0))


def _gains(tree: ForestTree, leaf: Codes, target: Codes, weight: Floats) -> Floats:
    """Per node the rise in the share of the own class at its test, of rows with these leaves."""
    own, parent = tree.counts, tree.parent
    counts = np.zeros_like(own)
    np.add.at(counts, (leaf, target), weight)
    summed(parent, counts)
    share, above = own / own.sum(axis=1, keepdims=True), parent[1:]
    rise = (counts[1:] * (share[1:] - share[above])).sum(axis=1)
    return np.asarray(np.bincount(above, rise, len(tree)) / counts[0].sum())


def _standing(path: Any, tree: ForestTree, learner: object) -> Booleans:
    """Mask the tests that stand when a learner has cut the tree back."""
    if learner is None:
        return ~tree.terminal
    task = path.ground.task
    leaf = bits(stops([learner], GrownTree(tree, task.features, task.classes)), 1)[:, 0]
    return np.asarray(tree.reached(leaf) & ~leaf)


def proximities(path: object, trees: int, table: Table, rows: Integers) -> Floats:
    """Say in which share of the trees two rows end in one leaf.

    Parameters
    ----------
    path : ForestPath
        A grown forest.
    trees : int
        How many of its trees are asked.
    table : Table
        Where the rows stand.
    rows : numpy.ndarray
        Their positions.

    Returns
    -------
    numpy.ndarray
        Rows × rows, 1 on the diagonal.
    """
    together = np.zeros((len(rows), len(rows)))
    for _, leaf in _reached(path, trees, table, rows):
        together += leaf[:, None] == leaf[None, :]
    return together / trees


def jackknife_variance(path: Any, trees: int, table: Table, rows: Integers) -> Floats:
    """Estimate the sampling variance of class shares by the infinitesimal jackknife.

    Parameters
    ----------
    path : ForestPath
        A grown forest whose trees grow on bootstrapped rows.
    trees : int
        How many of its trees are asked: of the order of the rows, or the estimate is noise.
    table : Table
        Where the rows stand.
    rows : numpy.ndarray
        Their positions.

    Returns
    -------
    numpy.ndarray
        Rows × classes; differences of the estimate may fall below 0, and are 0 then.

    Raises
    ------
    ValueError
        For trees that grow on all rows, or on a share of them.
    """
    ground = path.ground
    if path.growth.how != BOOTSTRAP:
        raise ValueError("the infinitesimal jackknife needs bootstrapped rows (rows: bootstrap)")
    times = np.array([drawn_rows(ground, path.growth, number)[0] for number in range(trees)], np.float64)
    said = np.array([
        (tree.counts / tree.counts.sum(axis=1, keepdims=True))[leaf] for tree, leaf in _reached(path, trees, table, rows)
    ])  # fmt: skip
    apart = said - said.mean(axis=0)
    covariance = np.einsum("bi,brc->irc", times - times.mean(axis=0), apart) / trees
    noise = len(ground.rows) / trees**2 * (apart**2).sum(axis=0)
    return np.asarray(np.maximum((covariance**2).sum(axis=0) - noise, 0.0))


def _reached(path: Any, trees: int, table: Table, rows: Integers) -> Iterator[tuple[ForestTree, Codes]]:
    """Each tree with the leaf of each row."""
    grown = path.trees(trees)
    coder = Coder.of(grown, table, path.ground.ranked if table is path.ground.task else None)
    codes = coder.codes(rows)
    for tree in grown:
        yield tree, leaves_of(coder.translated(tree), codes, coder.levels)
