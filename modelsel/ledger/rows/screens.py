"""Screens: a second, cheap hash of each sealed row, so that a table of many rows is tried for sealed ones in a moment.

Of a sealed table those few columns are taken that tell its rows apart best (three, more where these do not); a row's screening
hash is a keyed sum over their cells. An unseen row passes a screen as often as the sealed rows repeat each other: with N1 of m
contents occurring once, Good and Turing's estimate of that chance is 1 − N1 / m (Good, Biometrika 40, 1953).

Screens are files of the home beside the key, one for each sealed set, and no part of the ledger: the hash is no one-way
function. A file is believed as a whole, by a keyed digest; one that was changed is removed, and its rows are not recognised any
more by this way.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from modelsel.core.stored import ARCHIVE, content
from modelsel.core.types import Booleans, Integers, Table
from modelsel.kernels.compiler import load_compiled
from modelsel.ledger.home import Home, write_whole
from modelsel.ledger.rows.identity import Hashes, ascending, feature_tokens, is_among, tally

LEAST, MOST = 3, 16  # columns of a screen
ENOUGH = 1.0  # unseen rows that would pass, of as many as are sealed, below which no further column is taken
USELESS = 0.5  # chance that an unseen row passes, from which a screen says nothing
MARGIN = 0.02
FEWEST = 3  # passing rows below which nothing is said of a larger table
BITS = 64  # marks per sealed row
MANY = 20_000  # cells from which loading the kernel pays
SEAL = 32  # bytes of the keyed digest
FOLDER, KEY, SUFFIX = "screens", "screens.key", ".screen"
MISSING = np.uint64(0xFFC00001)
SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class ScreenColumn:
    """A column of a screen: its name, its place among all columns and among those of numbers, and whether it holds texts."""

    name: str
    place: int
    number: int
    text: bool


@dataclass(frozen=True, eq=False)
class Screen:
    """The screening hashes of one sealed set, sorted; `known` says what share of rows pass it unseen."""

    testset: str
    rows: int
    columns: tuple[ScreenColumn, ...]
    hashes: Hashes
    first: Hashes  # of the cells of the first column alone, each once: a row that has none of them is none of these
    secret: bytes

    @cached_property
    def known(self) -> float:
        """Good and Turing's estimate of the chance that a fresh row passes, one row pessimistic."""
        contents, times = tally(self.hashes)
        repeated = len(self.hashes) - int((times == 1).sum())
        return (repeated + 1) / (len(contents) + repeated + 2) if len(self.hashes) else 1.0

    @property
    def tells(self) -> bool:
        return self.known < USELESS

    def passing(self, cells: Sequence[NDArray[np.generic]]) -> Booleans:
        """Mask the rows whose cells, a column each, have a sealed row's hash."""
        near = self._rows_of_first_cell(cells[0])
        found = np.zeros(len(cells[0]), bool)
        if len(near):
            found[near] = is_among(screen_hashes([column[near] for column in cells], self.secret), self.hashes)
        return found

    def passing_rows(self, values: NDArray[np.generic], places: Sequence[int]) -> Booleans:
        """Find the rows of a matrix that pass a screen; `places` are the screen's columns in it."""
        return self.passing([values[:, place] for place in places])

    def by_chance(self, rows: int, n: int) -> bool:
        """Say whether so many of n rows pass no more often than unseen ones might."""
        q = self.known
        margin = max(min(MARGIN, 2 * (q - 1 / (len(self.hashes) + 2))), 3 * sqrt(q * (1 - q) / n))
        return rows < min(FEWEST, n) or rows / n <= q + margin

    def _rows_of_first_cell(self, column: NDArray[np.generic]) -> Integers:
        """The places of the rows whose cell in the first column is a sealed one's; of few rows, all."""
        compiled = load_compiled("screen") if len(column) >= MANY and column.dtype != np.uint64 else None
        if compiled is None:
            return np.arange(len(column))
        places, hashes = np.empty(len(column), np.int64), np.empty(len(column), np.uint64)
        key, factor = map(int, _keys(self.secret, 0))
        count = compiled.passing(np.asarray(column, np.float64), key, factor, self._marks, int(SPREAD), places, hashes)
        found: Integers = places[:count][is_among(hashes[:count], self.first)]
        return found

    @cached_property
    def _marks(self) -> Hashes:
        """A bit for each hash of the first column, in a table of at least 64 times as many."""
        size = 1 << max(6, int(BITS * max(1, len(self.first)) - 1).bit_length())
        marks = np.zeros(size // 64, np.uint64)
        with np.errstate(over="ignore"):
            bit = ((self.first ^ (self.first >> np.uint64(29))) * SPREAD >> np.uint64(20)) & np.uint64(size - 1)
        np.bitwise_or.at(marks, (bit >> np.uint64(6)).astype(np.int64), np.uint64(1) << (bit & np.uint64(63)))
        return marks


def screen_hashes(cells: Sequence[NDArray[np.generic]], secret: bytes) -> Hashes:
    """The screening hash of each row: columns of numbers, or of the 64-bit tokens of texts."""
    sums = np.zeros(len(cells[0]), np.uint64)
    compiled = load_compiled("screen") if sum(map(len, cells)) >= MANY else None
    for place, column in enumerate(cells):
        key, factor = _keys(secret, place)
        if compiled is not None and column.dtype != np.uint64:
            compiled.add(np.asarray(column, np.float64), int(key), int(factor), sums)
        else:
            with np.errstate(over="ignore"):
                mixed = _bits(column) * key
                sums += (mixed ^ (mixed >> np.uint64(32))) * factor
    return sums


def draw_screen(table: Table, testset: str, secret: bytes) -> Screen:
    """The screen of a sealed table, over the columns that tell its rows apart best."""
    described = [*_screen_columns(table)]
    cells = {column.place: _cells(table, column) for column in described}
    distinct = {place: len(tally(_bits(values))[0]) for place, values in cells.items()}
    ranked = sorted(described, key=lambda column: (column.text, -distinct[column.place], column.place))
    chosen: list[ScreenColumn] = []
    nothing = np.empty(0, np.uint64)
    screen = Screen(testset, len(table), (), nothing, nothing, secret)
    for column in ranked[:MOST]:
        chosen.append(column)
        hashes = screen_hashes([cells[one.place] for one in chosen], secret)
        first = tally(screen_hashes([cells[chosen[0].place]], secret))[0]
        screen = Screen(testset, len(table), tuple(chosen), ascending(hashes), first, secret)
        if len(chosen) >= LEAST and screen.known * len(table) <= ENOUGH:
            break
    return screen


def _screen_columns(table: Table) -> Iterator[ScreenColumn]:
    """The columns that a screen may take: numbers and texts; dates and levels that read as numbers are written in many ways."""
    number = 0
    for place, feature in enumerate(table.features):
        if feature.is_number:
            if not feature.dates:
                yield ScreenColumn(feature.name, place, number, text=False)
            number += 1
        elif not any(map(_reads_as_number, feature.levels)):
            yield ScreenColumn(feature.name, place, -1, text=True)


def _reads_as_number(level: str) -> bool:
    """Say whether a level may stand as a number, or as a truth value, elsewhere."""
    try:
        float(level)
    except ValueError:
        return level.strip().lower() in ("true", "false")
    return True


def _cells(table: Table, column: ScreenColumn) -> NDArray[np.generic]:
    values = table.values[:, column.place]
    return feature_tokens(table.features[column.place], values, 6) if column.text else values


def _bits(column: NDArray[np.generic]) -> Hashes:
    """The bits of a column's cells that count: of numbers those of single precision."""
    if column.dtype == np.uint64:
        return column.astype(np.uint64, copy=False)
    with np.errstate(over="ignore"):
        single = (np.asarray(column, np.float64) + 0.0).astype(np.float32)
    bits = single.view(np.uint32).astype(np.uint64)
    bits[np.isnan(single)] = MISSING
    return bits


def _keys(secret: bytes, place: int) -> tuple[np.uint64, np.uint64]:
    """Two odd factors for the column at a place."""
    raw = hashlib.blake2b(place.to_bytes(4, "little"), digest_size=16, key=secret, person=b"modelsel.screen1").digest()
    one, other = np.frombuffer(raw, "<u8")
    return np.uint64(one | np.uint64(1)), np.uint64(other | np.uint64(1))


# The screens of a home: a file for each sealed set.


@dataclass(frozen=True)
class ScreenFolder:
    """The screens that a home keeps; `secret` is the home's."""

    folder: Path
    secret: bytes

    @classmethod
    def of(cls, home: Home) -> "ScreenFolder":
        return cls(home.folder / FOLDER, home.secret(KEY))

    def keep(self, table: Table, testset: str) -> None:
        """Draw a sealed table's screen, once."""
        path = self.folder / f"{testset}{SUFFIX}"
        if path.exists():
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        body = _pack(draw_screen(table, testset, self.secret))
        write_whole(path, self._seal(body) + body)

    def screens(self) -> Iterator[Screen]:
        """The screens that tell rows apart; a file that was changed is removed."""
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            with suppress(OSError, ValueError):  # another process has removed it, or it is not a file of ours to read
                raw = content(path, ARCHIVE)
                if not hmac.compare_digest(raw[:SEAL], self._seal(raw[SEAL:])):
                    path.unlink(missing_ok=True)
                    continue
                screen = _unpack(raw[SEAL:], self.secret)
                if screen.columns and screen.tells:
                    yield screen

    def _seal(self, body: bytes) -> bytes:
        return hashlib.blake2b(body, digest_size=SEAL, key=self.secret, person=b"modelsel.screens").digest()


def _pack(screen: Screen) -> bytes:
    columns = [[one.name, one.place, one.number, one.text] for one in screen.columns]
    head = {"testset": screen.testset, "rows": screen.rows, "columns": columns}
    return json.dumps(head).encode() + b"\n" + np.concatenate([screen.hashes, screen.first]).astype("<u8").tobytes()


def _unpack(body: bytes, secret: bytes) -> Screen:
    """Read a screen back from the bytes of `_pack`."""
    head, _, rest = body.partition(b"\n")
    facts: Mapping[str, object] = json.loads(head)
    columns = tuple(ScreenColumn(*one) for one in facts["columns"])  # type: ignore[attr-defined]
    rows, flat = int(str(facts["rows"])), np.frombuffer(rest, "<u8").astype(np.uint64)
    return Screen(str(facts["testset"]), rows, columns, flat[:rows], flat[rows:], secret)
