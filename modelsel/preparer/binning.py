"""Numbers cut into intervals: what discretisers fit, and how it is applied, written down and read back.

A value x falls into the first interval whose upper end it does not exceed (x ≤ cut goes below). Missing stays missing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from modelsel.core.spec import kind_of, one_of
from modelsel.core.types import AnyTable, ClassTask, Description, Feature, Floats, Integers, Task
from modelsel.preparer.base import BasePreparer, FittedPreparer
from modelsel.statistics.information import entropy

KINDS = ("nominal", "ordered")


def kind_of_intervals() -> str:
    """The setting of discretisers that says what the intervals become."""
    return one_of(*KINDS, help="what the intervals become; trees cut ordered ones by threshold")


@dataclass(frozen=True, eq=False)
class Binned(FittedPreparer):
    """`cuts` per column, ascending; None for a column that is left as it is."""

    kind: str  # of the preparer
    cuts: tuple[Floats | None, ...]
    becomes: str

    def apply(self, table: AnyTable) -> AnyTable:
        """Replace numbers by the index of their interval."""
        values = np.array(table.values)
        features = list(table.features)
        for column, cuts in enumerate(self.cuts):
            if cuts is not None:
                known = ~np.isnan(values[:, column])
                values[known, column] = np.searchsorted(cuts, values[known, column], side="left")
                features[column] = replace(features[column], kind=self.becomes, levels=levels(cuts))
        return table.with_features(tuple(features), values)

    def describe(self) -> Description:
        facts = {"columns": [cuts is not None for cuts in self.cuts], "becomes": self.becomes}
        return Description(self.kind, facts, {f"cuts_{c}": cuts for c, cuts in enumerate(self.cuts) if cuts is not None})


def levels(cuts: Floats) -> tuple[str, ...]:
    """Names of the intervals.

    >>> levels(np.array([1.5, 2.0]))
    ('≤ 1.5', '1.5 … 2', '> 2')
    >>> levels(np.array([]))
    ('all',)
    """
    if not len(cuts):
        return ("all",)
    ends = [repr(float(cut)).removesuffix(".0") for cut in cuts]
    inner = [f"{low} … {high}" for low, high in pairwise(ends)]
    return (f"≤ {ends[0]}", *inner, f"> {ends[-1]}")


def numeric_columns(task: Task) -> list[int]:
    """List the positions of numeric columns."""
    return [column for column, feature in enumerate(task.features) if feature.is_number]


def per_column(features: Sequence[Feature], cuts: Iterable[tuple[int, Floats]]) -> tuple[Floats | None, ...]:
    """Cuts of some columns, None for the others."""
    found: dict[int, Floats] = dict(cuts)
    return tuple(found.get(column) for column in range(len(features)))


def restore_cuts(description: Description) -> Binned:
    """Read back; ValueError when cuts are not ascending or the kind is unknown."""
    kind, becomes, columns = description.kind, description.facts["becomes"], description.facts["columns"]
    if becomes not in KINDS:
        raise ValueError(f"{kind}: features cannot become '{becomes}'")
    cuts = tuple(np.asarray(description.arrays[f"cuts_{c}"], np.float64) if cut else None for c, cut in enumerate(columns))
    for own in cuts:
        if own is not None and (own.ndim != 1 or not np.isfinite(own).all() or (np.diff(own) <= 0).any()):
            raise ValueError(f"{kind}: cuts must be finite and ascending")
    return Binned(kind, cuts, becomes)


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct known values of a numeric column, ascending, and the class weights of each: all that a discretiser reads."""

    values: Floats
    weights: Floats  # values × classes

    @classmethod
    def of(cls, task: Task, rows: Integers, column: int) -> "Distinct":
        """Count the class weights of each distinct known value; of numbers, the weights."""
        values, weights, width = task.values[rows, column], task.row_weights[rows], max(1, task.class_count)
        target = task.target[rows] if isinstance(task, ClassTask) else np.zeros(len(rows), np.int32)
        known = ~np.isnan(values)
        found, place = np.unique(values[known], return_inverse=True)
        cells = np.bincount(place * width + target[known], weights[known], len(found) * width)
        return cls(found, cells.reshape(len(found), width).astype(np.float64))

    def between(self, upper: Integers) -> Floats:
        """The middle between the values at `upper` − 1 and at `upper`; the lower one where floats have no middle."""
        low, high = self.values[upper - 1], self.values[upper]
        middle: Floats = low + (high - low) / 2
        return np.where(middle < high, middle, low)


