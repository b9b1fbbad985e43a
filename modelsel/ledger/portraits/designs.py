"""Tell two tables that share a design from one table: each has columns of its own, and none of them agrees as a copy would.

Two shops share days and weather, two surveys their sites, two laboratories their compounds: some columns are the same to the
last digit, and what was measured is not. So columns are sorted by their values:

    shared    the same values, equally often (q ≤ `MET` over the values, or the very same column)
    own       all others, but those that are constant, or that the shared ones explain: sums, ratios, bins of them

One own column that agrees with one of the other side, as far as the portraits tell, means the same rows: its unit was changed,
it was rounded, noise was added. Then q is 1 − r for the correlation r of both, row by row: a copy has r ≥ `COPY`, which is
noise of up to 30 % of a deviation. Columns that hang on the shared ones are near each other by what these explain (R²); of the
rest, q / (1 − R²), a copy is nearer than `REST`. Where both sides have own columns and none agrees, the tables are two; a
column of the same few values, equally often, is no sign of that. A side without any has the rows of the other one, with
columns dropped or added, or with another target.
(q as in `likeness`: 1 for two samples, 0 for a copy; of c common rows among n and m a copy has 1 − 2c/(n + m).)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Floats
from modelsel.ledger.portraits.likeness import CAP, Pairing, by_shape, fitting, squared_differences, starts
from modelsel.ledger.portraits.portrait import VIEWS, Portrait
from modelsel.ledger.rows.matching import KEPT, Sketch

MET, MANY = 0.5, 40  # q of the values of a shared column, and the fewest values that tell it by q
SAME_VALUES = 0.8  # of the values of either column, from which both are the same few ones
COPY, REST = 0.95, 0.3  # r from which a column agrees as a copy does, and q of what shared columns do not explain
FIGURES = 12  # that agreement has to be seen in
DERIVED = 0.9  # share that shared columns explain of another from which it was made of them, and not measured
FAINT = 1e-3  # variance of a direction of features below which it is rounding


@dataclass(frozen=True, eq=False)
class TableSketch:
    """What is remembered of a whole table: its columns by their values, and its portrait where it has one."""

    columns: Sequence[Sketch]
    rows: int
    portrait: Portrait | None


def equal_by_chance(ours: TableSketch, theirs: TableSketch) -> float | None:
    """The chance that rows of one design are equal in what was measured, too; None where the tables share no design alone."""
    shared = _shared_columns(ours, theirs)
    sides, known = (ours, theirs), [{i for i, _ in shared}, {j for _, j in shared}]
    met = (_common_rows(ours.columns[i], theirs.columns[j], ours.rows, theirs.rows) for i, j in shared)
    common = max(met, default=min(ours.rows, theirs.rows))
    for i, j in _agreeing(ours, theirs, known, 2 * common / (ours.rows + theirs.rows)):
        if not _few_same_values(ours.columns[i], theirs.columns[j]):
            return None
        known = [known[0] | {i}, known[1] | {j}]
    if not known[0]:
        return None
    own = [_own(side, one) for side, one in zip(sides, known, strict=True)]
    alike = [(i, j) for i in own[0] for j in own[1] if _as_often(ours.columns[i], theirs.columns[j], ours.rows, theirs.rows)]
    anew = [one - set(same) for one, same in zip(own, zip(*alike, strict=True), strict=True)] if alike else own
    return float(np.prod([_repetition(ours.columns[i]) for i in own[0]])) if all(anew) else None


def _repetition(column: Sketch) -> float:
    """Σ p² of the values of a column."""
    return float((column.shares**2).sum() / column.shares.sum())


def _shared_columns(ours: TableSketch, theirs: TableSketch) -> list[tuple[int, int]]:
    """Pairs of columns of the same values, equally often; equal names before others."""
    pairs = [(i, j) for i in range(len(ours.columns)) for j in range(len(theirs.columns))]
    pairs.sort(key=lambda pair: ours.columns[pair[0]].name != theirs.columns[pair[1]].name)
    found: list[tuple[int, int]] = []
    for same in (True, False):
        for i, j in pairs:
            one, other = ours.columns[i], theirs.columns[j]
            if len(one.values) < 2 or any(i == left or j == right for left, right in found):
                continue
            if one.digest == other.digest or (not same and _meet_as_often(one, other, ours.rows, theirs.rows)):
                found.append((i, j))
    return found


def _meet_as_often(one: Sketch, other: Sketch, n: int, m: int) -> bool:
    """Say whether two columns of many values have the same ones as often as rows that are the same would."""
    if min(len(one.values), len(other.values)) < MANY:
        return False
    return min(_apart(one, other, 1 / n + 1 / m), _apart(other, one, 1 / n + 1 / m)) <= MET


def _apart(one: Sketch, other: Sketch, scale: float) -> float:
    """q over the values of one column: of two samples 1. Of the longer one more values are known than the other can show."""
    order = np.argsort(other.values)
    places = np.minimum(np.searchsorted(other.values, one.values, sorter=order), len(order) - 1)
    there = np.where(other.values[order][places] == one.values, other.shares[order][places], 0.0)
    return float(((one.shares - there) ** 2 / ((one.shares + there) / 2 * scale)).mean())


def _common_rows(one: Sketch, other: Sketch, n: int, m: int) -> float:
    """How many of n and m rows are the same, where the values of a column tell it: of many the smallest are known."""
    met = len(np.intersect1d(one.values, other.values))
    return min(n, m, max(met / len(one.values) * n, met / len(other.values) * m))


def _few_same_values(one: Sketch, other: Sketch) -> bool:
    """Say whether two columns hold the same few values: a column of the design of which rows are missing."""
    if max(len(one.values), len(other.values)) >= KEPT:
        return False
    return len(np.intersect1d(one.values, other.values)) >= SAME_VALUES * len(np.union1d(one.values, other.values))


def _as_often(one: Sketch, other: Sketch, n: int, m: int) -> bool:
    """Say whether two columns hold the same few values equally often: then they are no sign that either was measured anew."""
    return _few_same_values(one, other) and _apart(one, other, 1 / n + 1 / m) <= MET


def _own(side: TableSketch, shared: set[int]) -> set[int]:
    """The columns of a table that are neither shared, nor constant, nor made of shared ones."""
    own = {i for i, column in enumerate(side.columns) if i not in shared and len(column.values) > 1}
    explained = _explained_shares(side, shared)
    return {i for i in own if explained[i] < DERIVED}


def _explained_shares(side: TableSketch, shared: set[int]) -> Floats:
    """The share of each column that shared ones explain, by value or by rank; nought where nothing is known of it."""
    agrees = np.isin(np.arange(len(side.columns)), list(shared))
    if side.portrait is None or side.portrait.column_of is None:
        return np.zeros(len(agrees))
    by_value, by_rank = (explained_shares(side.portrait, agrees, view) for view in VIEWS)
    found: Floats = np.maximum(by_value, by_rank)
    return found


def _agreeing(ours: TableSketch, theirs: TableSketch, shared: Sequence[set[int]], common: float) -> Iterator[tuple[int, int]]:
    """Pairs of own columns that hang together with others on both sides as those of the same rows do."""
    one, other = ours.portrait, theirs.portrait
    if one is None or other is None or one.column_of is None or other.column_of is None:
        return
    scale, most = 1 / one.n + 1 / other.n, 1 - COPY * common
    rest = [1 - _explained_shares(side, known) for side, known in zip((ours, theirs), shared, strict=True)]
    for view in VIEWS:
        for start in (by_shape(one, other, scale), *starts(one, other, view, scale, True)):
            core = fitting(start, one, other, view, scale, most)
            for place, (i, j) in enumerate(zip(one.columns[core.ours].tolist(), other.columns[core.theirs].tolist())):
                near, figures = _nearness(core, place, one, other, view, scale)
                limit = min(most, 1 - common * (1 - REST * min(rest[0][i], rest[1][j])))
                if i not in shared[0] and j not in shared[1] and figures >= FIGURES and near <= limit:
                    yield i, j


def _nearness(core: Pairing, place: int, ours: Portrait, theirs: Portrait, view: str, scale: float) -> tuple[float, int]:
    """q of one pair of variables with all others, and of how many figures it is the mean."""
    square = squared_differences(core, ours, theirs, view, scale)[place]
    there = np.isfinite(square)
    return float(np.minimum(square[there], CAP).mean()) if there.any() else CAP, int(there.sum())


def explained_shares(portrait: Portrait, agrees: Booleans, view: str) -> Floats:
    """The share of each column that those which agree explain together: the largest squared canonical correlation, adjusted.

    1 for a column that was made of them: a sum, a ratio, a power, bins of one.
    """
    of = portrait.columns
    by, base = _directions(portrait, agrees[of], view)
    found = np.zeros(len(agrees))
    for column in np.flatnonzero(~agrees & (np.bincount(of, minlength=len(agrees)) > 0)):
        own, mine = _directions(portrait, of == column, view)
        links = np.nan_to_num(portrait.links[view][agrees[of]][:, :, of == column]).reshape(len(base), len(mine))
        share = np.linalg.norm(by.T @ links @ own, 2) ** 2 if by.size and own.size else 0.0
        free = portrait.n - by.shape[1] - own.shape[1]
        found[column] = 1 - (1 - min(share, 1.0)) * (portrait.n - 1) / free if free > 0 else 1.0
    return found


def _directions(portrait: Portrait, which: Booleans, view: str) -> tuple[Floats, Floats]:
    """Return the directions of variance one among the features of some variables, and the correlations of those features."""
    links = np.nan_to_num(portrait.links[view][which][:, :, which])
    of = np.repeat(np.arange(links.shape[0]), links.shape[1])
    within = np.where(of[:, None] == of, np.eye(len(of)), links.reshape(len(of), len(of)))
    strength, axes = np.linalg.eigh(within)
    kept = strength > FAINT
    return axes[:, kept] / strength[kept] ** 0.5, within
