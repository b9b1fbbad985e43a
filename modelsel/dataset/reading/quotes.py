"""Check that the quotes of a text are whole, block by block and without a walk through its cells.

Every quote opens or closes, in turn. One that opens stands where a cell begins, one that closes where a cell ends; a quote
written twice within a cell closes and opens at once. Whatever is not so by this look (a quote within a bare cell, which is
allowed; a cell longer than Python's reader takes) is left to the walk, which is strict and knows the line.
"""

import csv

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Integers

QUOTE, ENDS = 34, (10, 13)  # the byte, and those that end a line


class QuoteCheck:
    """Feed it the blocks of a text in their order; `whole` says that nothing is left to the walk."""

    def __init__(self, delimiter: str) -> None:
        """Start at the beginning of a record."""
        sign = delimiter.encode()
        self.whole = len(sign) == 1
        self._beside = np.zeros(256, np.bool_)  # what may stand before a quote that opens, and after one that closes
        self._beside[[*ENDS, QUOTE, *sign[:1]]] = True
        self._longest = csv.field_size_limit()
        self._last, self._open, self._closing = 10, False, False
        self._length = 0  # bytes since the last record ended

    def feed(self, block: bytes) -> None:
        """Look at the next block."""
        data = np.frombuffer(block, np.uint8)
        if not self.whole or not len(data):
            return
        quotes = np.flatnonzero(data == QUOTE)
        opens, closes = (quotes[1::2], quotes[::2]) if self._open else (quotes[::2], quotes[1::2])
        before = np.where(opens > 0, data[opens - 1], self._last)
        inside = closes[closes + 1 < len(data)]
        self.whole = bool(
            self._beside[before].all()
            and self._beside[data[inside + 1]].all()
            and (not self._closing or self._beside[data[0]])
            and self._short(data, quotes)
        )
        self._closing = len(inside) < len(closes)
        self._open ^= bool(len(quotes) % 2)
        self._last = int(data[-1])

    def end(self) -> bool:
        """Return whether all of it was whole; a quote that is still open is not."""
        return self.whole and not self._open

    def _short(self, data: NDArray[np.uint8], quotes: Integers) -> bool:
        """Say whether no record is longer than the longest cell that Python's reader takes."""
        ends = np.flatnonzero(data == ENDS[0])
        ends = ends[np.searchsorted(quotes, ends) % 2 == self._open]  # those outside of quotes
        lengths = np.diff(np.concatenate([[-1 - self._length], ends]))
        self._length = len(data) - 1 - int(ends[-1]) if len(ends) else self._length + len(data)
        return max(int(lengths.max(initial=0)), self._length) <= self._longest
