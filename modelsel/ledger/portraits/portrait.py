"""A table as aggregates: how its columns hang together, whatever their names, units, levels and the order of the rows.

A column of numbers is one variable; each level, and each number of a column of few, is one of its own (present or not; those
of few rows take no part, so that nearly unique columns have none). Each variable is described by at most three features, made
orthogonal to each other and standardised:

    by value    tanh z, exp(−z²/2), sin 2z      z = (x − mean)/deviation: the same in any unit
    by rank     u, u², u³                       u = middle rank: the same under any increasing map (`ledger.portraits.features`)

What is remembered are the means of the features by value, the shares of levels (the shape of a variable), and the
correlations of features of different variables. They are sums over all rows of a table in units of its own: no value, and of
no row. Two samples of one source differ in them by their standard errors, a copy does not (`ledger.portraits.likeness`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from modelsel.core.types import Booleans, Feature, Floats, Integers, Table
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.features import ORDERS, Told, level, levels_of_many, scaled, told, told_of_many
from modelsel.ledger.rows.identity import Hashes, text_tokens
from modelsel.ledger.rows.matching import keyed
from modelsel.ledger.rows.order import Dense, Order
from modelsel.ledger.rows.row_set import RowSet

FEWEST = 60  # rows below which a table has no portrait
MOST = 40  # features of a portrait
LARGE = 100_000  # rows from which a variable has one feature
AT_ONCE = 2000  # rows up to which many columns are reckoned together
BY_NUMBERS = 30  # of which of numbers, where these have more than one
FEW, SOME = 10, 1000  # distinct numbers up to which they are levels too; rows that are looked at first
RARE, RARE_SHARE = 10, 0.02  # rows, and share, that a level needs on either side
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

    @cached_property
    def profiles(self) -> dict[str, Floats]:
        """By view, quantiles of the strength with which each variable hangs together with the others."""
        strengths = {view: np.nan_to_num(np.abs(links[:, 0, :, 0])) for view, links in self.links.items()}
        return {view: np.quantile(one, np.linspace(0.3, 1, 8), axis=1).T for view, one in strengths.items()}

    @property
    def shapes(self) -> Floats:
        """Variables × orders: the means by value."""
        return diagonal(self.links["value"])

    def stored(self) -> RowSet:
        """Reduce to what is stored: half of each symmetric table, in single precision, without what is absent."""
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
    dense: tuple[Dense, ...] = ()  # ranks of the numbers, where they are at hand and none is missing

    def links(self, rows: Integers | None, view: str, known: dict[int, Told] | None = None) -> Floats:
        """Correlations of all features over some rows (None: all), and their means.

        `known` keeps levels from one view to the next: they are the same in both.
        """
        values = self.values if rows is None else self.values[rows]
        count = len(self.binary)
        means = np.full((count, ORDERS), np.nan)
        places: list[int] = []
        features = np.empty((len(self), len(values)))
        for index, found_of_it in self._every(values, view, rows is None, known):
            for order, (mean, feature) in enumerate(found_of_it):
                means[index, order] = mean
                if feature.any():
                    features[len(places)] = feature
                    places.append(index * ORDERS + order)
        found = np.full((count * ORDERS, count * ORDERS), np.nan)
        kept = features[: len(places)]
        found[np.ix_(places, places)] = kept @ kept.T / max(1, len(values))
        links: Floats = found.reshape(count, ORDERS, count, ORDERS)
        each = np.arange(count)
        links[each, :, each] = np.nan
        for order in range(ORDERS):
            links[each, order, each, order] = means[:, order]
        return links

    def __len__(self) -> int:
        """The most features that there may be."""
        return int(np.where(self.binary, 1, self.orders).sum())

    def _every(self, values: Floats, view: str, all_rows: bool, known: dict[int, Told] | None) -> Iterator[tuple[int, Told]]:
        """Each variable with the mean and the standardised values of its features; many at once where there are few rows."""
        one_by_one = np.arange(len(self.binary))
        if not all_rows and len(values) <= AT_ONCE:
            whole = np.isfinite(values).all(axis=0)
            numbers, levels = np.flatnonzero(whole & ~self.binary), np.flatnonzero(whole & self.binary)
            columns = np.ascontiguousarray(values.T)
            yield from zip(numbers.tolist(), told_of_many(columns[numbers], view, self.orders))
            yield from zip(levels.tolist(), levels_of_many(columns[levels]))
            one_by_one = np.flatnonzero(~whole)
        for index in one_by_one.tolist():
            yield index, self._told(values[:, index], index, view, all_rows, known)

    def _told(self, values: Floats, index: int, view: str, all_rows: bool, known: dict[int, Told] | None) -> Told:
        """Compute a variable's features; those of a binary variable are kept, as all views share them."""
        if not self.binary[index]:
            return told(values, view, self.orders, self.dense[index] if all_rows and self.dense else None)
        if known is None:
            return level(values)
        if index not in known:
            known[index] = level(values)
        return known[index]


