"""Rows known again under noise, where columns keep their names: by means of waves over pairs of columns.

For every two columns of many different numbers, in mean absolute deviations (which an outlier hardly moves), and frequencies
v, w and a phase that follow from their names under the home's key, the mean of cos(v x + w y + phase) over all rows is kept; up
to 1,500 of them, fewer of large tables. Two samples of one source differ in such means by their standard errors, and since
waves of high frequency hang together little, they say more than correlations do (`likeness`): where c of n and m rows are the
same, the squared differences are

    q = 1 − 2c/(n + m)

of what they are for independent samples, .25 where one is 60 % of the other, .43 at 40 %. Their scale is reckoned from the
table at hand, row by row, with what standardising takes away; so is the number of degrees of freedom (k²/Σ r²). Every column
has to agree: one that was measured anew speaks against all the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
from scipy.special import gammainc

from modelsel.core.types import Floats, Integers
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.variables import SOME, Variables
from modelsel.ledger.rows.identity import Hashes, hash_rows

MANY = 40  # different values that a column needs: a design has fewer
WAVES, CELLS = 1500, 60_000_000  # means that are kept at most, and values that are read for them
FASTEST = 3.6  # the highest frequency, in mean absolute deviations
SAMPLE = 1000  # rows from which the scale of the differences is reckoned
NEAR, EACH = 0.5, 0.7  # q from which tables are not one, and q of a single column
SURE = 12.0  # nats: nothing was chosen that would have to be paid
SILENT = 0.02  # variance below which a wave says nothing


@dataclass(frozen=True, eq=False)
class Waves:
    """Keyed names of columns, ascending, and the means of their waves, pairs × waves."""

    labels: Hashes
    means: Floats


class OwnWaves:
    """The waves of the table at hand, whose variables have these keyed names."""

    def __init__(self, found: Variables, labels: Hashes, key: IdentityKey, drawn: Waves | None = None) -> None:
        """Choose the columns; their waves are reckoned when they are asked for, unless they were drawn before."""
        chosen = [int(place) for place in np.argsort(labels) if not found.binary[place] and _is_many(found.values(place))]
        self.labels, self._key = labels[chosen], key
        columns = np.zeros((len(chosen), found.rows), np.float32)
        for place, one in enumerate(chosen):
            columns[place] = _scaled(found.values(one))
        self._columns: Floats = np.asarray(columns)
        self._pairs = np.column_stack(np.triu_indices(len(chosen), 1))
        self._drawn = drawn
        self._count = max(1, min(WAVES, CELLS // max(1, found.rows)) // max(1, len(self._pairs)))

    @property
    def drawn(self) -> Waves:
        """What is remembered of them."""
        if self._drawn is None:
            self._drawn = Waves(self.labels, self._means())
        return self._drawn

    def _means(self) -> Floats:
        means = [np.cos(_angles(x, y, by)).mean(axis=1, dtype=np.float64) for x, y, by in self._each(self._columns)]
        return np.array(means).reshape(len(self._pairs), self._count)

    def nats(self, theirs: Waves, rows: int, common: int) -> float:
        """How improbable it is that another table of so many rows, `common` of them matched, is so near; nought if not."""
        n = self._columns.shape[1]
        shared, left, right = np.intersect1d(self.labels, theirs.labels, return_indices=True)
        scale = 1 / n + 1 / rows - 2 * common / (n * rows)
        if len(shared) < 2 or scale <= 0:
            return 0.0
        one, other = np.triu_indices(len(shared), 1)
        ours, same = _places(left[one], left[other], len(self.labels)), _places(right[one], right[other], len(theirs.labels))
        count = min(self._count, theirs.means.shape[1])
        gaps = (self.drawn.means[ours, :count] - theirs.means[same, :count]) ** 2 / scale
        if gaps.mean() > NEAR:  # no wave varies by more than one
            return 0.0
        rowwise, variance = (part[ours, :count] for part in self._spread)
        telling = variance > SILENT
        square = np.where(telling, gaps / np.maximum(variance, SILENT), 0.0)
        near = [square[of].sum() / max(1, telling[of].sum()) for of in ((one == i) | (other == i) for i in range(len(shared)))]
        q = float(square.sum() / max(1, telling.sum()))
        if not telling.any() or q >= NEAR or max(near) >= EACH:
            return 0.0
        scaled = rowwise[telling].T / rowwise[telling].std(axis=1)
        half = freedom(scaled) / 2
        return -log(max(float(gammainc(half, q * half)), 1e-300))

    @cached_property
    def _spread(self) -> tuple[Floats, Floats]:
        """Pairs × waves × some rows: what each adds to a mean, beside what it adds to mean and deviation of the columns.

        Of a wave f of x the mean moves by −E f' with the mean of x, and by −E x f' with its mean absolute deviation. Beside it
        the variances, pairs × waves, without what these expectations owe to chance.
        """
        n = self._columns.shape[1]
        some: Floats = self._columns[:, np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.intp))]
        found: Floats = np.empty((len(self._pairs), self._count, some.shape[1]), np.float32)
        chance = np.zeros(found.shape[:2])
        for place, (x, y, by) in enumerate(self._each(some)):
            angles = _angles(x, y, by)
            found[place], sines = np.cos(angles), np.sin(angles)
            for column, frequency in ((x, by[:, :1]), (y, by[:, 1:2])):
                slopes = frequency * sines
                for each, adds in ((slopes, column), (slopes * column, np.abs(column) - np.sign(column).mean() * column)):
                    found[place] += np.outer(each.mean(axis=1), adds)
                    chance[place] += each.var(axis=1) / len(column) * adds.var()
        found -= found.mean(axis=2, keepdims=True)
        variances: Floats = np.square(found).mean(axis=2) - chance
        return found, variances

    def _each(self, columns: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Pairs of columns, and two frequencies and a phase for each of their waves."""
        for one, other in self._pairs:
            words = np.empty((self._count, 3, 4), np.uint64)
            words[..., 0], words[..., 1] = self.labels[one], self.labels[other]
            words[..., 2], words[..., 3] = np.arange(self._count)[:, None], np.arange(3)
            drawn = hash_rows(words.reshape(-1, 4), self._key, b"modelsel.wave.1").reshape(-1, 3) / 2.0**64
            frequencies = (2 * drawn - 1) * (FASTEST, FASTEST, np.pi)
            yield columns[one], columns[other], frequencies.astype(np.float32)


