"""C4.5's soft thresholds: limits between which the errors of the node's rows stay within a standard error.

E(t) = errors if the rows of the node were sent left up to t and right beyond, each classified by the hard subtree there;
e = E(c), n rows, σ̃ = √((e + ½)(n − e + ½) / (n + 1)). From the left, the lower limit is where E, linear between observed
values, first falls to e + σ̃; the upper one is where it last rises above it; without such a place the outermost value.
(Dvořák prints σ̃ = √((e + ½)(n − e − ½) / n); this one is what release 8 computes.)

Quinlan 1993, *C4.5: programs for machine learning*, section 8.2.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Integers, Task
from modelsel.tree.node import PrunedView
from modelsel.tree.routing import Routed
from modelsel.tree.softening import Widths, known_values, soft_classes, values_at_tests, walk


@dataclass(frozen=True)
class C45:
    """Computed after pruning, from the hard tree and its training rows."""

    def widths(self, cut: PrunedView, task: Task, rows: Integers) -> Widths:
        """Find the limits at each threshold, from the errors of the rows that meet it."""
        tree, found = cut.tree, Widths.none(cut.tree)
        x, weights, target = values_at_tests(tree, task, rows), task.row_weights[rows], np.asarray(task.target[rows], np.int32)
        for node, (own, values) in known_values(tree, x).items():
            if len(own):
                left, right = (_wrong(cut, int(child), x[own], target[own]) for child in tree.children(node))
                threshold = float(tree.threshold[node])
                lower, upper = limits(values, weights[own], left, right, threshold)
                found.below[node], found.above[node] = threshold - lower, upper - threshold
        return found


def limits(values: Floats, weights: Floats, left: Booleans, right: Booleans, threshold: float) -> tuple[float, float]:
    """Lower and upper limit of one test; `left` and `right`: is the row misclassified when it is sent there."""
    order = np.argsort(values, kind="stable")
    observed, starts = np.unique(values[order], return_index=True)
    change = np.add.reduceat((weights * (left.astype(np.float64) - right))[order], starts)
    errors = float((weights * right).sum()) + np.cumsum(change)
    here = int(np.searchsorted(observed, threshold, side="right")) - 1
    base = float(errors[here]) if here >= 0 else float((weights * right).sum())
    bar = base + standard_error(base, float(weights.sum()))
    over = np.round(errors - bar, 9) > 0
    falls = np.flatnonzero(over[: max(here, 0)] & ~over[1 : here + 1])
    rises = max(here, 0) + np.flatnonzero(~over[max(here, 0) : -1] & over[max(here, 0) + 1 :])
    lower = _between(observed, errors, bar, falls[0] + 1, falls[0]) if len(falls) else observed[0]
    upper = _between(observed, errors, bar, rises[-1], rises[-1] + 1) if len(rises) else observed[-1]
    return min(threshold, float(lower)), max(threshold, float(upper))


def standard_error(errors: float, n: float) -> float:
    """σ̃ of release 8.

    >>> round(standard_error(3, 150), 5)
    1.84902
    """
    return float(np.sqrt((errors + 0.5) * (n - errors + 0.5) / (n + 1.0)))


def _between(observed: Floats, errors: Floats, bar: float, inside: int, outside: int) -> float:
    """Interpolate where the line from the value within the bar to the one beyond it crosses the bar."""
    part = (bar - errors[inside]) / (errors[outside] - errors[inside])
    return float(observed[inside] + part * (observed[outside] - observed[inside]))


def _wrong(cut: PrunedView, child: int, x: Floats, target: Codes) -> Booleans:
    """Mask the rows that the subtree of a child misclassifies."""
    owner, leaf, part = walk(cut.tree, Widths.none(cut.tree), x, child)
    wrong: Booleans = soft_classes(cut, Routed(owner, leaf, part, len(x), 0)) != target
    return wrong
