"""The variables of a table, of which portraits are drawn: its columns of numbers, and levels that are present or not.

A variable is read from the table's columns when it is asked for: nothing but the table holds its values.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from modelsel.core.types import Booleans, Feature, Floats, Integers, Table
from modelsel.core.whole_table import WholeTable, whole
from modelsel.ledger.rows.channels import Dense, Order

# The features of a column in a portrait: at most three, made orthogonal to each other and standardised.
#
#     by value    tanh z, exp(−z²/2), sin 2z      z = (x − mean)/deviation
#     by rank     u, u², u³                       u = middle rank, from −½ to ½
#
# A level is one feature: whether a row has it. Of few rows many columns are reckoned at once.


ORDERS = 3  # features of a variable
FLAT = 1e-3  # remaining variance from which a feature says nothing of its own

Told = tuple[tuple[float, Floats], ...]  # mean and standardised values of the features of a variable


def mean_and_scaled(values: Floats, view: str, orders: int, ranks: Dense | None = None) -> Told:
    """Mean (by value, else NaN) and standardised values of each feature of a column of numbers, nought where none is.

    >>> [round(mean, 3) for mean, _ in mean_and_scaled(np.array([1.0, 2.0, 3.0, np.nan]), "value", 2)]
    [0.0, 0.648]
    """
    there = ~np.isnan(values)
    whole = bool(there.all())
    kept = values if whole else values[there]
    if view == "value":
        raw = _by_value(standardise(kept), orders)
    else:
        raw = _powers((ranks if ranks is not None and whole else Dense.of(kept)).middle, orders)
    found = zip(raw, _orthogonal(raw))
    return tuple((float(one.mean()) if view == "value" else np.nan, _spread(feature, there, whole)) for one, feature in found)


def told_of_many(values: Floats, view: str, orders: int) -> tuple[Floats, Floats]:
    """Means and standardised features of many columns without gaps, … × rows: orders × …, and orders × … × rows."""
    if view == "value":
        deviations = values.std(axis=-1, keepdims=True)
        z = (values - values.mean(axis=-1, keepdims=True)) / np.where(deviations > 0, deviations, np.inf)
        raw = _by_value(z, orders)
        means = np.stack([one.mean(axis=-1) for one in raw])
    else:
        raw = _powers(_middle_ranks(values), orders)
        means = np.full((orders, *values.shape[:-1]), np.nan)
    return means, np.stack(list(_orthogonal(raw)))


def level(values: Floats) -> Told:
    """Of two values the share of the greater, less ½; and both standardised, nought where there is none."""
    there = ~np.isnan(values)
    whole = bool(there.all())
    kept = values if whole else values[there]
    if not len(kept):
        return ((0.0, np.zeros(len(values))),)
    mean, feature = levels_of_many(kept)
    return ((float(mean), _spread(feature, there, whole)),)


def levels_of_many(values: Floats) -> tuple[Floats, Floats]:
    """Shares and standardised levels of many columns without gaps, … × rows: the means, and … × rows."""
    high = values == values.max(axis=-1, keepdims=True)
    shares = high.sum(axis=-1) / values.shape[-1]
    deviations = np.sqrt(shares * (1 - shares))
    scale = np.where(deviations > 0, deviations, np.inf)
    features = np.where(high, ((1 - shares) / scale)[..., None], (-shares / scale)[..., None])
    return shares - 0.5, features


def standardise(values: Floats) -> Floats:
    """Subtract the mean and divide by the deviation; nought where there is none."""
    deviation = values.std() if len(values) else 0.0
    found: Floats = (values - values.mean()) / deviation if deviation else np.zeros(len(values))
    return found


def _by_value(z: Floats, orders: int) -> tuple[Floats, ...]:
    features = (np.tanh, lambda z: np.exp(-z * z / 2), lambda z: np.sin(2 * z))
    return tuple(feature(z) for feature in features[:orders])


def _powers(u: Floats, orders: int) -> tuple[Floats, ...]:
    return tuple(u if power == 1 else u**power for power in range(1, orders + 1))


def _middle_ranks(values: Floats) -> Floats:
    """The mean place among … × rows of the values equal to each, from −½ to ½."""
    order, places = np.argsort(values, axis=-1), np.arange(values.shape[-1])
    ordered = np.take_along_axis(values, order, axis=-1)
    new = np.concatenate([np.ones((*values.shape[:-1], 1), bool), ordered[..., 1:] != ordered[..., :-1]], axis=-1)
    first = np.maximum.accumulate(np.where(new, places, 0), axis=-1)
    ends = np.where(np.roll(new, -1, axis=-1), places, len(places))
    last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 / len(places) - 0.5, axis=-1)
    return ranks


def _orthogonal(raw: Sequence[Floats]) -> Iterator[Floats]:
    """Each standardised and without what the ones before it say; zero where nothing is left. The last axis are rows."""
    done: list[Floats] = []
    for feature in raw:
        if not feature.size:
            yield feature
            continue
        spread = feature.std(axis=-1, keepdims=True)
        rest = feature - feature.mean(axis=-1, keepdims=True)
        for one in done:
            rest = rest - np.vecdot(rest, one)[..., None] / one.shape[-1] * one
        left = rest.std(axis=-1, keepdims=True)
        says = (left > FLAT**0.5 * spread) & (spread > 0)
        done.append(np.where(says, rest, 0.0) / np.where(says, left, 1.0))
        yield done[-1]


def _spread(feature: Floats, there: Booleans, whole: bool) -> Floats:
    """Nought where a row has no value."""
    if whole:
        return feature
    spread = np.zeros(len(there))
    spread[there] = feature
    return spread


# The variables of a table, read from its columns when they are asked for.

FEWEST = 60  # rows below which a table has no portrait
MOST = 40  # features of a portrait
LARGE = 100_000  # rows from which a variable has one feature
BY_NUMBERS = 30  # of which of numbers, where these have more than one
FEW, SOME = 10, 1000  # distinct numbers up to which they are levels too; rows that are looked at first
RARE, RARE_SHARE = 10, 0.02  # rows, and share, that a level needs on either side


@dataclass(frozen=True)
class Variable:
    """A column of numbers, or with `level` the rows that have this value in it; `count` says how many those are."""

    name: str
    column: int
    level: float | None = None
    count: int = 0

    def of(self, values: Floats) -> Floats:
        """The variable from values of its column: NaN where missing."""
        if self.level is not None:
            return np.asarray(values == self.level, np.float64)
        finite = np.isfinite(values)
        return values if finite.all() else np.where(finite, values, np.nan)


@dataclass(frozen=True, eq=False)
class Variables:
    """The variables of a table."""

    table: WholeTable
    variables: tuple[Variable, ...]
    orders: int  # features of those that are not binary
    dense: tuple[Dense, ...] = ()  # ranks of the numbers, where they are at hand and none is missing

    @property
    def rows(self) -> int:
        return len(self.table)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.variables)

    @property
    def columns(self) -> Integers:
        """The table's column of each variable."""
        return np.array([one.column for one in self.variables], np.intp)

    @cached_property
    def binary(self) -> Booleans:
        return np.array([one.level is not None for one in self.variables])

    def values(self, index: int, rows: Integers | None = None) -> Floats:
        """A variable in some rows (None: all), NaN where missing."""
        one = self.variables[index]
        return one.of(self.table.column(one.column) if rows is None else self.table.cells(one.column, rows))

    def links(self, rows: Integers | None, view: str, known: dict[int, Told] | None = None) -> Floats:
        """Correlations of all features over some rows (None: all), and their means.

        `known` keeps levels from one view to the next: they are the same in both.
        """
        if rows is not None:
            found: Floats = self.links_of(rows[None], view)[0]
            return found
        means = np.full((len(self.variables), ORDERS), np.nan)
        places: list[int] = []
        features = np.empty((len(self), self.rows))
        for index in range(len(self.variables)):
            for order, (mean, feature) in enumerate(self._features_of(self.values(index), index, view, True, known)):
                means[index, order] = mean
                if feature.any():
                    features[len(places)] = feature
                    places.append(index * ORDERS + order)
        kept = features[: len(places)]
        return _links(means, np.array(places, np.intp), kept @ kept.T / self.rows)

    def links_of(self, samples: Integers, view: str) -> Floats:
        """Compute the links of several samples of as many rows (samples × rows) at once."""
        count, rows = samples.shape
        means = np.full((count, len(self.variables), ORDERS), np.nan)
        features = np.zeros((count, len(self), rows))
        columns = np.stack([self.values(index, samples.ravel()).reshape(samples.shape) for index in range(len(self.variables))])
        whole = np.isfinite(columns).all(axis=(1, 2))
        numbers, levels = np.flatnonzero(whole & ~self.binary), np.flatnonzero(whole & self.binary)
        mean, feature = told_of_many(columns[numbers], view, self.orders)
        means[:, numbers, : self.orders] = mean.transpose(2, 1, 0)
        features[:, self._slots[numbers, None] + np.arange(self.orders)] = feature.transpose(2, 1, 0, 3)
        mean, feature = levels_of_many(columns[levels])
        means[:, levels, 0], features[:, self._slots[levels]] = mean.T, feature.transpose(1, 0, 2)
        for index in np.flatnonzero(~whole).tolist():
            for place, values in enumerate(columns[index]):
                for order, (one, spread) in enumerate(self._features_of(values, index, view, False, None)):
                    means[place, index, order], features[place, self._slots[index] + order] = one, spread
        return self._of_samples(means, features)

    def _of_samples(self, means: Floats, features: Floats) -> Floats:
        """Correlations of features, samples × those that there may be × rows; what is nought says nothing."""
        widths = np.where(self.binary, 1, self.orders)
        places = np.repeat(np.arange(len(widths)) * ORDERS - self._slots, widths) + np.arange(len(self))
        found = features @ features.transpose(0, 2, 1) / features.shape[2]
        silent = ~np.any(features, axis=2)
        found[silent[:, :, None] | silent[:, None]] = np.nan
        return np.stack([_links(one, places, table) for one, table in zip(means, found)])

    @cached_property
    def _slots(self) -> Integers:
        """The place of each variable's first feature among all that there may be."""
        widths = np.where(self.binary, 1, self.orders)
        slots: Integers = np.cumsum(widths) - widths
        return slots

    def __len__(self) -> int:
        """The most features that there may be."""
        return int(np.where(self.binary, 1, self.orders).sum())

    def _features_of(self, values: Floats, index: int, view: str, all_rows: bool, known: dict[int, Told] | None) -> Told:
        """Compute a variable's features; those of a binary variable are kept, as all views share them."""
        if not self.binary[index]:
            return mean_and_scaled(values, view, self.orders, self.dense[index] if all_rows and self.dense else None)
        if known is None:
            return level(values)
        if index not in known:
            known[index] = level(values)
        return known[index]


