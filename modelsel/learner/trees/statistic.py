"""What the leaves of a tree of numbers say, and what each node would cost as a leaf: every statistic from one grown tree.

    mean, m_estimate    Σ w (y − a)²                    a = Σ w y / W, (Σ w y + m·p) / (W + m); p: mean of the root or parent
    median              Σ w |y − a|                     a: half of the weight is below
    quantile q          Σ w (q − [y < a]) (y − a)       a: the share q of the weight is below

A quantile is the smallest y whose share of the weight, with what is below, exceeds q; where it is q exactly, the middle between
this y and the next (NumPy's `averaged_inverted_cdf`; for q = ½ the median). Breiman, Friedman, Olshen and Stone 1984, ch. 8;
Koenker & Bassett 1978; m-estimate: Cestnik 1990.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from modelsel.core.types import Floats, Integers, NumberTask
from modelsel.learner.trees.leaf import DEVIANCE, M_ESTIMATE, MEDIAN, Leaf, Loss
from modelsel.tree.routing import route
from modelsel.tree.structure.node import DecisionTree

NEARLY = 1e-9  # of the weight of a node: what is as much


@dataclass(eq=False)
class NodeStatistics:
    """Statistics of the nodes of a grown tree over the rows that grew it (a path is used by one thread)."""

    tree: DecisionTree
    task: NumberTask
    rows: Integers

    def answers(self, leaf: Leaf) -> Floats:
        """Per node, what it says as a leaf."""
        numbers = self.tree.numbers
        assert numbers is not None
        if leaf.quantile is not None:
            return self._quantiles(leaf.quantile)[0]
        if leaf.statistic != M_ESTIMATE:
            return numbers.mean
        above = np.maximum(self.tree.parent, 0) if leaf.prior == "parent" else np.zeros(len(self.tree), np.int64)
        weight = self.tree.weight
        return np.asarray((weight * numbers.mean + leaf.m * numbers.mean[above]) / (weight + leaf.m))

    def losses(self, loss: Loss) -> Floats | None:
        """Per node, what it costs as a leaf; None for squared error, which the tree knows itself."""
        name, quantile = loss
        if quantile is None:
            return self.tree.deviance_spared if name == DEVIANCE else None
        return self._quantiles(quantile)[1] * (2.0 if name == MEDIAN else 1.0)

    @cached_property
    def _known(self) -> dict[float, tuple[Floats, Floats]]:
        return {}

    def _quantiles(self, q: float) -> tuple[Floats, Floats]:
        """A quantile per node and its pinball loss, depth by depth from below; where no row arrives the mean, at no cost."""
        if q not in self._known:
            assert self.tree.numbers is not None
            y, weight, at = self._arrived
            found, cost, depth = self.tree.numbers.mean.copy(), np.zeros(len(self.tree)), self.tree.depth
            for level in range(int(depth.max()), -1, -1):
                here = np.flatnonzero(depth[at] == level)
                own = here[np.argsort(at[here], kind="stable")]
                if len(own):
                    nodes, first = np.unique(at[own], return_index=True)
                    found[nodes], cost[nodes] = _of_segments(y[own], weight[own], first, q)
                at = np.where(depth[at] == level, self.tree.parent[at], at)
            self._known[q] = found, cost
        return self._known[q]

    @cached_property
    def _arrived(self) -> tuple[Floats, Floats, Integers]:
        """Numbers of the rows in ascending order, their weights, and their leaves; a divided row stands in several."""
        sent = route(self.tree, self.task, self.rows)
        y, weight = self.task.target[self.rows][sent.owner], self.task.row_weights[self.rows][sent.owner] * sent.part
        order = np.lexsort((weight, y))
        order = order[weight[order] > 0]
        return y[order], weight[order], sent.leaf[order].astype(np.int64)


def _of_segments(y: Floats, weight: Floats, first: Integers, q: float) -> tuple[Floats, Floats]:
    """Quantiles and pinball losses of stretches of ascending numbers, which begin at `first`.

    >>> [each.tolist() for each in _of_segments(np.array([1.0, 2.0, 4.0, 7.0]), np.ones(4), np.array([0, 2]), 0.5)]
    [[1.5, 5.5], [0.5, 1.5]]
    """
    so_far = np.cumsum(weight)
    last = np.r_[first[1:], len(y)] - 1
    before = np.r_[0.0, so_far][first]
    total = so_far[last] - before
    asked = before + q * total
    place = np.clip(np.searchsorted(so_far, asked - NEARLY * total), first, last)
    exactly = np.abs(so_far[place] - asked) <= NEARLY * total
    found = np.where(exactly, y[place] / 2 + y[np.minimum(place + 1, last)] / 2, y[place])
    off = y - np.repeat(found, last - first + 1)
    return found, np.add.reduceat(weight * np.where(off > 0, q * off, (q - 1) * off), first)