def distinct_columns(task: Task, rows: Integers) -> dict[int, Distinct]:
    """Collect the distinct values of each numeric column."""
    return {column: Distinct.of(task, rows, column) for column in numeric_columns(task)}


class OfDistinctValues(BasePreparer):
    """Base of discretisers whose cuts of a column follow from its distinct values: a new one defines `cuts`.

    One fit, which collects these values, answers every setting.
    """

    levels: str

    def cuts(self, column: Distinct) -> Floats:
        """The cuts of one column, ascending."""
        raise NotImplementedError

    def fit_key(self) -> dict[str, object]:
        return {"kind": kind_of(self)}

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "DistinctValues":
        return DistinctValues(task.features, distinct_columns(task, rows))

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Binned:
        return self.fit_path(task, rows, rng).prepared(self)

    @staticmethod
    def restore(description: Description) -> Binned:
        return restore_cuts(description)


@dataclass(frozen=True, eq=False)
class DistinctValues:
    """The distinct values of every numeric column with their class weights."""

    features: tuple[Feature, ...]
    columns: dict[int, Distinct]

    def prepared(self, preparer: OfDistinctValues) -> Binned:
        """The cuts that the preparer makes."""
        cuts = ((column, preparer.cuts(own)) for column, own in self.columns.items())
        return Binned(kind_of(preparer), per_column(self.features, cuts), preparer.levels)


# Choose cuts of a number that separate the classes, by minimum description length.
#
# An interval of N rows is parted where the class entropy falls most, if
#
#     gain > (log₂(N − 1) + log₂(3^k − 2) − (k E − k₁ E₁ − k₂ E₂)) / N
#
# with k, k₁, k₂ classes present in the interval and its parts and E, E₁, E₂ their entropies; then both parts likewise.
# Equal gains (to 1e-12): the lowest cut. Source: Fayyad & Irani (1993).


def mdl_cuts(column: Distinct) -> Floats:
    """The accepted cuts, ascending: midpoints between neighbouring values."""
    sums = np.concatenate([np.zeros((1, column.weights.shape[1])), np.cumsum(column.weights, axis=0)])
    open_, accepted = [(0, len(column.values))], []
    while open_:
        start, end = open_.pop()
        place = _best(sums, start, end)
        if place is not None:
            accepted.append(place)
            open_ += [(start, place), (place, end)]
    return column.between(np.sort(np.array(accepted, np.int64))) if accepted else np.empty(0)


def _best(sums: Floats, start: int, end: int) -> int | None:
    """The best accepted cut of the values start … end − 1: the position of the first value above it."""
    if end - start < 2:
        return None
    whole = sums[end] - sums[start]
    below = sums[start + 1 : end] - sums[start]
    above = whole - below
    n, left = whole.sum(), below.sum(axis=1)
    gain = entropy(whole) - (left * entropy(below) + (n - left) * entropy(above)) / n
    place = int(np.argmax(np.round(gain, 12)))
    return start + 1 + place if _worth(float(gain[place]), whole, below[place], above[place]) else None


def _worth(gain: float, whole: Floats, below: Floats, above: Floats) -> bool:
    """Say whether a cut's information gain is above the description length of making it (Fayyad & Irani 1993)."""
    n = float(whole.sum())
    if n <= 1:
        return False
    k, k1, k2 = (int(np.count_nonzero(part)) for part in (whole, below, above))
    apart = k * entropy(whole) - k1 * entropy(below) - k2 * entropy(above)
    return bool(gain > (np.log2(n - 1) + _log2_less_two(k) - apart) / n)


def _log2_less_two(k: int) -> float:
    """log₂(3^k − 2), also for hundreds of classes."""
    return float(k * np.log2(3.0) + np.log1p(-2 * 3.0**-k) / np.log(2.0))