def _links(means: Floats, places: Integers, correlations: Floats) -> Floats:
    """Put correlations at the places of their features, and the means within variables."""
    count = len(means)
    found = np.full((count * ORDERS, count * ORDERS), np.nan)
    found[places[:, None], places] = correlations
    links: Floats = found.reshape(count, ORDERS, count, ORDERS)
    each = np.arange(count)
    links[each, :, each] = np.nan
    for order in range(ORDERS):
        links[each, order, each, order] = means[:, order]
    return links


def variables(table: Table | WholeTable, order: Order | None = None) -> Variables | None:
    """None where the table has too few rows, or too few columns that say anything; `order` is the table's, if at hand."""
    table = whole(table)
    if len(table) < FEWEST:
        return None
    numbers = _evenly(list(_numbers(table)), table)
    orders = next(k for k in (ORDERS, 2, 1) if k == 1 or (len(numbers) * k <= BY_NUMBERS and len(table) <= LARGE))
    levels = list(dict(_levels(table)).values())
    found = (*numbers, *_commonest(levels, MOST - orders * len(numbers), len(table)))
    return None if len(found) < 2 else Variables(table, found, orders, _ranks(table, numbers, order))


def _ranks(table: WholeTable, numbers: Sequence[Variable], order: Order | None) -> tuple[Dense, ...]:
    """Take the ranks of a table whose numbers are finite, all of them."""
    if order is None or not all(np.isfinite(part.values[:, one.column]).all() for one in numbers for part in table.parts):
        return ()
    return tuple(order[one.column] for one in numbers)


