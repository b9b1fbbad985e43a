"""The k nearest stored rows of each query, by compiled code or by its twin: the same rows, the same distances.

Order is (distance rounded to 40 binary digits, position): stored rows lie in the order of their digests, so that a tie
goes by what a row is and never by where it stood, in which block it came or on which thread.
"""

from typing import NamedTuple

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.distance._metric import LEVELS, NAME, Metric
from modelsel.kernels import compiler, stop

QUERIES = 256  # at a time: what is held in memory, and how often the stop flag is looked at
SPLIT = 8193.0


class Neighbours(NamedTuple):
    """Per query, the nearest stored rows, nearest first: `rows` (positions) and `distance` are queries × count."""

    rows: Integers
    distance: Floats


def nearest(metric: Metric, stored: Floats, queries: Floats, count: int) -> Neighbours:
    """Exact neighbours of encoded queries among encoded stored rows (both features × rows, C order), count ≤ rows."""
    parts = [Neighbours(np.empty((0, count), np.int64), np.empty((0, count)))]
    for start in range(0, queries.shape[1], QUERIES):
        if stop.FLAG[0]:
            raise stop.Stopped
        block = np.ascontiguousarray(queries[:, start : start + QUERIES])
        parts.append(_search(metric, stored, block, count))
    return Neighbours(*(np.concatenate(columns) for columns in zip(*parts)))


def _search(metric: Metric, stored: Floats, queries: Floats, count: int) -> Neighbours:
    kernels = compiler.load("neighbours")
    if kernels is None:
        return plain_search(metric, stored, queries, count)
    found = kernels.search(
        stored, queries, metric.kinds, metric.missing, metric.sizes, metric.first, metric.tables,
        metric.power, metric.known_only, count,
    )  # fmt: skip
    return Neighbours(*found)


def plain_search(metric: Metric, stored: Floats, queries: Floats, count: int) -> Neighbours:
    """The twin in NumPy: all distances, sorted."""
    distance = distances(metric, stored, queries)
    order = np.argsort(rounded(distance), axis=1, kind="stable")[:, :count]
    return Neighbours(order, np.take_along_axis(distance, order, axis=1))


def distances(metric: Metric, stored: Floats, queries: Floats) -> Floats:
    """All distances, queries × stored rows."""
    total = np.zeros((queries.shape[1], stored.shape[1]))
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


def _root(total: Floats, power: float) -> Floats:
    if power == 2:
        return np.sqrt(total)
    if power == 1 or np.isinf(power):
        return total
    root: Floats = np.power(total, 1 / power)
    return root


def _terms(metric: Metric, f: int, column: Floats, value: Floats) -> Floats:
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


def rounded(distance: Floats) -> Floats:
    """To 40 binary digits (Veltkamp 1968), which is 12 decimal ones.

    >>> float(rounded(np.array([0.1 + 0.2]))[0]) == float(rounded(np.array([0.3]))[0])
    True
    """
    product = np.minimum(distance, 1e300) * SPLIT
    return np.where(distance > 1e300, distance, product - (product - distance))