def variables(table: Table, order: Order | None = None) -> Variables | None:
    """None where the table has too few rows, or too few columns that say anything; `order` is the table's, if at hand."""
    if len(table) < FEWEST:
        return None
    numbers = _evenly(list(_numbers(table)))
    orders = next(k for k in (ORDERS, 2, 1) if k == 1 or (len(numbers) * k <= BY_NUMBERS and len(table) <= LARGE))
    levels = list({_orientation(one[1]): one for one in _levels(table)}.values())
    found = [*numbers, *_commonest(levels, MOST - orders * len(numbers))]
    if len(found) < 2:
        return None
    binary = np.arange(len(found)) >= len(numbers)
    values = np.empty((len(table), len(found)), order="F")  # read by column
    for place, (_, column) in enumerate(found):
        values[:, place] = column
    return Variables(
        values, binary, orders, tuple(name for name, _ in found), _ranks(table, [name for name, _ in numbers], order)
    )


def _ranks(table: Table, names: Sequence[str], order: Order | None) -> tuple[Dense, ...]:
    """Those of a table whose numbers are finite, all of them."""
    places = {feature.name: index for index, feature in enumerate(table.features)}
    wanted = [places[name] for name in names]
    return tuple(order[index] for index in wanted) if order is not None and np.isfinite(table.values[:, wanted]).all() else ()


def drawn(found: Variables, key: IdentityKey) -> Portrait:
    """Draw the portrait of a table's variables."""
    known: dict[int, Told] = {}
    links = {view: found.links(None, view, known) for view in VIEWS}
    return Portrait(len(found.values), _labels(found.labels, key), found.binary, links)


def _labels(names: Sequence[str], key: IdentityKey) -> Hashes:
    return keyed(text_tokens([f"variable {name}" for name in names]), key)


def _numbers(table: Table) -> Iterator[tuple[str, Floats]]:
    """Numeric columns of more than two values."""
    for feature, values in zip(table.features, table.values.T):
        if feature.kind == "numeric":
            real = values if np.isfinite(values).all() else np.where(np.isfinite(values), values, np.nan)
            if len(np.unique(real[~np.isnan(real)][:SOME])) > 2 or len(np.unique(real[~np.isnan(real)])) > 2:
                yield feature.name, real


def _levels(table: Table) -> Iterator[tuple[str, Booleans]]:
    """A variable per level, also of columns of few numbers, that enough rows have and enough have not."""
    least = max(RARE, RARE_SHARE * len(table))
    for feature, values in zip(table.features, table.values.T):
        for name, code in _few(feature, values):
            has = values == code
            if least <= np.count_nonzero(has) <= len(has) - least:
                yield f"{feature.name}={name}", has


def _few(feature: Feature, values: Floats) -> list[tuple[str, float]]:
    """List the values of a feature that has few, with their names."""
    if feature.kind != "numeric":
        return [(name, float(code)) for code, name in enumerate(feature.levels)] if len(feature.levels) <= FEW * 4 else []
    if len(np.unique(values[:SOME])) > FEW:
        return []
    found = np.unique(values[np.isfinite(values)])
    return [(f"{value:g}", float(value)) for value in found] if len(found) <= FEW else []


def _orientation(has: Booleans) -> bytes:
    """The same for a level and for its absence."""
    return np.packbits(has == has[0]).tobytes()


def _evenly(found: list[tuple[str, Floats]]) -> list[tuple[str, Floats]]:
    """Take, of very many columns, those of the most and the least even shape: a copy has nearly the same ones."""
    if len(found) <= MOST:
        return found
    order = np.argsort([np.nanmean(np.abs(scaled(values[~np.isnan(values)]))) for _, values in found], kind="stable")
    return [found[index] for index in sorted([*order[: MOST // 2], *order[-(MOST // 2) :]])]


def _commonest(found: list[tuple[str, Booleans]], room: int) -> list[tuple[str, Booleans]]:
    """Levels that come nearest to half of the rows."""
    order = np.argsort([abs(np.count_nonzero(has) / len(has) - 0.5) for _, has in found], kind="stable")[: max(0, room)]
    return [found[index] for index in sorted(order)]


def diagonal(links: Floats) -> Floats:
    """Variables × orders: what stands within variables."""
    each = np.arange(len(links))
    return np.stack([links[each, order, each, order] for order in range(ORDERS)], axis=1)


def _half(links: Floats) -> Floats:
    flat = links.reshape(links.shape[0] * ORDERS, -1)
    half: Floats = flat[_above(len(flat))]
    return half


def _whole(there: Hashes, stored: Hashes, count: int) -> Floats:
    """Rebuild a symmetric array from the stored part above its diagonal."""
    size = count * ORDERS
    above = _above(size)
    present = np.unpackbits(there.astype("<u8").view(np.uint8))[: len(above[0])].astype(bool)
    half = np.full(len(above[0]), np.nan)
    half[present] = stored.astype("<u8").view("<f4")[: present.sum()]
    out = np.empty((size, size))
    out[above] = half
    out.T[above] = half
    return out.reshape(count, ORDERS, count, ORDERS)


@lru_cache(maxsize=2 * MOST)
def _above(size: int) -> tuple[Integers, Integers]:
    return np.triu_indices(size)


def _packed(values: np.ndarray[Any, Any]) -> Hashes:
    raw = values.tobytes()
    return np.frombuffer(raw + bytes(-len(raw) % 8), "<u8").astype(np.uint64)