def _numbers(table: WholeTable) -> Iterator[Variable]:
    """Numeric columns of more than two values."""
    for index, feature in enumerate(table.features):
        if feature.is_number:
            one = Variable(feature.name, index)
            real = one.of(table.column(index))
            real = real[~np.isnan(real)]
            if any(len(np.unique(real[:many])) > 2 for many in (FEW, SOME, len(real))):
                yield one


def _levels(table: WholeTable) -> Iterator[tuple[bytes, Variable]]:
    """A variable per level, also of columns of few numbers, that enough rows have and enough have not.

    Before it stands what it shares with all that part the rows alike.
    """
    least = max(RARE, RARE_SHARE * len(table))
    for index, feature in enumerate(table.features):
        values = table.column(index)
        for name, code in _few(feature, values):
            has = values == code
            count = int(np.count_nonzero(has))
            if least <= count <= len(has) - least:
                yield _orientation(has), Variable(f"{feature.name}={name}", index, code, count)


def _few(feature: Feature, values: Floats) -> list[tuple[str, float]]:
    """List the values of a feature that has few, with their names."""
    if feature.has_levels:
        return [(name, float(code)) for code, name in enumerate(feature.levels)] if len(feature.levels) <= FEW * 4 else []
    if any(len(np.unique(values[:many])) > FEW for many in (2 * FEW, SOME)):
        return []
    found = np.unique(values[np.isfinite(values)])
    return [(f"{value:g}", float(value)) for value in found] if len(found) <= FEW else []


