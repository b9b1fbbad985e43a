"""Rows that are copies of each other, told from rows that are equal by chance: by how often they come, and by their labels.

Where rows are drawn independently, however their columns hang together, the number of times that a row of probability p comes
is Poisson(n p). So the numbers f_k of rows that come k times are those of a mixture of Poisson distributions, in every subset
of the columns. Copies are too even for that: rows that come four times each are no mixture. With the mixture G that fits best

    LR = ln Q(f) − Σ f_k ln π_k(G),    π_k = ∫ λ^k / (k! (e^λ − 1)) dG(λ)

where Q is what frequencies of any kind would be foretold by, one after the other: (f_k + a_k) / (Σ f + 1), a_k = 1 / k(k + 1).
Of independent rows LR exceeds t with a probability of at most e^−t, whatever their distribution is. So
rows are *repeated* where LR > ln(subsets) + 20 nats. They are copies where the labels of equal rows agree at least half-way
from chance to always, too, or only others repeat so; else they are replicates, visits, or cells of a design. Subsets:
all columns, all but one (of few columns, all but two), and the columns that agree where one of them does, if they are half of
all.

Columns left out may be factors of a design: then they never repeat among rows that are equal otherwise, although chance would
have it so. That is a copy only where the other columns tell all rows apart even without one more of them. This is asked, too,
wherever more than two columns are left out, and twice the evidence.

Source: mixtures of Poisson distributions, Simar (1976), Annals of Statistics 4; the bound by the gradient, Lindsay (1983),
Annals of Statistics 11.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import lgamma, log

import numpy as np
from numpy.typing import NDArray

from modelsel.core.runs import is_fresh
from modelsel.core.types import Floats, Integers

Hashes = NDArray[np.uint64]

EVIDENCE = 20.0  # nats beyond the logarithm of the number of subsets
HALF_WAY = 0.5  # from the agreement of labels by chance to 1
PAIRS = 10  # pairs of equal rows with labels from which these say anything
LEAVABLE = 2  # columns that are left out
FEW = 12  # columns up to which pairs of them are left out
WIDE = 64  # columns up to which each is left out
PIVOTS = 32  # columns by which others that agree with them are found
COMPARED = 2000  # pairs of rows per such column
TOGETHER = 0.25  # from the agreement by chance to 1, from which columns are taken to be copied together
OFTEN = 2000  # times from which a row says nothing
ENOUGH = 100_000  # rows above which some of the different rows are looked at, with all their copies
UNIQUE = 0.95


@dataclass(frozen=True, eq=False)
class CopiedRows:
    """Rows that are too evenly repeated in some `columns`; `unit` is the same number for equal rows.

    `agreed` says whether labels agree as those of copies do; `nats` is the likelihood ratio.
    """

    columns: tuple[int, ...]
    unit: Integers
    agreed: bool
    nats: float


def copied_rows(sides: Sequence[Floats], labels: NDArray[np.generic]) -> CopiedRows | None:
    """Look for copies among the rows of two sides, of which the first has labels; None where rows come as independent ones do.

    >>> rng = np.random.default_rng(0)
    >>> values, labels = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    >>> copied_rows([values], labels) is None
    True
    >>> found = copied_rows([np.repeat(values, 2, axis=0)], np.repeat(labels, 2))
    >>> found.agreed, len(np.unique(found.unit))
    (True, 60)
    """
    rows = StackedRows(tuple(sides))
    if len(rows) < 2 or not rows.width:
        return None
    rng = np.random.default_rng(0)
    salts = rng.integers(1 << 63, size=rows.width, dtype=np.uint64)
    sets = _subsets(rows, rng, salts)
    limit, known = EVIDENCE + log(2 * len(sets)), len(sides[0])
    whole = _hash_rows(rows, salts, range(rows.width))
    suspected = None
    for columns in sorted(sets, key=len, reverse=True):
        left_out = [c for c in range(rows.width) if c not in columns]
        few = len(left_out) <= LEAVABLE
        hashes = whole - _hash_rows(rows, salts, left_out) if few else _hash_rows(rows, salts, columns)
        alone = _evidence(hashes[known:])
        nats = max(_evidence(hashes), alone)
        if nats <= limit + (0 if few else EVIDENCE) or not _may_be_copied(rows, salts, hashes, columns, left_out):
            continue
        unlike = alone > limit and _evidence(hashes[:known]) < EVIDENCE  # those with labels do not come so evenly
        agreed = unlike or _agree(hashes[:known], labels)
        if agreed or suspected is None:
            unit = np.unique(hashes, return_inverse=True)[1].astype(np.int64)
            suspected = CopiedRows(tuple(columns), unit, agreed, nats)
        if agreed:
            break
    return suspected


@dataclass(frozen=True, eq=False)
class StackedRows:
    """The rows of both sides, one below the other, of which no copy is made but a column at a time."""

    sides: tuple[Floats, ...]

    def __len__(self) -> int:
        return sum(map(len, self.sides))

    @property
    def width(self) -> int:
        return int(self.sides[0].shape[1])

    def column(self, c: int) -> Floats:
        """All values of a column: a copy, in which −0 is 0 and what is missing has one bit pattern."""
        own = np.concatenate([side[:, c] for side in self.sides]) + 0.0
        own[np.isnan(own)] = np.nan
        return own

    def take(self, places: Integers) -> "StackedRows":
        """Some of the rows, in the order given: column by column, as they stand in memory."""
        first = places < len(self.sides[0])
        if first.all():
            return StackedRows((np.take(self.sides[0].T, places, axis=1).T,))
        taken = np.empty((self.width, len(places)))
        taken[:, first] = np.take(self.sides[0].T, places[first], axis=1)
        taken[:, ~first] = np.take(self.sides[1].T, places[~first] - len(self.sides[0]), axis=1)
        return StackedRows((taken.T,))


def _subsets(rows: StackedRows, rng: np.random.Generator, salts: Hashes) -> list[tuple[int, ...]]:
    """The subsets of columns in which rows are compared."""
    every = tuple(range(rows.width))
    sets = dict.fromkeys([every])
    if 1 < len(every) <= WIDE:
        sets.update(dict.fromkeys(tuple(c for c in every if c != out) for out in every))
    if 3 < len(every) <= FEW:
        sets.update(dict.fromkeys(tuple(c for c in every if c not in out) for out in combinations(every, 2)))
    sets.update(dict.fromkeys(_copied_together(rows, rng, salts)))
    return list(sets)


def _copied_together(rows: StackedRows, rng: np.random.Generator, salts: Hashes) -> Iterator[tuple[int, ...]]:
    """The columns that agree far more often than by chance where rows agree in one of them."""
    width = rows.width
    by_chance = _agreement(rows, *rng.integers(len(rows), size=(2, COMPARED)))
    for pivot in rng.permutation(width)[:PIVOTS]:
        own = _hash_rows(rows, salts, [int(pivot)])
        some = rng.permutation(np.flatnonzero(_sample(own)))
        some = some[np.argsort(own[some], kind="stable")]
        first = np.flatnonzero(own[some][1:] == own[some][:-1])
        if len(first) < PAIRS:
            continue
        first = first if len(first) <= COMPARED else rng.choice(first, COMPARED, replace=False)
        agree = _agreement(rows, some[first], some[first + 1])
        together = np.flatnonzero((agree - by_chance > TOGETHER * (1 - by_chance)) | (np.arange(width) == pivot))
        if len(together) >= max(2, width // 2):
            yield tuple(together.tolist())


def _agreement(rows: StackedRows, one: Integers, other: Integers) -> Floats:
    """The share of pairs of rows that agree, per column."""
    ours, theirs = rows.take(one).sides[0], rows.take(other).sides[0]
    return np.asarray(((ours == theirs) | (np.isnan(ours) & np.isnan(theirs))).mean(axis=0))


def _hash_rows(rows: StackedRows, salts: Hashes, columns: Sequence[int]) -> Hashes:
    """The sum of a hash of each value of some columns, row by row: hashes of other columns can be taken off."""
    total = np.zeros(len(rows), np.uint64)
    for c in columns:
        mixed = rows.column(c).view(np.uint64)
        mixed ^= salts[c]
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
        total += mixed ^ (mixed >> np.uint64(31))
    return total


def _sample(hashes: Hashes) -> NDArray[np.bool_]:
    """Mark rows by their hash, so that equal rows stay together: all, or about `ENOUGH`."""
    share = min(1.0, ENOUGH / len(hashes))
    mixed = hashes * np.uint64(0x9E3779B97F4A7C15)
    return mixed >= np.uint64(0) if share == 1 else mixed < np.uint64(int(share * 2**63) * 2)


def _evidence(hashes: Hashes) -> float:
    """LR, at most: what a better mixture could still gain is taken off."""
    if len(hashes) < 2:
        return 0.0
    times = np.unique(hashes[_sample(hashes)], return_counts=True)[1]
    k, f = np.unique(times[times <= OFTEN], return_counts=True)
    return 0.0 if not len(k) or k[-1] == 1 else excess_of(k, f)


def excess_of(k: Integers, f: Integers) -> float:
    """LR of frequencies f of rows that come k times, less what was not reached of the best mixture.

    Rows that come twice each are no mixture: λ² / 2(e^λ − 1) is .324 at most, at λ = 1.594, and Q takes some nats.

    >>> round(excess_of(np.array([2]), np.array([40])) / 40, 1), round(-float(np.log(0.3238)), 2)
    (1.0, 1.13)
    >>> excess_of(np.array([1, 2, 3]), np.array([58, 29, 10]))  # as of λ = 1
    0.0
    """
    total = f.sum()
    roots = np.arange(1.0, np.sqrt(k[-1]) + 4, 0.125)
    rates = np.concatenate([np.geomspace(1e-6, 0.95, 40), roots**2])
    factorials = np.array([lgamma(times + 1.0) for times in k])
    likely = np.exp(k * np.log(rates)[:, None] - factorials - rates[:, None] - np.log(-np.expm1(-rates))[:, None])
    weights, share = np.full(len(rates), 1 / len(rates)), f / total
    start = 1 / (k * (k + 1.0))
    free = sum(lgamma(often + a) - lgamma(a) for often, a in zip(f, start, strict=True)) - lgamma(total + 1.0)
    reached, best = 0.0, np.inf
    for _ in range(2000):
        mixed = weights @ likely
        gradient = likely @ (share / mixed)
        reached = free - float((f * np.log(mixed)).sum())
        best = total * max(float(gradient.max()) - 1.0, 0.0)
        if best < 0.5 or reached < EVIDENCE or reached - best > 4 * EVIDENCE:
            break
        weights = weights * gradient
    return float(max(reached - best, 0.0))


def _agree(hashes: Hashes, labels: NDArray[np.generic]) -> bool:
    """Say whether labels of equal rows agree as copies' do; rows of which hardly a pair has labels are not cleared by them."""
    order = np.argsort(hashes, kind="stable")
    equal = ~is_fresh(hashes[order])[1:]
    if equal.sum() < PAIRS:
        return True
    share = np.unique(labels, return_counts=True)[1] / len(labels)
    by_chance = float((share**2).sum())
    agree = float((labels[order][1:] == labels[order][:-1])[equal].mean())
    return by_chance < 1 and agree >= by_chance + HALF_WAY * (1 - by_chance)


