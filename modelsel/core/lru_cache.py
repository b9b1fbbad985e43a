"""Remembering the last few fits of a process, so that cells of one fold that need the same one make it once.

A key names everything that the value depends on, so that forgetting changes nothing but the time it takes.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from math import inf
from threading import Lock, RLock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class LRUCache(Generic[Value]):
    """A cache of `size` values, least recently used ones leave first. Threads that want a value wait while another makes it.

    `most` is what all together may weigh; a value that weighs more alone stands alone.
    """

    def __init__(self, size: int, most: float = inf, weigh: Callable[[Value], float] = lambda _: 0.0) -> None:
        """Remember nothing yet."""
        self._size, self._most, self._weigh = size, most, weigh
        self._lock = Lock()
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._making: dict[Hashable, tuple[RLock, list[None]]] = {}  # who is at it, and how many wait

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key, made when it is not remembered."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            turn, waiting = self._making.setdefault(key, (RLock(), []))
            waiting.append(None)
        try:
            with turn:
                return self._make(key, make)
        finally:
            with self._lock:
                waiting.pop()
                if not waiting:
                    self._making.pop(key, None)

    def _weight(self) -> float:
        return sum(map(self._weigh, self._values.values()))

    def _make(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Make a value, unless another thread has made it in the meantime."""
        with self._lock:
            if key in self._values:
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._size or (len(self._values) > 1 and self._weight() > self._most):
                self._values.popitem(last=False)
        return value
