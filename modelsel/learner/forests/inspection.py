"""Inspection of a grown forest: importances of features, proximities of rows, variances of class shares.

    impurity     mean over trees and rows out of bag of the rise in the share of the row's own class at each test, per feature;
                 trees judge rows that they have not drawn, so that noise comes out near 0 (Li et al. 2019, MDI-oob); of numbers
                 the rise of the mean, times what the row's number is above the tree's mean: squared error that is spared
    proximity    share of trees in which two rows end in one leaf (Breiman 2001)
    variance     of a class share or a number that is said, by the infinitesimal jackknife: Σ_i cov_b(N_bi, t_b)², less
                 n/B² Σ_b (t_b − t)² for B trees being few (Wager, Hastie & Efron 2014)

`path` is what `Forest.fit_path` returns.
"""

from collections.abc import Iterator

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Integers, Table
from modelsel.forest.forest_tree import ForestTree, sum_leaves
from modelsel.forest.grow import drawn_rows
from modelsel.forest.growth import BOOTSTRAP, ForestData
from modelsel.forest.votes import Coder, bits, leaves_of
from modelsel.kernels.forests.forest_layout import COLUMN
from modelsel.learner.forests.cuts import ForestSettings, GrownTree, stops
from modelsel.learner.forests.path import ForestPath


def impurity_importance(path: ForestPath, trees: int, learner: ForestSettings | None = None) -> Floats:
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
        A number per feature; together the mean rise of the share of a row's own class from root to leaf (of numbers: the
        squared error spared, in squares of the target's unit). Near 0, also below, for features that say nothing.

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
    for number, (tree, leaf) in enumerate(_leaves_reached(path, trees, ground.task, ground.rows)):
        out = drawn_rows(ground, path.growth, number)[0] == 0
        if out.any():
            rows = ground.rows[out]
            gains = _gains(ground, tree, leaf[out], rows)
            gains[~_standing(path, tree, learner)] = 0.0
            found.append(np.bincount(tree.nodes[:, COLUMN] + 1, gains, len(ground.task.features) + 1)[1:])
    if not found:
        raise ValueError("no row is out of bag: importances are taken from rows that a tree has not drawn")
    return np.asarray(np.mean(found, axis=0))


def _gains(ground: ForestData, tree: ForestTree, leaf: Codes, rows: Integers) -> Floats:
    """Per node what its test does for rows with these leaves."""
    parent, counts = tree.parent, ground.tally(leaf, rows, np.ones_like(rows), len(tree))
    sum_leaves(parent, counts)
    said, above, total = _node_answers(ground, tree), parent[1:], float(counts[0, 1])
    if ground.numbers is None:
        total = float(counts[0].sum())
    else:
        counts = ground.numbers.above(counts, float(said[0, 0]))[:, None]
    rise = (counts[1:] * (said[1:] - said[above])).sum(axis=1)
    return np.asarray(np.bincount(above, rise, len(tree)) / total)


def _node_answers(ground: ForestData, tree: ForestTree) -> Floats:
    """What each node says: class shares, or its mean; nodes × classes or × 1."""
    if ground.numbers is not None:
        return ground.numbers.means(tree.counts)[:, None]
    return np.asarray(tree.counts / tree.counts.sum(axis=1, keepdims=True))


def _standing(path: ForestPath, tree: ForestTree, learner: ForestSettings | None) -> Booleans:
    """Mask the tests that stand when a learner has cut the tree back."""
    if learner is None:
        return ~tree.terminal
    task = path.ground.task
    leaf = bits(stops([learner], GrownTree(tree, task.features, task.class_names, path.ground.numbers)), 1)[:, 0]
    return np.asarray(tree.find_reached(leaf) & ~leaf)


def proximities(path: ForestPath, trees: int, table: Table, rows: Integers) -> Floats:
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
    for _, leaf in _leaves_reached(path, trees, table, rows):
        together += leaf[:, None] == leaf[None, :]
    return together / trees


def jackknife_variance(path: ForestPath, trees: int, table: Table, rows: Integers) -> Floats:
    """Estimate the sampling variance of class shares, or of predicted numbers, by the infinitesimal jackknife.

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
        Rows × classes (of numbers × 1, in squares of the target's unit); what falls below
        0 is 0.

    Raises
    ------
    ValueError
        For trees that grow on all rows, or on a share of them.
    """
    ground = path.ground
    if path.growth.how != BOOTSTRAP:
        raise ValueError("the infinitesimal jackknife needs bootstrapped rows (rows: bootstrap)")
    times = np.array([drawn_rows(ground, path.growth, number)[0] for number in range(trees)], np.float64)
    said = np.array([_node_answers(ground, tree)[leaf] for tree, leaf in _leaves_reached(path, trees, table, rows)])
    apart = said - said.mean(axis=0)
    covariance = np.einsum("bi,brc->irc", times - times.mean(axis=0), apart) / trees
    noise = len(ground.rows) / trees**2 * (apart**2).sum(axis=0)
    return np.asarray(np.maximum((covariance**2).sum(axis=0) - noise, 0.0))


def _leaves_reached(path: ForestPath, trees: int, table: Table, rows: Integers) -> Iterator[tuple[ForestTree, Codes]]:
    """Each tree with the leaf of each row."""
    grown = path.trees(trees)
    coder = Coder.of(grown, table, path.ground.ranked if table is path.ground.task else None)
    codes = coder.codes(rows)
    for tree in grown:
        yield tree, leaves_of(coder.translate(tree), codes, coder.levels)
