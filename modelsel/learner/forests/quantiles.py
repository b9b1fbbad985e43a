"""Quantiles of a forest of numbers, whose leaves keep their rows.

    w_i(x) = 1/T Σ_t n_it [leaf_t(x_i) = leaf_t(x)] / Σ_j n_jt [leaf_t(x_j) = leaf_t(x)]
    Q_q(x) = min {y: Σ_{y_i ≤ y} w_i(x) ≥ q}

n_it: weight of row i in tree t, as often as it was drawn; T: trees. Meinshausen 2006, *Quantile regression forests*.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Description, Floats, Integers, Table, positions
from modelsel.forest.grow import drawn_rows
from modelsel.forest.growth import ForestData, ForestGrowth
from modelsel.kernels.forests.forest_layout import TEST
from modelsel.kernels.layout import LEAF
from modelsel.learner.base import FittedModel
from modelsel.learner.forests.model import ForestModel
from modelsel.learner.forests.number_model import NumberForestModel
from modelsel.learner.forests.number_model import restore as restore_means

ROOM = 1 << 22  # weights of training numbers held at a time
NEARLY = 1e-12  # what rounding leaves of a share


@dataclass(frozen=True, eq=False)
class KeptRows:
    """What lies in each node that is a leaf: ranks of numbers, and their weights, which are 1 together."""

    numbers: Floats  # distinct, ascending
    first: Integers  # per node, and last the end
    rank: NDArray[np.int32]
    weight: Floats

    @classmethod
    def of(cls, model: ForestModel, ground: ForestData, growth: ForestGrowth) -> "KeptRows":
        """The rows that each tree has drawn, in the leaves where they arrive."""
        rows = np.unique(ground.rows)
        numbers, ranks = np.unique(ground.task.target[rows], return_inverse=True)
        size = len(numbers)
        cells, weights = [], []
        for number, leaf in enumerate(model.leaves(ground.task, rows)):
            times, _ = drawn_rows(ground, growth, number)
            own = np.bincount(ground.rows, times, len(ground.task))[rows] * ground.weights[rows]
            held, place = np.unique((leaf * size + ranks)[own > 0], return_inverse=True)
            cells.append(held)
            weights.append(np.bincount(place, own[own > 0]))
        cell, weight = np.concatenate(cells), np.concatenate(weights)
        first = np.searchsorted(cell // size, np.arange(len(model.nodes) + 1))
        filled = np.flatnonzero(np.diff(first))
        total = np.repeat(np.add.reduceat(weight, first[filled]), np.diff(first)[filled])
        return cls(numbers, first, (cell % size).astype(np.int32), weight / total)

    def shares(self, leaves: Sequence[Integers]) -> Floats:
        """Rows × numbers: Σ w of the numbers up to each, from the leaf of each row in each tree."""
        found = np.zeros((len(leaves[0]), len(self.numbers)))
        for leaf in leaves:
            start, many = self.first[leaf], self.first[leaf + 1] - self.first[leaf]
            row = np.repeat(np.arange(len(leaf)), many)
            held = np.repeat(start - np.r_[0, np.cumsum(many)[:-1]], many) + np.arange(len(row))
            found[row, self.rank[held]] += self.weight[held]
        return np.asarray(np.cumsum(found / len(leaves), axis=1))


@dataclass(frozen=True, eq=False)
class QuantileForestModel(FittedModel):
    """A forest that says the quantile q, and any other when asked."""

    means: NumberForestModel
    kept: KeptRows
    q: float

    def predict(self, table: Table) -> Floats:
        return self.quantiles(table, positions(table), [self.q])[:, 0]

    def quantiles(self, table: Table, rows: Integers, asked: Sequence[float]) -> Floats:
        """Rows × quantiles, each above 0 and below 1."""
        found, step = np.empty((len(rows), len(asked))), max(1, ROOM // len(self.kept.numbers))
        for start in range(0, len(rows), step):
            block = slice(start, start + step)
            shares = self.kept.shares(list(self.means.votes.leaves(table, rows[block])))
            for place, q in enumerate(asked):
                rank = (shares < q - NEARLY).sum(axis=1)
                found[block, place] = self.kept.numbers[np.minimum(rank, len(self.kept.numbers) - 1)]
        return found

    def describe(self) -> Description:
        """Describe the model: that of the means, and the rows of its leaves."""
        own = self.means.describe()
        arrays: dict[str, NDArray[np.generic]] = {f"kept_{name}": array for name, array in vars(self.kept).items()}
        return Description(own.kind, {**own.facts, "q": self.q}, {**own.arrays, **arrays})


def restore(description: Description) -> QuantileForestModel:
    """Read a model back; ValueError when it is not whole."""
    means, arrays, q = restore_means(description), description.arrays, float(description.facts["q"])
    kept = KeptRows(
        np.asarray(arrays["kept_numbers"], np.float64), np.asarray(arrays["kept_first"], np.int64),
        np.asarray(arrays["kept_rank"], np.int32), np.asarray(arrays["kept_weight"], np.float64),
    )  # fmt: skip
    _demand(0 < q < 1, "its quantile is none")
    _demand(np.isfinite(kept.numbers).all() and (np.diff(kept.numbers) > 0).all(), "its numbers do not ascend")
    first, leaf = kept.first, means.votes.nodes[:, TEST] == LEAF
    _demand(len(first) == len(leaf) + 1 and first[0] == 0 and (np.diff(first) >= 0).all(), "rows do not fit the nodes")
    _demand((np.diff(first)[leaf] > 0).all() and first[-1] == len(kept.rank) == len(kept.weight), "a leaf has no rows")
    _demand(((kept.rank >= 0) & (kept.rank < len(kept.numbers))).all(), "a rank is out of range")
    _demand((kept.weight > 0).all(), "a weight is none")
    return QuantileForestModel(means, kept, q)


def _demand(condition: object, otherwise: str) -> None:
    if not condition:
        raise ValueError(f"not a whole forest: {otherwise}")
