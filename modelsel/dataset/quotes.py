"""Quotes and NUL bytes of a text table: what is broken is an error with its line.

Quotes are checked block by block and without a walk through the cells. Every quote opens or closes, in turn. One that opens
stands where a cell begins, one that closes where a cell ends; a quote written twice within a cell closes and opens at once.
Whatever is not so by this look (a quote within a bare cell, which is allowed; a cell longer than Python's reader takes) is left
to the walk, which is strict and knows the line.
"""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import DataError, Problem
from modelsel.core.types import Integers
from modelsel.dataset.files import Stream, lines_of, text_blocks
from modelsel.dataset.lines import TakenLines

QUOTE, ENDS = 34, (10, 13)  # the byte, and those that end a line
NEAR = 1 << 18  # bytes looked at in one go
LONGEST_CELL = 1 << 30  # characters: Python's reader takes 131,072 by itself, Arrow a row of four blocks


@contextmanager
def long_cells() -> Iterator[None]:
    """Let Python's reader take long cells: a text of a patient may have more than 131,072 characters."""
    usual = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


class QuoteCheck:
    """Feed it the blocks of a text: `whole` leaves nothing to the walk, and with `lines` no cell holds the end of a line."""

    def __init__(self, delimiter: str) -> None:
        """Start at the beginning of a record."""
        sign = delimiter.encode()
        self.whole, self.lines = len(sign) == 1, True
        self._beside = np.zeros(256, np.bool_)  # what may stand before a quote that opens, and after one that closes
        self._beside[[*ENDS, QUOTE, *sign[:1]]] = True
        self._longest = csv.field_size_limit()
        self._last, self._open, self._closing = 10, False, False
        self._length = 0  # bytes since the last record ended

    def feed(self, block: bytes) -> None:
        """Look at the next block."""
        data = np.frombuffer(block, np.uint8)
        for start in range(0, len(data) if self.whole else 0, NEAR):
            self._look(data[start : start + NEAR])

    def end(self) -> bool:
        """Say at the end of the file whether every quote was closed."""
        return self.whole and not self._open

    def _look(self, data: NDArray[np.uint8]) -> None:
        """Look at some bytes."""
        found = data == QUOTE
        for end in ENDS:
            found |= data == end
        places = np.flatnonzero(found)
        is_quote = data[places] == QUOTE
        within = (np.cumsum(is_quote)[~is_quote] + self._open) % 2 == 1
        quotes, ends = places[is_quote], places[~is_quote]
        opens, closes = (quotes[1::2], quotes[::2]) if self._open else (quotes[::2], quotes[1::2])
        before = np.where(opens > 0, data[opens - 1], self._last)
        inside = closes[closes + 1 < len(data)]
        self.whole &= bool(
            self._beside[before].all()
            and self._beside[data[inside + 1]].all()
            and (not self._closing or self._beside[data[0]])
            and self._short(ends[~within], len(data))
        )
        self.lines &= not within.any()
        self._closing = len(inside) < len(closes)
        self._open ^= bool(len(quotes) % 2)
        self._last = int(data[-1])

    def _short(self, ends: Integers, size: int) -> bool:
        """Say whether no record is longer than the longest cell that Python's reader takes."""
        lengths = np.diff(ends, prepend=-1 - self._length)
        self._length = size - 1 - int(ends[-1]) if len(ends) else self._length + size
        return max(int(lengths.max(initial=0)), self._length) <= self._longest


def without_nul(path: Path, encoding: str) -> Iterator[bytes]:
    """Yield the blocks of a text; DataError at the first NUL byte."""
    for number, block in enumerate(text_blocks(path, encoding)):
        if b"\0" in block:
            raise DataError(_nul(path, encoding, number, block))
        yield block


def _nul(path: Path, encoding: str, number: int, block: bytes) -> Problem:
    """Describe a NUL byte in the block of this number."""
    line = lines_of([*islice(text_blocks(path, encoding), number), block[: block.index(0)]]) + 1
    return Problem("MSEL-313", f"NUL byte in line {line}", str(path), "the file is damaged or no text: write it again")


def broken_quotes(path: Path, encoding: str, delimiter: str, take: TakenLines) -> Iterator[Problem]:
    """A strict walk through a file whose quotes are not all at the ends of cells."""
    text = io.TextIOWrapper(io.BufferedReader(Stream(take.of(text_blocks(path, encoding)))), "utf-8", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    line = 0
    try:
        with long_cells():
            for _ in reader:
                line = reader.line_num
    except csv.Error as error:
        what = f"broken quotes in the record that begins in line {take.number(line + 1)} ({error})"
        yield Problem("MSEL-317", what, str(path), 'close the quote; a quote inside a quoted cell is written ""')
