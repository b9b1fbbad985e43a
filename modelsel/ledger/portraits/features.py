"""The features of a column in a portrait: at most three, made orthogonal to each other and standardised.

    by value    tanh z, exp(−z²/2), sin 2z      z = (x − mean)/deviation
    by rank     u, u², u³                       u = middle rank, from −½ to ½

A level is one feature: whether a row has it. Of few rows many columns are reckoned at once.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from modelsel.core.types import Booleans, Floats
from modelsel.ledger.rows.order import Dense

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
    """The same of many columns at once, … × rows of numbers that are all there: orders × …, and orders × … × rows."""
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
    kept = values[there]
    if not len(kept):
        return ((0.0, np.zeros(len(values))),)
    mean, feature = levels_of_many(kept)
    return ((float(mean), _spread(feature, there, bool(there.all()))),)


def levels_of_many(values: Floats) -> tuple[Floats, Floats]:
    """The same of many, … × rows, all of them there: the means, and … × rows."""
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
