"""Tell two tables that share a design from one table: on both sides there are columns that were measured anew.

Two shops share days, two surveys their sites, two fields a grid, a panel its persons: some columns are the same to the last
digit, and the portraits agree in them as in no two samples. The same table in disguise agrees in nearly all that both sides
have: columns may be gone on one side, or be new on the other, and noise that says nothing may be added. So columns count:

    agreeing   at least half of a column's variables lie in the core, in which each is near to all others
    otherwise  of the rest those that are far from the core, or have no partner, that hang together with others, and that
               were not made of the columns that agree: sums, ratios, bins

(q as in `likeness`: 1 for two samples, 0 for a copy.) With a column otherwise on both sides for every five that agree the
tables are two. Near is q ≤ .1, and far q ≥ .25; or, where the core is the same to the last digit, q ≥ .02: persons who moved a
little.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from modelsel.core.types import Booleans, Floats, Integers
from modelsel.ledger.portraits.likeness import CAP, Pairing, by_shape, fitting, squared_differences, starts
from modelsel.ledger.portraits.portrait import VIEWS, Portrait

SHARED = (0.1, 0.25, 12)  # q of a core, q from which a column is otherwise, and figures that a core has to have
EXACT = (1e-8, 0.02, 20)  # the same of columns that are the same to the last digit
PER_COLUMN = 0.2
BY_CHANCE = 0.1  # probability that a column of noise hangs together with any other
DERIVED = 0.9  # share that columns which agree explain of another from which it was made of them, and not measured
FAINT = 1e-3  # variance of a direction of features below which it is rounding
WITHOUT_CORE = 2  # columns otherwise, on both sides, where nothing agrees at all


@dataclass(frozen=True)
class Columns:
    """Columns that agree, and those that were measured otherwise: the fewer of both sides."""

    agreeing: int
    otherwise: int

    @property
    def two_tables(self) -> bool:
        return self.otherwise >= max(1.0, PER_COLUMN * self.agreeing if self.agreeing else WITHOUT_CORE)


def share_a_design(ours: Portrait, theirs: Portrait, thorough: bool = True, exactly: bool = True) -> bool:
    """Say whether two tables agree in columns of a design alone; by the pairing of columns in which most agree."""
    scale = 1 / ours.n + 1 / theirs.n
    ways = (
        (view, start) for view in VIEWS
        for start in (by_shape(ours, theirs, scale), *starts(ours, theirs, view, scale, thorough))
    )  # fmt: skip
    found = [_count_columns(start, ours, theirs, view, scale) for view, start in ways]
    wide, exact = max(found, key=lambda one: (one[0].agreeing, -one[0].otherwise, -one[1].otherwise))
    return wide.two_tables or (exactly and exact.agreeing > 0 and exact.two_tables)


def _count_columns(start: Pairing, ours: Portrait, theirs: Portrait, view: str, scale: float) -> tuple[Columns, Columns]:
    """Count columns by what is near, and by what is the same."""
    square = squared_differences(start, ours, theirs, view, scale)
    there = np.isfinite(square)
    sums, figures = np.where(there, np.minimum(square, CAP), 0).sum(axis=(1, 3)), there.sum(axis=(1, 3))
    found = []
    for near, far, fewest in (SHARED, EXACT):
        core = np.isin(start.ours, fitting(start, ours, theirs, view, scale, near).ours)
        if not near * figures[core][:, core].sum() >= max(sums[core][:, core].sum(), near * fewest):
            core = np.zeros(len(start), bool)
        compared = core[None, :] | np.eye(len(start), dtype=bool)
        off = (sums * compared).sum(axis=1) - far * (figures * compared).sum(axis=1)
        alone = 0.0 if near == SHARED[0] else -1.0  # what has no partner is otherwise, where near is enough
        counts = [_columns(one, places, core, off, alone, view) for one, places in ((ours, start.ours), (theirs, start.theirs))]
        found.append(Columns(min(one.agreeing for one in counts), min(one.otherwise for one in counts)))
    return found[0], found[1]


def _columns(portrait: Portrait, places: Integers, core: Booleans, off: Floats, alone: float, view: str) -> Columns:
    """Count the columns of one side of which most variables are in the core, and those that are far from it.

    A number speaks for its column, and so do half of its levels. Levels without a partner may have had no room there.
    """
    numbers = np.bincount(portrait.columns, ~portrait.binary) > 0
    speaks = ~portrait.binary | ~numbers[portrait.columns]
    whole, count = np.bincount(portrait.columns), len(numbers)
    of, mine = portrait.columns[places], speaks[places]
    agrees = (whole > 0) & (2 * np.bincount(of, core, count) >= whole)
    agrees |= numbers & (np.bincount(of, core & mine, count) > 0)
    hangs = np.bincount(portrait.columns, _hanging(portrait, view), count) > 0
    new = hangs & (explained_shares(portrait, agrees, view) < DERIVED)
    far = np.where(np.bincount(of, mine, count) > 0, np.bincount(of, off * mine, count), np.where(numbers, alone, -1.0)) >= 0
    return Columns(int(agrees.sum()), int((new & ~agrees & far).sum()))


def _hanging(portrait: Portrait, view: str) -> Booleans:
    """Mark the variables that hang together with one of another column beyond chance."""
    others = portrait.columns[:, None] != portrait.columns
    strength = np.where(others, np.nan_to_num(np.abs(portrait.links[view][:, 0, :, 0])), 0).max(axis=1)
    hangs: Booleans = strength * portrait.n**0.5 >= ndtri(1 - BY_CHANCE / 2 / np.maximum(1, others.sum(axis=1)))
    return hangs


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
