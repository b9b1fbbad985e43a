"""A table as aggregates: how its columns hang together, whatever their names, units, levels and the order of the rows.

A column of numbers is one variable; each level, and each number of a column of few, is one of its own (present or not; those
of few rows take no part, so that nearly unique columns have none). Each variable is described by at most three features, made
orthogonal to each other and standardised:

    by value    tanh z, exp(−z²/2), sin 2z      z = (x − mean)/deviation: the same in any unit
    by rank     u, u², u³                       u = middle rank: the same under any increasing map

What is remembered are the means of the features by value, the shares of levels (the shape of a variable), and the
correlations of features of different variables. They are sums over all rows of a table in units of its own: no value, and of no
row. Two samples of one source differ in them by their standard errors, a copy of a table does not (`ledger.likeness`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from modelsel.core.types import Booleans, Feature, Floats, Integers, Table
from modelsel.ledger.home import Key
from modelsel.ledger.identity import Hashes, text_tokens
from modelsel.ledger.matching import keyed
from modelsel.ledger.rowset import RowSet

FEWEST = 60  # rows below which a table has no portrait
MOST = 40  # features of a portrait
ORDERS, LARGE = 3, 100_000  # features of a variable; rows from which it has one
BY_NUMBERS = 30  # of which of numbers, where these have more than one
FEW, SOME = 10, 1000  # distinct numbers up to which they are levels too; rows that are looked at first
RARE, RARE_SHARE = 10, 0.02  # rows, and share, that a level needs on either side
FLAT = 1e-3  # remaining variance from which a feature says nothing of its own
VIEWS = ("value", "rank")


@dataclass(frozen=True, eq=False)
class Portrait:
    """`links[view]` is variables × orders × variables × orders, NaN where there is nothing to say.

    Within a variable it holds the means of its features, on the diagonal.
    """

    n: int
    labels: Hashes  # keyed names of the variables
    binary: Booleans
    links: dict[str, Floats]

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def orders(self) -> int:
        """The most features that a variable has."""
        return max(1, int(np.isfinite(self.shapes).sum(axis=1).max(initial=1)))

    @property
    def shapes(self) -> Floats:
        """Variables × orders: the means by value."""
        return diagonal(self.links["value"])

    def stored(self) -> RowSet:
        """As it is remembered: half of each symmetric table, in single precision, without what is absent."""
        facts = {"n": self.n, "binary": "".join("01"[int(one)] for one in self.binary)}
        halves = {view: _half(links) for view, links in self.links.items()}
        there = {f"{view}:there": np.packbits(np.isfinite(half)) for view, half in halves.items()}
        packed = {view: np.asarray(half[np.isfinite(half)], "<f4") for view, half in halves.items()}
        return RowSet(facts, {"labels": self.labels, **{name: _packed(array) for name, array in {**there, **packed}.items()}})

    @classmethod
    def of(cls, stored: RowSet) -> "Portrait":
        binary = np.array([one == "1" for one in stored.facts["binary"]], bool)
        links = {view: _whole(stored.arrays[f"{view}:there"], stored.arrays[view], len(binary)) for view in VIEWS}
        return cls(len(stored), stored.arrays["labels"], binary, links)


@dataclass(frozen=True, eq=False)
class Variables:
    """The variables of a table, row by row: what portraits are drawn of."""

    values: Floats  # rows × variables, NaN where missing
    binary: Booleans
    orders: int  # features of those that are not binary
    labels: tuple[str, ...]

    def links(self, rows: Integers | slice, view: str) -> Floats:
        """Correlations of all features over some rows, and their means."""
        values = self.values[rows]
        count = len(self.binary)
        means, places, features = np.full((count, ORDERS), np.nan), [], []
        for index in range(count):
            for order, (mean, feature) in enumerate(self._features(values[:, index], index, view)):
                means[index, order] = mean
                if feature.any():
                    places.append(index * ORDERS + order)
                    features.append(feature)
        found = np.full((count * ORDERS, count * ORDERS), np.nan)
        if features:
            told = np.stack(features)
            found[np.ix_(places, places)] = told @ told.T / len(values)
        links: Floats = found.reshape(count, ORDERS, count, ORDERS)
        each = np.arange(count)
        links[each, :, each] = np.nan
        for order in range(ORDERS):
            links[each, order, each, order] = means[:, order]
        return links

    def _features(self, values: Floats, index: int, view: str) -> Iterator[tuple[float, Floats]]:
        """Mean and standardised values of each feature of a variable, nought where a row has none."""
        binary = bool(self.binary[index])
        there = ~np.isnan(values)
        whole = bool(there.all())
        kept = values if whole else values[there]
        by_value = view == "value" or binary
        raw = (_by_value(_scaled(kept)) if by_value else _by_rank(kept))[: 1 if binary else self.orders]
        for one, feature in zip(raw, _orthogonal(raw)):
            mean = (_upper(kept) - 0.5 if binary else float(one.mean())) if by_value else np.nan
            if not whole:
                spread = np.zeros(len(values))
                spread[there] = feature
                feature = spread
            yield mean, feature


def variables(table: Table) -> Variables | None:
    """None where the table has too few rows, or too few columns that say anything."""
    if len(table) < FEWEST:
        return None
    numbers = _evenly(list(_numbers(table)))
    orders = next(k for k in (ORDERS, 2, 1) if k == 1 or (len(numbers) * k <= BY_NUMBERS and len(table) <= LARGE))
    levels = list({_orientation(one[1]): one for one in _levels(table)}.values())
    found = [*numbers, *_commonest(levels, MOST - orders * len(numbers))]
    if len(found) < 2:
        return None
    binary = np.arange(len(found)) >= len(numbers)
    return Variables(np.column_stack([values for _, values in found]), binary, orders, tuple(name for name, _ in found))


def drawn(found: Variables, key: Key) -> Portrait:
    links = {view: found.links(slice(None), view) for view in VIEWS}
    return Portrait(len(found.values), _labels(found.labels, key), found.binary, links)


def _labels(names: Sequence[str], key: Key) -> Hashes:
    return keyed(text_tokens([f"variable {name}" for name in names]), key)


def _numbers(table: Table) -> Iterator[tuple[str, Floats]]:
    """Numeric columns of more than two values."""
    for feature, values in zip(table.features, table.values.T):
        if feature.kind == "numeric":
            real = np.where(np.isfinite(values), values, np.nan)
            if len(np.unique(real[~np.isnan(real)][:SOME])) > 2 or len(np.unique(real[~np.isnan(real)])) > 2:
                yield feature.name, real


def _levels(table: Table) -> Iterator[tuple[str, Floats]]:
    """A variable per level, also of columns of few numbers, that enough rows have and enough have not."""
    least = max(RARE, RARE_SHARE * len(table))
    for feature, values in zip(table.features, table.values.T):
        for name, level in _few(feature, values):
            has = values == level
            if least <= has.sum() <= len(has) - least:
                yield f"{feature.name}={name}", has.astype(np.float64)


def _few(feature: Feature, values: Floats) -> list[tuple[str, float]]:
    if feature.kind != "numeric":
        return [(name, float(code)) for code, name in enumerate(feature.levels)] if len(feature.levels) <= FEW * 4 else []
    if len(np.unique(values[:SOME])) > FEW:
        return []
    found = np.unique(values[np.isfinite(values)])
    return [(f"{value:g}", float(value)) for value in found] if len(found) <= FEW else []


def _orientation(values: Floats) -> bytes:
    """The same for a level and for its absence."""
    return np.packbits(values == values[0]).tobytes()


def _evenly(found: list[tuple[str, Floats]]) -> list[tuple[str, Floats]]:
    """Of very many those of the most and the least even shape: a copy has the same ones, but for a few."""
    if len(found) <= MOST:
        return found
    order = np.argsort([np.nanmean(np.abs(_scaled(values[~np.isnan(values)]))) for _, values in found], kind="stable")
    return [found[index] for index in sorted([*order[: MOST // 2], *order[-(MOST // 2) :]])]


def _commonest(found: list[tuple[str, Floats]], room: int) -> list[tuple[str, Floats]]:
    """Levels that come nearest to half of the rows."""
    order = np.argsort([abs(values.mean() - 0.5) for _, values in found], kind="stable")[: max(0, room)]
    return [found[index] for index in sorted(order)]


def _scaled(values: Floats) -> Floats:
    deviation = values.std() if len(values) else 0.0
    scaled: Floats = (values - values.mean()) / deviation if deviation else np.zeros(len(values))
    return scaled


def _upper(values: Floats) -> float:
    """Share of the greater of two values."""
    return float((values == values.max()).mean()) if len(values) else 0.5


def _by_value(z: Floats) -> tuple[Floats, ...]:
    return np.tanh(z), np.exp(-z * z / 2), np.sin(2 * z)


def _by_rank(values: Floats) -> tuple[Floats, ...]:
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    u = ((np.cumsum(counts) - (counts + 1) / 2) / max(1, len(values)))[codes] - 0.5
    return u, u * u, u**3


def _orthogonal(raw: Sequence[Floats]) -> Iterator[Floats]:
    """Each standardised and without what the ones before it say; zero where nothing is left."""
    done: list[Floats] = []
    for feature in raw:
        spread = feature.std()
        rest = feature - feature.mean()
        for one in done:
            rest = rest - (rest @ one / len(one)) * one
        left = rest.std() if len(rest) else 0.0
        done.append(rest / left if left > FLAT**0.5 * spread and spread > 0 else np.zeros(len(feature)))
        yield done[-1]


def diagonal(links: Floats) -> Floats:
    """Variables × orders: what stands within variables."""
    each = np.arange(len(links))
    return np.stack([links[each, order, each, order] for order in range(ORDERS)], axis=1)


def _half(links: Floats) -> Floats:
    flat = links.reshape(links.shape[0] * ORDERS, -1)
    half: Floats = flat[np.triu_indices(len(flat))]
    return half


def _whole(there: Hashes, stored: Hashes, count: int) -> Floats:
    size = count * ORDERS
    above = np.triu_indices(size)
    present = np.unpackbits(there.astype("<u8").view(np.uint8))[: len(above[0])].astype(bool)
    half = np.full(len(above[0]), np.nan)
    half[present] = stored.astype("<u8").view("<f4")[: present.sum()]
    out = np.empty((size, size))
    out[above] = half
    out.T[above] = half
    return out.reshape(count, ORDERS, count, ORDERS)


def _packed(values: np.ndarray[Any, Any]) -> Hashes:
    raw = values.tobytes()
    return np.frombuffer(raw + bytes(-len(raw) % 8), "<u8").astype(np.uint64)
