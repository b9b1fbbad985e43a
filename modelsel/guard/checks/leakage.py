"""Find leakage that needs no history: rows copied almost exactly across the split, groups on both sides.

Near duplicates: distances of test rows to their nearest development row, compared with those of development rows to their
nearest other one (one-sided Kolmogorov-Smirnov, p ≈ exp(−2 D² ab/(a + b))); only an excess of small distances counts.
Distance: mean over columns of range-scaled difference, 1 for different levels.
"""

from collections.abc import Iterator, Sequence
from math import exp

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.types import Booleans, ClassTask, Codes, Feature, Finding, Floats, Integers, Task
from modelsel.guard.copied_units import sealed_copies
from modelsel.guard.entries import units_of
from modelsel.guard.findings import row_findings
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.requests import TestSetDeclaration
from modelsel.statistics.near_copies import NearCopies, near_copies

SAMPLE = 500
SURE = 1e-6  # p below which copies are suspected: with the largest samples an excess of 0.17
ABSENT = -1e6  # in the place of what is missing or infinite: far from the rest
MANY = 1 << 25  # differences from which loading SciPy pays
TOGETHER = 256  # columns at a time: what stays near
AT_ONCE = 32  # rows at a time, likewise
PROPOSED = 4  # rows measured per question: more than can be told apart by roundings
AGREEMENT = 5.0  # standard errors by which labels agree within a suspected group


def leaks(sealing: TestSetDeclaration, subject: RowFingerprints) -> tuple[Finding, ...]:
    """Find near copies, groups on both sides and columns that look like groups."""
    copies = copies_across(sealing, subject.digest)
    near = (
        _near_copies(sealing, subject)
        if copies is None
        else [row_findings.near_duplicates_uncertifiable(copies.share, len(copies.examined))]
    )
    return (*_copies(sealing), *near, *_groups(sealing), *_suspected_groups(sealing))


def _copies(sealing: TestSetDeclaration) -> Iterator[Finding]:
    """Report copies that touch what can be certified, and rows that repeat with labels of their own."""
    copies, n = sealed_copies(sealing), len(sealing.sealed)
    if copies.unit is not None:
        yield row_findings.copies_within_test_rows(n, len(np.unique(copies.unit)), copies.columns)
    if copies.across.any():
        yield row_findings.copies_across_the_split(int(copies.across.sum()), n, copies.hinder)
    if copies.columns and not copies.agreed:
        yield row_findings.repeated_rows(copies.columns)


def copies_across(sealing: TestSetDeclaration, seed: str) -> NearCopies | None:
    """The near copies of development rows where they are too many to certify anything; declared groups say it better."""
    numeric = [index for index, feature in enumerate(sealing.development.features) if feature.is_number]
    if units_of(sealing) is not None or sealed_copies(sealing).hinder or len(numeric) < 2:
        return None
    ours, theirs = (_columns(side.values, numeric) for side in (sealing.development, sealing.sealed))
    labels = np.asarray(sealing.development.target) if sealing.development.class_count else None
    found = near_copies(ours, theirs, generator(0, seed), labels)
    return None if found.certifiable else found


def _columns(values: Floats, which: Sequence[int]) -> Floats:
    """Take some columns; of all of them no copy is made."""
    return values if len(which) == values.shape[1] else values[:, which]


def _near_copies(sealing: TestSetDeclaration, subject: RowFingerprints) -> Iterator[Finding]:
    """Compare nearest-neighbour distances across the split with those within the development rows."""
    development = sealing.development
    fresh = np.flatnonzero(~subject.duplicated)
    if len(fresh) < 20 or len(development) < 40 or not subject.identifiable:
        return
    rng = generator(0, subject.digest)
    pool = rng.permutation(len(development))[: 2 * SAMPLE]
    asked = rng.permutation(fresh)[:SAMPLE]
    kept, questions = _scale(sealing, pool, asked)
    across = _nearest(questions, kept, development.features)
    within = _nearest(kept[:SAMPLE], kept, development.features, own=True)
    excess = _excess(across, within)
    p = exp(-2 * excess**2 * len(across) * len(within) / (len(across) + len(within)))
    if p < SURE:
        yield row_findings.near_duplicates(excess)


def _scale(sealing: TestSetDeclaration, pool: Integers, asked: Integers) -> tuple[Floats, Floats]:
    """Scale some rows of either side by the range of all rows; what is missing or infinite is far from the rest."""
    sides = (sealing.development.values, sealing.sealed.values)
    kept, questions = sides[0][pool], sides[1][asked]
    numeric = np.array([feature.is_number for feature in sealing.development.features])
    spread = np.where(numeric, _ranges(sides), 1.0)
    unknown, divisor = np.isnan(spread), np.where(np.isnan(spread) | (spread == 0), 1.0, spread)
    for rows in (kept, questions):
        np.divide(rows, divisor, out=rows)
        rows[:, unknown] = 0.0
    return np.where(np.isfinite(kept), kept, ABSENT), np.where(np.isfinite(questions), questions, ABSENT)


def _ranges(sides: Sequence[Floats]) -> Floats:
    """Subtract the smallest finite number of each column from the largest; NaN where there is none."""
    least, most = np.inf, -np.inf
    for side in sides:
        finite = np.isfinite(side)
        least = np.minimum(least, side.min(axis=0, initial=np.inf, where=finite))
        most = np.maximum(most, side.max(axis=0, initial=-np.inf, where=finite))
    spread: Floats = np.where(most >= least, most, np.nan) - np.where(most >= least, least, np.nan)
    return spread