def _orientation(has: Booleans) -> bytes:
    """The same for a level and for its absence."""
    return np.packbits(has == has[0]).tobytes()


def _evenly(found: list[Variable], table: WholeTable) -> list[Variable]:
    """Of very many those of the most and the least even shape: a copy has the same ones, but for a few."""
    if len(found) <= MOST:
        return found
    columns = (each for some in table.columns([one.column for one in found]) for each in _evenness(some[1]))
    order = np.argsort(list(columns), kind="stable")
    return [found[index] for index in sorted([*order[: MOST // 2], *order[-(MOST // 2) :]])]


def _evenness(columns: Floats) -> Sequence[float]:
    """The mean absolute deviation of each column, in standard deviations."""
    finite = np.isfinite(columns)
    if not finite.all():
        return [float(np.abs(standardise(values[known])).mean()) for values, known in zip(columns, finite, strict=True)]
    deviation = columns.std(axis=1, keepdims=True)
    scaled = (columns - columns.mean(axis=1, keepdims=True)) / np.where(deviation == 0, np.inf, deviation)
    return list(np.abs(scaled).mean(axis=1))


def _commonest(found: list[Variable], room: int, rows: int) -> list[Variable]:
    """Levels that come nearest to half of the rows."""
    order = np.argsort([abs(one.count / rows - 0.5) for one in found], kind="stable")[: max(0, room)]
    return [found[index] for index in sorted(order)]