def _may_be_copied(rows: StackedRows, salts: Hashes, hashes: Hashes, columns: Sequence[int], left_out: Sequence[int]) -> bool:
    """Say whether rows that are equal in some columns may be copies: the others are no factors that are crossed with them."""
    kept = np.flatnonzero(_sample(hashes))
    order = kept[np.argsort(hashes[kept], kind="stable")]
    fresh = is_fresh(hashes[order])
    if len(left_out) <= LEAVABLE and not _are_crossed(_hash_rows(rows.take(order), salts, left_out), fresh, left_out):
        return True
    distinct = order[fresh]
    own = rows.take(distinct)
    return len(columns) > 1 and all(
        len(np.unique(hashes[distinct] - _hash_rows(own, salts, [c]))) >= UNIQUE * len(distinct) for c in columns
    )


def _are_crossed(others: Hashes, fresh: NDArray[np.bool_], left_out: Sequence[int]) -> bool:
    """Say whether values of columns left out repeat among equal rows not half as often as by chance."""
    if not left_out:
        return False
    share = np.unique(others, return_counts=True)[1] / len(others)
    by_chance = float((share**2).sum() - 1 / len(others)) * float((~fresh).sum())
    return by_chance > EVIDENCE and float((others[1:] == others[:-1])[~fresh[1:]].sum()) < by_chance / 2
