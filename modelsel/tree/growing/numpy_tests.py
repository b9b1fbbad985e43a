"""The best test of one feature at one node, by plain tables of class weights: what the compiled searches are checked against.

Every admissible test becomes a branches × classes table and the criterion scores them all; nothing is updated, skipped or
remembered between nodes. Slower, complete, and the way to grow by a criterion that has no compiled form.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Integers
from modelsel.kernels.layout import BY_SURROGATES, DIVIDED, EQUALITY, EXHAUSTIVE, MULTIWAY, SUBSET, THRESHOLD, TIE
from modelsel.tree.growing.growth import SLACK, BaseCriterion, GrowthParams

# One feature at one node, as the NumPy searches see it: class weights per code, what stands in for a missing value, a test.
#
# Codes are ranks of values or indices of levels; −1 is a missing value.


@dataclass(frozen=True, eq=False)
class NodeColumn:
    """A feature at a node: codes (−1 missing), classes and weights of its rows."""

    codes: Codes
    target: Codes
    weight: Floats
    levels: int
    classes: int

    @property
    def known(self) -> Booleans:
        return self.codes >= 0

    def table(self, codes: Integers, rows: Booleans) -> Floats:
        """Weights per code and class of some rows."""
        flat = codes[rows] * self.classes + self.target[rows]
        counts = np.bincount(flat, self.weight[rows], self.levels * self.classes)
        return np.asarray(counts.reshape(self.levels, self.classes))


@dataclass(frozen=True, eq=False)
class Test:
    """A test, its goodness before features compete, and what the contest asks about it."""

    kind: int
    value: float
    information: float
    code: int = 0
    next: int = 0
    cuts: int = 0
    inside: Booleans | None = None
    to: int = DIVIDED  # child that takes missing values
    fill: Integers | None = None  # code that stands in for a missing value, per class


def branch_of(test: Test, codes: Integers) -> Integers:
    """Position of the child per known code."""
    if test.kind == MULTIWAY:
        return codes
    if test.inside is not None:
        return np.where(test.inside[codes], 0, 1)
    return np.where(codes <= test.code if test.kind == THRESHOLD else codes == test.code, 0, 1)


@dataclass(frozen=True, eq=False)
class Filled:
    """Class weights per code, missing values filled in where the policy says so; `needed`: weight of a branch."""

    table: Floats
    present: Integers
    needed: float


def fill_missing(column: NodeColumn, kind: int, growth: GrowthParams) -> Filled:
    """Return the input of a search, under the policy and the rule for the least weight of a branch."""
    table = column.table(column.codes.astype(np.int64), column.known)
    present = np.flatnonzero(table.sum(axis=1) > 0)
    needed = growth.least_of_cut(float(table.sum()), column.classes) if kind == THRESHOLD else growth.least
    fill = stand_ins(column, kind, growth)
    if fill is not None:
        table = table + column.table(fill[column.target], ~column.known)
    return Filled(table, present, needed)


def stand_ins(column: NodeColumn, kind: int, growth: GrowthParams) -> Integers | None:
    """Per class and (last) for the node, the most common level or the lower median of the known values."""
    if growth.missing not in ("node_mode", "class_mode"):
        return None
    table = column.table(column.codes.astype(np.int64), column.known)
    typical = _median if kind == THRESHOLD else _mode
    node = typical(table.sum(axis=1))
    own = [
        typical(table[:, c]) if growth.missing == "class_mode" and table[:, c].sum() > 0 else node
        for c in range(column.classes)
    ]
    return np.array([*own, node], np.int64)


def _median(weight: Floats) -> int:
    return int(np.argmax(np.cumsum(weight) >= weight.sum() / 2))


def _mode(weight: Floats) -> int:
    return int(np.argmax(weight > weight.max() - SLACK))


def absent(column: NodeColumn, growth: GrowthParams) -> Floats:
    """Class weights of the missing values that are neither filled in nor left out: those that join or form a branch."""
    lost = ~column.known
    counts = np.bincount(column.target[lost], column.weight[lost], column.classes)
    return np.asarray(counts, np.float64) if growth.missing in ("branch", "fractional") else np.zeros(column.classes)


def best_test(column: NodeColumn, kind: int, criterion: BaseCriterion, growth: GrowthParams) -> Test | None:
    """The first of the best admissible tests, or None."""
    if not column.known.any():
        return None
    search = {THRESHOLD: _threshold, EQUALITY: _equality, MULTIWAY: _multiway, SUBSET: _subset}[kind]
    test = search(fill_missing(column, kind, growth), absent(column, growth), criterion, growth)
    return None if test is None else with_side(test, column, kind, growth)


def _with_missing_rows(tables: Floats, lost: Floats, growth: GrowthParams) -> Floats:
    """Two-branch tests (tests × 2 × classes), each with the missing rows left and with them right: 2 tests each."""
    if growth.missing != "branch" or lost.sum() == 0:
        return tables
    both = np.repeat(tables, 2, axis=0)
    both[0::2, 0] += lost
    both[1::2, 1] += lost
    return both


def rest(whole: Floats, part: Floats) -> Floats:
    """The weights that are left; what rounding leaves of nothing is nothing."""
    left = whole - part
    return np.where(left < TIE * whole, 0.0, left)


def _choose(tables: Floats, needed: float, criterion: BaseCriterion) -> tuple[int, float] | None:
    """Index and goodness of the first of the best tables whose branches have the weight."""
    fit = np.flatnonzero(tables.sum(axis=2).min(axis=1) >= needed)
    if len(fit) == 0:
        return None
    values = criterion.goodness(tables[fit])
    first = int(np.argmax(values >= values.max() - TIE))
    return int(fit[first]), float(values[first])


def _information(table: Floats, lost: Floats, growth: GrowthParams) -> float:
    """Split information; divided rows are one more outcome."""
    parts = table.sum(axis=1)
    if growth.missing == "fractional":
        parts = np.append(parts, lost.sum())
    share = parts[parts > 0] / parts.sum()
    return float(-(share * np.log2(share)).sum())


def _threshold(column: Filled, lost: Floats, criterion: BaseCriterion, growth: GrowthParams) -> Test | None:
    """Find the best threshold."""
    left = np.cumsum(column.table[column.present], axis=0)
    tables = np.stack([left[:-1], rest(left[-1], left[:-1])], axis=1)
    joined = _with_missing_rows(tables, lost, growth)
    after = column.present[1:]
    if growth.missing == "branch" and lost.sum() > 0:  # last, known values from missing ones; once left, once right
        none, all_known = np.zeros_like(lost), left[-1]
        joined = np.concatenate([joined, [[all_known + lost, none], [all_known, lost]]])
        after = np.append(after, len(column.table))
    if len(joined) == 0:
        return None
    found = _choose(joined, column.needed, criterion)
    if found is None:
        return None
    index, value = found
    twice = len(joined) // max(1, len(after))
    fit = joined.sum(axis=2).min(axis=1) >= column.needed
    cuts = int(fit.reshape(-1, twice).any(axis=1).sum())
    code = column.present[index // twice]
    information = _information(joined[index], lost, growth)
    return Test(
        THRESHOLD, value, information, int(code), int(after[index // twice]), cuts, to=index % 2 if twice == 2 else DIVIDED
    )


def _equality(column: Filled, lost: Floats, criterion: BaseCriterion, growth: GrowthParams) -> Test | None:
    """Find the best level against the rest."""
    present = np.flatnonzero(column.table.sum(axis=1) > 0)
    if len(present) + (growth.missing == "branch" and lost.sum() > 0) < 2:
        return None
    own = column.table[present]
    tables = _with_missing_rows(np.stack([own, rest(column.table.sum(axis=0), own)], axis=1), lost, growth)
    found = _choose(tables, column.needed, criterion)
    if found is None:
        return None
    index, value = found
    twice = len(tables) // len(present)
    to = index % 2 if twice == 2 else DIVIDED
    return Test(EQUALITY, value, _information(tables[index], lost, growth), int(present[index // twice]), to=to)


def _multiway(column: Filled, lost: Floats, criterion: BaseCriterion, growth: GrowthParams) -> Test | None:
    """Score the test with a branch per level."""
    own = column.table[column.present]
    own_branch = growth.missing == "branch" and lost.sum() > 0
    if own_branch:
        own = np.vstack([own, lost])
    if (own.sum(axis=1) >= column.needed).sum() < 2:
        return None
    value = float(criterion.goodness(own[None])[0])
    to = len(column.table) if own_branch else DIVIDED
    return Test(MULTIWAY, value, _information(own, lost, growth), to=to)


def _subset(column: Filled, lost: Floats, criterion: BaseCriterion, growth: GrowthParams) -> Test | None:
    """Find the best subset of levels."""
    pieces, names = column.table[column.present], column.present
    if growth.missing == "branch" and lost.sum() > 0:  # missing is one level more
        pieces, names = np.vstack([pieces, lost]), np.append(names, len(column.table))
    if len(names) < 2:
        return None
    members = _members(pieces, criterion)
    left = members @ pieces
    tables = np.stack([left, rest(pieces.sum(axis=0), left)], axis=1)
    found = _choose(tables, column.needed, criterion)
    if found is None:
        return None
    chosen = members[found[0]].astype(bool)
    if not chosen[0]:  # the first level is always inside
        chosen = ~chosen
    inside = np.zeros(len(column.table) + 1, bool)
    inside[names[chosen]] = True
    return Test(SUBSET, found[1], _information(tables[found[0]], lost, growth), inside=inside)


def _members(pieces: Floats, criterion: BaseCriterion) -> Floats:
    """Candidate sets, sets × levels: prefixes by class share, all sets, or a greedy chain."""
    many, classes = pieces.shape
    if classes == 2 and criterion.convex:
        order = np.argsort(pieces[:, 1] / pieces.sum(axis=1), kind="stable")
        rank = np.argsort(order, kind="stable")
        return np.asarray(rank[None, :] <= np.arange(many - 1)[:, None], np.float64)
    if many <= EXHAUSTIVE:
        digits = list(product((0.0, 1.0), repeat=many - 1))[:-1]
        return np.array([(1.0, *reversed(row)) for row in digits])
    return _greedy(pieces, criterion)


def _greedy(pieces: Floats, criterion: BaseCriterion) -> Floats:
    """Sets that grow by the level that helps most."""
    total, chain = pieces.sum(axis=0), []
    member = np.zeros(len(pieces))
    for _ in range(len(pieces) - 1):
        trials = np.where(member[:, None] == 1, np.nan, member @ pieces + pieces)
        free = np.flatnonzero(member == 0)
        values = criterion.goodness(np.stack([trials[free], rest(total, trials[free])], axis=1))
        member = member.copy()
        member[free[int(np.argmax(values >= values.max() - TIE))]] = 1.0
        chain.append(member)
    return np.array(chain)


def with_side(test: Test, column: NodeColumn, kind: int, growth: GrowthParams) -> Test:
    """Add the branch of missing values to a test, and the value that stood in for them while growing."""
    if growth.missing == "fractional":
        return replace(test, to=DIVIDED)
    if growth.missing == "surrogate":
        return replace(test, to=BY_SURROGATES)
    if growth.missing == "branch":
        return replace(test, to=0 if test.inside[-1] else 1) if test.inside is not None else test
    fill = stand_ins(column, kind, growth)
    assert fill is not None
    return replace(test, to=int(branch_of(test, fill[-1:])[0]), fill=fill)
