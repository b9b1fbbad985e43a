"""Linear models in the nodes of a tree of numbers: what a leaf says of a row, Σ_t c_t · value_t + intercept.

A term is a number (a rank, of ordered levels), or 1 for a row whose level is among some and 0 for others. A missing value
counts as `fill`: the mean of the training rows, or what their most common level counts as; so does a level that training had
not declared.
"""

from dataclasses import dataclass, replace

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Integers

BLOCK = 1 << 20  # numbers that are laid out at a time


@dataclass(frozen=True, eq=False)
class Term:
    """What a model reads of a feature: its number (of `ranks` levels the rank), or whether its level is one of those marked."""

    feature: int
    fill: float
    levels: Booleans | None = None
    ranks: int = 0

    def of(self, column: Floats) -> Floats:
        """The value of each row.

        >>> Term(0, 0.0, np.array([True, False, True])).of(np.array([0.0, 1.0, 2.0, 3.0, np.nan])).tolist()
        [1.0, 0.0, 1.0, 0.0, 0.0]
        """
        if self.levels is None:
            unknown = np.isnan(column) | (column >= self.ranks) if self.ranks else np.isnan(column)
            return np.where(unknown, self.fill, column)
        marks = np.append(self.levels.astype(np.float64), self.fill)
        return marks[np.where(np.isnan(column), len(marks) - 1, np.minimum(column, len(marks) - 1)).astype(np.int64)]


@dataclass(frozen=True, eq=False)
class NodeModels:
    """A model per node over common terms; `squares`: Σ w (y − ŷ)² over the node's training rows, NaN where nobody asked."""

    terms: tuple[Term, ...]
    intercept: Floats  # nodes
    coefficients: Floats  # nodes × terms
    squares: Floats  # nodes

    def take(self, nodes: Integers) -> "NodeModels":
        """Take the models of some nodes."""
        return replace(
            self, intercept=self.intercept[nodes], coefficients=self.coefficients[nodes], squares=self.squares[nodes]
        )

    def values(self, values: Floats) -> Floats:
        """The terms of some rows (rows × features): rows × terms."""
        return np.stack([term.of(values[:, term.feature]) for term in self.terms], axis=1) if self.terms else values[:, :0]

    def answers(self, node: Codes | Integers, terms: Floats) -> Floats:
        """What the model of a row's node says, from the row's terms; a row's answer does not depend on those beside it."""
        found, step = np.empty(len(node)), max(1, BLOCK // max(1, len(self.terms)))
        for start in range(0, len(node), step):
            own = node[start : start + step]
            parts = self.coefficients[own]
            parts *= terms[start : start + step]
            said = self.intercept[own]
            for term in range(len(self.terms)):  # in this order, as SQL adds them
                said += parts[:, term]
            found[start : start + step] = said
        return found
