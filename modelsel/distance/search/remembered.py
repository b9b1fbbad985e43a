"""The last searches of a study's cells: two distances that are one and the same on some rows search them once.

HEOM and the Euclidean distance by ranges differ where a name or a missing value is compared, and nowhere else. Whoever asks
for what another thread is searching already waits for it. Outside of cells (`shared`) nothing is remembered.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from threading import Lock

import numpy as np

from modelsel.core.types import Floats
from modelsel.distance.base import NUMBER, FittedDistance
from modelsel.distance.search.plain import Neighbours
from modelsel.distance.search.search import nearest

KEPT = 4
WORTH = 1 << 20  # distances from which a digest of the rows costs less than a hundredth of the search

_LOCK = Lock()
_SHARED: ContextVar[bool] = ContextVar("shared", default=False)
_SEARCHES: OrderedDict[Hashable, Future[Neighbours]] = OrderedDict()


@contextmanager
def shared() -> Iterator[None]:
    """Remember searches within the block, in this thread, and find them again."""
    token = _SHARED.set(True)
    try:
        yield
    finally:
        _SHARED.reset(token)


def neighbours(metric: FittedDistance, stored: Floats, queries: Floats, count: int) -> Neighbours:
    """Search as `nearest` does, unless these very rows were searched by the same differences already."""
    small = stored.shape[1] * queries.shape[1] < WORTH
    if small or not _SHARED.get() or not _by_numbers(metric, stored, queries):
        return nearest(metric, stored, queries, count)
    key = metric.power, count, stored.shape, queries.shape, _digest(stored), _digest(queries)
    with _LOCK:
        known = _SEARCHES.get(key)
        own = _SEARCHES[key] = known or Future()
        _SEARCHES.move_to_end(key)
        while len(_SEARCHES) > KEPT:
            _SEARCHES.popitem(last=False)
    if known is not None and known.exception() is None:
        return known.result()
    try:
        found = nearest(metric, stored, queries, count)
    except BaseException as problem:
        _forget(key, own)
        if own is not known:
            own.set_exception(problem)
        raise
    if own is not known:
        own.set_result(found)
    return found


def _forget(key: Hashable, failed: Future[Neighbours]) -> None:
    with _LOCK:
        if _SEARCHES.get(key) is failed:
            del _SEARCHES[key]


def _by_numbers(metric: FittedDistance, stored: Floats, queries: Floats) -> bool:
    """Say whether the distance is made of differences of known numbers alone."""
    numbers = bool((metric.kinds == NUMBER).all()) and not metric.known_only
    return numbers and not (np.isnan(stored).any() or np.isnan(queries).any())


def _digest(values: Floats) -> bytes:
    return blake2b(np.ascontiguousarray(values).data, digest_size=16).digest()
