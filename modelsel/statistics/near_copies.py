"""Sealed rows that are near copies of development rows, found from the features alone.

Where rows are copied, jittered or interpolated before they are split, a sealed row has development rows that are far nearer
than all others. With d_1 ≤ d_2 ≤ … its distances to the development rows, standardised, and p the local dimension,

    P(d_j / d_{j+1} ≤ r) = r^(pj) for honest rows,    p = ln 2 / median ln(d_60 / d_30)

A row is flagged where some j ≤ 25 has p·j·ln(d_j / d_{j+1}) < ln(.001 / 25) and d_{j+1} ≥ 2 d_j. Rows may all be drawn near to
others although few stand out (interpolation): then (d_1 / d_2)^p, uniform for honest rows, is small too often: 2 n D² ≥ 8, D
of the one-sided Kolmogorov-Smirnov test. Where 5 % are flagged, or this is so, nothing can be certified until it is said which
rows belong together. Tight clusters of honest rows are hit, too; in two dimensions a jitter of 5 % is missed. No distance
counts less than the smallest step between two values of a column, whichever it is: on a grid rows are equal by chance.

A copy has the label of what it was copied from. So where development rows are as near to each other, or half as much, they are
asked for labels: if those of the ones that stand out, or are nearer than by chance, do not agree with their nearest row's three
quarters of the way from chance to always, nothing was copied (orders of a customer, years of a firm: columns are shared, and
labels are not).

Only tables whose distinct rows are nearly unique are looked at: of the distinct rows the share that no other equals although a
column is left out is at least .95, whichever column it is. Elsewhere (a board of a game, answers of a questionnaire) equal rows
need not be copies of one thing. A column without which few rows are unique, and then a second one, may be all that tells copies
apart (a row number, noise): where the rows are unique without them, they are looked at without them.
Source: distances of nearest neighbours, Levina & Bickel (2004), Advances in Neural Information Processing Systems 17.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from modelsel.core.runs import is_fresh
from modelsel.core.system.machine import cores
from modelsel.core.types import Floats, Integers

UNIQUE = 0.95
LEAVABLE = 2  # columns that may be left out
RANKS = 25
FAR = 60  # rank up to which the local dimension is read
LEVEL = 0.001
APART = 2.0
MANY = 0.05
SHIFTED = 8.0  # nats
COPIED = 0.75  # of the way from the agreement of labels by chance to 1, from which near rows may be copies
PAIRS = 10  # near rows with labels from which these say anything
FEWEST = 10  # development rows below which there is nothing to compare
EXAMINED = 20_000  # distinct rows that are compared with a column left out
FLAT = 12  # columns up to which a tree finds neighbours faster than comparing all rows
TREE_ROWS, COMPARED = 4000, 1 << 27  # sealed rows, and pairs of rows, above which a sample of sealed rows is looked at
TREE_COLUMNS = 5  # up to which it does so among many rows
TOGETHER_FAR, TILE = 64, 1 << 13  # sealed and development rows that are compared at a time
LIMITING = 1 << 14  # development rows that bound the last rank
LOST = 2.0**-23  # of a product in single precision, per number that it sums
TOGETHER = 1 << 16  # values that are sorted at a time, column by column


@dataclass(frozen=True, eq=False)
class NearCopies:
    """The near copies that were found: `flagged` are sealed rows among the `examined` ones, `shift` is 2 n D².

    `unique` is the share u of distinct rows. Nothing is examined where it is below .95. Where `sampled`, the other sealed rows
    were not looked at: the share of near copies is known, but not which rows they are. `cleared`: labels say that near rows
    are no copies.
    """

    flagged: Integers
    examined: Integers
    sampled: bool
    shift: float
    unique: float
    cleared: bool = False

    @property
    def many(self) -> bool:
        """Say whether too many rows are near development rows."""
        return self.share >= MANY or self.shift >= SHIFTED

    @property
    def share(self) -> float:
        """Share of the examined rows that are flagged."""
        return len(self.flagged) / max(len(self.examined), 1)

    @property
    def certifiable(self) -> bool:
        """False where too many rows are near copies for anything to be certified before groups are declared."""
        return self.cleared or not self.many


def near_copies(
    development: Floats, sealed: Floats, rng: np.random.Generator, labels: NDArray[np.generic] | None = None
) -> NearCopies:
    """Look for near copies of development rows (numbers; missing ones count as the mean) among the sealed ones.

    `labels` are those of development rows, where they are classes.
    """
    near, far = standardise(development, sealed)
    nobody = np.zeros(0, np.int64)
    unique, near, far = _drop_telling_columns(near, far, rng)
    if unique < UNIQUE or len(near) < FEWEST or not len(far):
        return NearCopies(nobody, nobody, False, 0.0, unique)
    examined = _some(len(far), near, rng)
    distances = _on_the_grid(nearest(near, far[examined])[0], near)
    p = dimension(distances)
    marked = examined[stands_out(distances, p)]
    found = NearCopies(marked, examined, len(examined) < len(far), shift(distances, p), unique)
    if labels is None or not found.many:
        return found
    return replace(found, cleared=_labels_clear(near, labels, found))


def _some(rows: int, others: Floats, rng: np.random.Generator) -> Integers:
    """The rows that are compared with others: all, or as many as that takes seconds for."""
    most = TREE_ROWS if others.shape[1] <= FLAT else max(500, COMPARED // len(others))
    return np.arange(rows) if rows <= most else np.sort(rng.choice(rows, most, replace=False))


def _on_the_grid(distances: Floats, near: Floats) -> Floats:
    """Distances that are at least the smallest step between two values of a column, where some rows are equal."""
    if distances[:, 0].min() > 0:
        return distances
    steps = (np.diff(np.unique(column)) for column in near.T)
    return np.maximum(distances, min((float(step.min()) for step in steps if len(step)), default=0.0))


def _labels_clear(near: Floats, labels: NDArray[np.generic], found: NearCopies) -> bool:
    """Say whether development rows are as near to each other as sealed ones are to them, and have labels of their own."""
    asked = _some(len(near), near, np.random.default_rng(0))
    distances, first = nearest(near, near[asked], asked)
    distances = _on_the_grid(distances, near)
    p = dimension(distances)
    close, order = stands_out(distances, p), np.argsort(ratios := _ratios(distances, p), kind="stable")
    unlike = close.mean() < found.share / 2 if found.share >= MANY else False
    excess, many = _excess(ratios[order])
    unlike |= 2 * len(found.examined) * (2 * excess) ** 2 < found.shift if found.shift >= SHIFTED else False
    close[order[:many]] = True
    if unlike or close.sum() < PAIRS:
        return False
    by_chance = float(((np.unique(labels, return_counts=True)[1] / len(labels)) ** 2).sum())
    agree = float((labels[asked] == labels[first])[close].mean())
    return agree < by_chance + COPIED * (1 - by_chance)


def standardise(development: Floats, sealed: Floats) -> tuple[Floats, Floats]:
    """Standardise both tables by mean and standard deviation of the development rows, without columns that never vary there."""
    known = ~np.isnan(development)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, development, 0.0).sum(axis=0) / count
    spread = np.sqrt(np.where(known, (development - mean) ** 2, 0.0).sum(axis=0) / count)
    varies = spread > 1e-12 * np.maximum(np.abs(mean), 1e-300)
    return (
        np.nan_to_num((development[:, varies] - mean[varies]) / spread[varies]),
        np.nan_to_num((sealed[:, varies] - mean[varies]) / spread[varies]),
    )


def _drop_telling_columns(near: Floats, far: Floats, rng: np.random.Generator) -> tuple[float, Floats, Floats]:
    """u and both sides, without up to two columns that alone tell rows apart; with all of them where that does not help."""
    unique, without = whole = _least_unique((near, far), rng)
    ours, theirs = near, far
    for _ in range(LEAVABLE):
        if unique >= UNIQUE or ours.shape[1] < 3:
            break
        ours, theirs = np.delete(ours, without, axis=1), np.delete(theirs, without, axis=1)
        unique, without = _least_unique((ours, theirs), rng)
    return (unique, ours, theirs) if unique >= UNIQUE else (whole[0], near, far)


def _least_unique(sides: Sequence[Floats], rng: np.random.Generator) -> tuple[float, int]:
    """u, and the column without which it is so low."""
    if sides[0].shape[1] < 2:
        return 0.0, 0
    own = _digests(sides, rng)
    whole = own.sum(axis=0)
    _, first = np.unique(whole, return_index=True)
    if len(first) > EXAMINED:
        first = rng.choice(first, EXAMINED, replace=False)
    alone, least = len(first), 0
    for some in _in_parts(len(own), len(first)):
        ordered = np.sort(whole[first] - own[some][:, first], axis=1)
        fresh = np.pad(is_fresh(ordered), ((0, 0), (0, 1)), constant_values=True)
        found = (fresh[:, :-1] & fresh[:, 1:]).sum(axis=1)
        if found.min() < alone:
            alone, least = int(found.min()), some.start + int(found.argmin())
    return float(alone / len(first)), least


def _digests(sides: Sequence[Floats], rng: np.random.Generator) -> NDArray[np.uint64]:
    """A number drawn for each different value of each column (columns × rows), in order of the values.

    No second copy of the whole table is made: it may fill most of the memory.
    """
    own = np.empty((sides[0].shape[1], sum(map(len, sides))), np.uint64)
    for some in _in_parts(*own.shape):
        columns = np.concatenate([side.T[some] for side in sides], axis=1)
        order = np.argsort(columns, axis=1)
        fresh = is_fresh(np.take_along_axis(columns, order, axis=1))
        drawn = rng.integers(1 << 63, size=int(fresh.sum()), dtype=np.uint64)
        np.put_along_axis(own[some], order, drawn[np.cumsum(fresh).reshape(fresh.shape) - 1], axis=1)
    return own


def _in_parts(columns: int, rows: int) -> list[slice]:
    """Columns some at a time: as many as stay near."""
    many = max(1, TOGETHER // max(1, rows))
    return [slice(first, first + many) for first in range(0, columns, many)]


def nearest(development: Floats, sealed: Floats, own: Integers | None = None) -> tuple[Floats, Integers]:
    """Distances of each sealed row to its nearest development rows, ascending, as many as `FAR`; and which is the first.

    `own`: the rows asked are these development rows, and are not their own neighbours.
    """
    itself = own is not None
    many = min(FAR + itself, len(development))
    if development.shape[1] <= TREE_COLUMNS or (len(development) < TREE_ROWS and development.shape[1] <= FLAT):
        from scipy.spatial import cKDTree

        distances, places = map(np.asarray, cKDTree(development).query(sealed, k=many))
        if own is None:
            return distances, places[:, 0]
        others = places != own[:, None]
        others[others.all(axis=1), -1] = False  # among more copies than are asked for
        return distances[others].reshape(len(sealed), -1), places[others].reshape(len(sealed), -1)[:, 0]
    by_row, found, first = np.ascontiguousarray(development), np.empty((len(sealed), many)), np.empty(len(sealed), np.int64)
    squared = np.einsum("ij,ij->i", by_row, by_row)
    wide = np.vstack([-2.0 * by_row.T, squared])  # one product: squared distances, but for a row's own square
    step = max(1, len(by_row) // LIMITING)
    rank = min(many, len(wide[0, ::step])) - 1
    limiting = np.ascontiguousarray(wide[:, ::step])
    lost = LOST * (len(wide) + 3)  # of the squares of both rows, at most, in single precision
    wide[-1] *= 1 - 2 * lost
    tiles = [(some, np.ascontiguousarray(wide[:, some], np.float32)) for some in _tiles(len(by_row))]

    def look(start: int) -> None:
        some = sealed[start : start + TOGETHER_FAR]
        asked = np.column_stack([some, np.ones(len(some))])
        # the last rank among some development rows bounds it among all of them
        limits = np.partition(asked @ limiting, rank, axis=1)[:, rank]
        limits += lost * np.einsum("ij,ij->i", asked, asked)
        short, most = asked.astype(np.float32), np.nextafter(limits.astype(np.float32), np.float32(np.inf))
        within = np.empty((len(asked), len(by_row)), np.bool_)
        for columns, tile in tiles:
            np.less_equal(short @ tile, most[:, None], out=within[:, columns])
        for place, (row, near) in enumerate(zip(some, within, strict=True), start):
            # differences are taken again for the few, as small ones are lost in the sum of squares
            few = np.flatnonzero(near)
            gaps = by_row[few] - row
            squares = np.einsum("ij,ij->i", gaps, gaps)
            if own is not None:
                squares[few == own[place]] = np.inf
            first[place] = few[squares.argmin()]
            found[place] = np.sort(np.partition(squares, many - 1)[:many])

    # a product's own threads wait for each other by turning, which takes five times as long on a busy machine
    with threadpool_limits(1), ThreadPoolExecutor(cores(), initializer=threadpool_limits, initargs=(1,)) as threads:
        list(threads.map(look, range(0, len(sealed), TOGETHER_FAR)))
    return np.sqrt(found[:, : many - itself]), first


def _tiles(rows: int) -> list[slice]:
    """Development rows as many at a time as stay near with their products."""
    return [slice(first, first + TILE) for first in range(0, rows, TILE)]


def dimension(distances: Floats) -> float:
    """p, from how fast distances grow from half the last rank to the last; 1 where they do not."""
    last = distances.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.log(distances[:, last - 1] / distances[:, last // 2 - 1])
    known = growth[np.isfinite(growth) & (growth > 0)]
    return log(2) / float(np.median(known)) if len(known) else 1.0


def stands_out(distances: Floats, p: float) -> NDArray[np.bool_]:
    """Mark rows that have j development rows far nearer than the next."""
    marked = np.zeros(len(distances), np.bool_)
    for j in range(1, min(RANKS + 1, distances.shape[1])):
        near, following = distances[:, j - 1], distances[:, j]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(following > 0, near / following, 1.0)
            marked |= (ratio <= 1 / APART) & (p * j * np.log(ratio) < log(LEVEL / RANKS))
    return marked


def _ratios(distances: Floats, p: float) -> Floats:
    """(d_1 / d_2)^p, uniform for honest rows; 1 where both are 0, since equal rows have a flag of their own."""
    first, second = distances[:, 0], distances[:, 1]
    return np.asarray(np.divide(first, second, out=np.ones(len(first)), where=second > 0) ** p)


def _excess(ordered: Floats) -> tuple[float, int]:
    """How far the share of the smallest ratios lies above theirs, at most, and how many these are."""
    above = np.arange(1, len(ordered) + 1) / len(ordered) - ordered
    return max(float(above.max(initial=0.0)), 0.0), int(above.argmax()) + 1


def shift(distances: Floats, p: float) -> float:
    """2 n D² of (d_1 / d_2)^p against the uniform distribution, where it lies below."""
    share = np.sort(_ratios(distances, p)[distances[:, 1] > 0])
    return 2 * len(share) * _excess(share)[0] ** 2 if len(share) else 0.0