def _angles(x: Floats, y: Floats, by: Floats) -> Floats:
    """Waves × rows: v x + w y + phase."""
    found: Floats = np.outer(by[:, 0], x) + np.outer(by[:, 1], y) + by[:, 2:]
    return found


def _places(one: Integers, other: Integers, count: int) -> Integers:
    """The places of pairs i < j among all pairs of so many."""
    found: Integers = one * count - one * (one + 1) // 2 + other - one - 1
    return found


def _is_many(values: Floats) -> bool:
    """Say whether a column has many different values."""
    return any(len(np.unique(part[np.isfinite(part)])) >= MANY for part in (values[:SOME], values))


def _scaled(values: Floats) -> Floats:
    """A column in deviations from its mean; nought where there is no value."""
    there = np.isfinite(values)
    found = np.zeros(len(values))
    kept = values[there] - values[there].mean()
    found[there] = kept / np.abs(kept).mean()
    return found


def freedom(differences: Floats) -> float:
    """k²/Σ r² of draws × k values, less what chance adds to the squared correlations of few draws."""
    count, k = differences.shape
    squares = float((differences @ differences.T / count) ** 2 @ np.ones(count) @ np.ones(count))
    return float(min(4 * count, k * k / max(squares - k * k / count, k * k / (4 * count))))
