"""Surrogates found only when they are read: where nothing is missing they change no tree.

A tree grown on complete columns keeps the rows that grew it, and finds the surrogates of the nodes that still stand when they
are first read. What is sent elsewhere (pickled, described) has them found before.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from modelsel.core.types import Codes, Integers
from modelsel.kernels.compiler import load
from modelsel.kernels.layout import BY_SURROGATES
from modelsel.tree.growing.assemble import surrogates_of
from modelsel.tree.growing.columns import RankedColumns, WeightedRows
from modelsel.tree.node import LEAF, DecisionTree, Surrogates


@dataclass(frozen=True, eq=False)
class Finder:
    """The rows that grew a tree, each of weight one, in columns without holes."""

    chosen: WeightedRows
    columns: RankedColumns
    bits: int  # that number the rows

    def find(self, tree: DecisionTree) -> Surrogates | None:
        """Surrogates of every test of the tree, which may be what is left of the one that grew."""
        from modelsel.kernels.splits import presort

        ranked, task, classes = self.columns, self.chosen.task, (len(self.chosen.task.classes) - 1).bit_length()
        entries = presort.pack(
            ranked.order, ranked.codes, ranked.sorted_features, ranked.levels, task.target, self.chosen.number,
            len(self.chosen.rows), self.bits, classes,
        )  # fmt: skip
        asked = entries, tree.feature, self._cuts(tree), _second(tree), ranked.levels, self.bits, classes
        records, agreement = load("late").find(*asked)
        return surrogates_of(records, agreement, np.zeros(0, np.int64), np.arange(len(tree)), self.columns)

    def _cuts(self, tree: DecisionTree) -> Integers:
        """The code up to which a row goes first, per test."""
        cut = np.full(len(tree), -1, np.int64)
        for feature in np.unique(tree.feature[tree.test != LEAF]):
            own = tree.feature == feature
            cut[own] = np.searchsorted(self.columns.values[feature], tree.threshold[own], "right") - 1
        return cut


class LateTree(DecisionTree):
    """A tree whose surrogates are found when they are read."""

    finder: Finder

    @cached_property
    def surrogates(self) -> Surrogates | None:
        return self.finder.find(self)

    def find(self) -> None:
        """Find the surrogates now."""
        vars(self)["surrogates"] = self.finder.find(self)

    @property
    def waiting(self) -> bool:
        """Say whether the surrogates have not been found yet."""
        return "surrogates" not in vars(self)

    def __reduce__(self) -> Any:
        return DecisionTree, tuple(getattr(self, field.name) for field in fields(DecisionTree))

    @property
    def bare(self) -> DecisionTree:
        """The tree without surrogates."""
        return DecisionTree(**_own(self))


def later(tree: DecisionTree, finder: Finder) -> LateTree:
    """Return the tree, grown or cut back, with its surrogates still to be found."""
    late = LateTree.__new__(LateTree)
    vars(late).update(_own(tree), finder=finder)
    return late


def by_surrogates(tree: DecisionTree) -> DecisionTree:
    """Return the tree with missing values sent by surrogates, and where none is known to the larger side."""
    to = np.where(tree.test == LEAF, 0, BY_SURROGATES - tree.majority).astype(np.int32)
    return replace(tree, missing_to=to)


def _own(tree: DecisionTree) -> dict[str, Any]:
    return {field.name: getattr(tree, field.name) for field in fields(DecisionTree) if field.name != "surrogates"}


def _second(tree: DecisionTree) -> Codes:
    """The second child of each test."""
    second = np.zeros(len(tree), np.int32)
    inner = tree.test != LEAF
    second[inner] = tree.child[tree.first[:-1][inner] + 1]
    return second
