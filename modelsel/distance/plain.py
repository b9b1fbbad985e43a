"""Distances in NumPy: features added up in their order, one element at a time. The oracle of every search."""

from typing import NamedTuple

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.distance.base import LEVELS, NAME, FittedDistance

SPLIT = 8193.0  # 2¹³ + 1


class Neighbours(NamedTuple):
    """Per query, the nearest stored rows, nearest first: `rows` (positions) and `distance` are queries × count."""

    rows: Integers
    distance: Floats


def plain_search(metric: FittedDistance, stored: Floats, queries: Floats, count: int) -> Neighbours:
    """All distances, sorted by (rounded distance, position)."""
    return nearest_in_order(distances(metric, stored, queries), np.arange(stored.shape[1])[None], count)


def nearest_in_order(distance: Floats, rows: Integers, count: int) -> Neighbours:
    """The first `count` of some rows (queries × rows, ascending positions) by rounded distance, then position."""
    order = np.argsort(round_distance(distance), axis=1, kind="stable")[:, :count]
    everywhere = np.broadcast_to(rows, distance.shape)
    return Neighbours(np.take_along_axis(everywhere, order, axis=1), np.take_along_axis(distance, order, axis=1))


def distances(metric: FittedDistance, stored: Floats, queries: Floats) -> Floats:
    """Distances, queries × stored rows; `stored` is features × rows, or features × queries × rows of each query's own."""
    total = np.zeros((queries.shape[1], stored.shape[-1]))
    known = np.zeros_like(total)
    for f in range(len(stored)):
        term = _terms(metric, f, stored[f], queries[f][:, None])
        known += ~np.isnan(term)
        if np.isinf(metric.power):
            np.maximum(total, term, out=total)
        else:
            total += np.nan_to_num(term**metric.power)
    if metric.known_only:
        return np.where(known > 0, total / np.maximum(known, 1), 1.0)
    return _root(total, metric.power)


def round_distance(distance: Floats) -> Floats:
    """Round to 40 binary digits (Veltkamp 1968), which is 12 decimal ones.

    >>> float(round_distance(np.array([0.1 + 0.2]))[0]) == float(round_distance(np.array([0.3]))[0])
    True
    """
    product = np.minimum(distance, 1e300) * SPLIT
    return np.where(distance > 1e300, distance, product - (product - distance))


def _root(total: Floats, power: float) -> Floats:
    """Take the root that a Minkowski distance of this power ends with."""
    if power == 2:
        return np.sqrt(total)
    if power == 1 or np.isinf(power):
        return total
    root: Floats = np.power(total, 1 / power)
    return root


def _terms(metric: FittedDistance, f: int, column: Floats, value: Floats) -> Floats:
    """Compute one feature's differences between a value and the values of a column."""
    term: Floats
    if metric.kinds[f] == NAME:
        term = (column != value).astype(np.float64)
    elif metric.kinds[f] == LEVELS:
        size = int(metric.sizes[f])
        table = metric.tables[metric.first[f] :][: size * size].reshape(size, size)
        term = table[np.nan_to_num(value).astype(int), np.nan_to_num(column).astype(int)]
    else:
        term = np.abs(column - value)
    return np.where(np.isnan(column) | np.isnan(value), metric.missing[f], term)