def _nearest(rows: Floats, pool: Floats, features: tuple[Feature, ...], own: bool = False) -> Floats:
    """Distance of each row to the nearest of the pool; `own`: rows are the first of the pool and do not count themselves.

    Sums of all pairs at once, in another order of additions, propose a few of the pool; these are measured.
    """
    numeric = np.array([feature.is_number for feature in features])
    sums = _sums if rows.size * len(pool) >= MANY else _sums_by_column
    few = min(PROPOSED, len(pool) - own)
    near = np.argpartition(_without_self(sums(rows, pool, numeric), own), few - 1, axis=1)[:, :few]
    parts = (slice(first, first + AT_ONCE) for first in range(0, len(rows), AT_ONCE))
    return np.concatenate([_distances(rows[some, None], pool[near[some]], numeric).min(axis=1) for some in parts])


def _without_self(away: Floats, own: bool) -> Floats:
    """Distances with those of rows to themselves, where they are the first of the pool, beyond all."""
    if own:
        np.fill_diagonal(away, np.inf)
    return away


def _distances(rows: Floats, others: Floats, numeric: Booleans) -> Floats:
    """Mean over columns of the difference, at most 1; of levels 0 or 1."""
    apart = others - rows
    np.minimum(np.abs(apart, out=apart), 1.0, out=apart)
    away: Floats = (apart if numeric.all() else np.where(numeric, apart, others != rows)).mean(axis=-1)
    return away


def _sums_by_column(rows: Floats, pool: Floats, numeric: Booleans) -> Floats:
    """Sums of differences, rows × pool, some rows at a time and column after column: where loading SciPy does not pay."""
    away, columns = np.zeros((len(rows), len(pool))), np.ascontiguousarray(pool.T)
    for first in range(0, len(rows), AT_ONCE):
        some = away[first : first + AT_ONCE]
        apart = np.empty_like(some)
        for ours, theirs, number in zip(rows[first : first + AT_ONCE].T, columns, numeric, strict=True):
            if number:
                np.subtract(theirs, ours[:, None], out=apart)
                np.minimum(np.abs(apart, out=apart), 1.0, out=apart)
            some += apart if number else theirs != ours[:, None]
    return away


def _sums(rows: Floats, pool: Floats, numeric: Booleans) -> Floats:
    """Sums of differences, rows × pool, to some roundings.

    What is missing counts 1 beside what is known: where z = 0 stands for it, Σ |z_i − z_j| lacks Σ (1 − |z_j|) over the columns
    that row i alone misses, which is a matrix product.
    """
    from scipy.spatial.distance import cdist

    away = np.zeros((len(rows), len(pool)))
    if not numeric.all():
        away += cdist(rows[:, ~numeric], pool[:, ~numeric], "hamming") * int((~numeric).sum())
    if numeric.any():
        sides = [side[:, numeric] for side in (rows, pool)]
        holes = [side == ABSENT for side in sides]
        ours, theirs = (np.where(hole, 0.0, side) for hole, side in zip(holes, sides, strict=True))
        for first in range(0, ours.shape[1], TOGETHER):
            some = slice(first, first + TOGETHER)
            away += cdist(np.ascontiguousarray(ours[:, some]), np.ascontiguousarray(theirs[:, some]), "cityblock")
        if holes[0].any() or holes[1].any():
            away += holes[0].astype(float) @ np.where(holes[1], 0.0, 1.0 - np.abs(theirs)).T
            away += np.where(holes[0], 0.0, 1.0 - np.abs(ours)) @ holes[1].astype(float).T
    return away


def _excess(across: Floats, within: Floats) -> float:
    """The largest amount by which the distribution of `across` lies above that of `within`."""
    grid = np.sort(np.concatenate([across, within]))
    above = np.searchsorted(np.sort(across), grid, "right") / len(across)
    below = np.searchsorted(np.sort(within), grid, "right") / len(within)
    return float((above - below).max())


def _groups(sealing: TestSetDeclaration) -> Iterator[Finding]:
    """Report groups that have rows on both sides of the split."""
    ours, theirs = sealing.development.groups, sealing.sealed.groups
    if ours is not None and theirs is not None:
        both = np.intersect1d(ours, theirs)
        if len(both):
            yield row_findings.group_spans_split(len(both), len(np.unique(theirs)))


def _suspected_groups(sealing: TestSetDeclaration) -> Iterator[Finding]:
    """Nominal columns with many levels, met on both sides, within which labels agree far more than by chance."""
    development, test = sealing.development, sealing.sealed
    for index, feature in enumerate(development.features) if isinstance(development, ClassTask) else ():
        n, own = len(development), development.values[:, index]
        distinct = len(np.unique(own[~np.isnan(own)]))
        if feature.is_number or not 0.01 * n <= distinct <= 0.5 * n or distinct < 20:
            continue
        met = np.isin(test.values[:, index], own).mean()
        if met > 0.5 and _agreement(development, own) > AGREEMENT:
            yield row_findings.group_spans_split_suspected(feature.name, met)


def _agreement(task: Task, column: Floats) -> float:
    """Standard errors by which two rows of one level agree in label more often than any two rows."""
    present = ~np.isnan(column)
    levels, target = column[present].astype(np.int64), np.asarray(task.target[present], np.int32)
    share = np.bincount(target) / len(target)
    by_chance = float((share**2).sum())
    order = np.lexsort((generator(0, task.name).permutation(len(levels)), levels))
    pairs = levels[order][1:] == levels[order][:-1]
    agree = _equal(target[order], pairs)
    spread = np.sqrt(by_chance * (1 - by_chance) * max(1, int(pairs.sum())))
    return float((agree - by_chance * pairs.sum()) / spread) if spread else 0.0


def _equal(target: Codes, pairs: Integers) -> int:
    return int((target[1:] == target[:-1])[pairs].sum())
