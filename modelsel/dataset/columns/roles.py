"""The columns that are no features: weights, groups, ids, times, folds, held-out marks, each checked and made an array."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem
from modelsel.core.types import Booleans, Floats, Integers
from modelsel.dataset.columns.column import RawColumn, examples, rows_said
from modelsel.dataset.columns.numbers import numbers, seconds

TRUE = {"true", "t", "1", "yes", "y", "test", "sealed", "held_out"}
FALSE = {"false", "f", "0", "no", "n", "train", "training", "development", "dev"}
Complain = Callable[[Problem], None]


def weights(column: RawColumn, complain: Complain) -> Floats:
    """Row weights: finite and above 0."""
    values = _numbers(column)
    for wrong, what in (
        (np.isnan(values), "weight missing or no number"),
        (np.isinf(values), "infinite weight"),
        (values < 0, "negative weight"),
        (values == 0, "weight of zero"),
    ):
        _complain(complain, "MSEL-350", what, column, wrong, "weights are numbers above 0; take rows out that should not count")
    return values


def groups(column: RawColumn, complain: Complain) -> Integers:
    """A number per group."""
    _complain(complain, "MSEL-351", "group missing", column, column.absent, "every row needs its group")
    text = column.as_text()
    assert text.codes is not None
    rank = np.argsort(np.argsort(np.array(text.texts, object), kind="stable"))
    return np.append(rank, -1)[text.codes].astype(np.int64)


def ids(columns: Sequence[RawColumn], complain: Complain) -> Integers:
    """A 63-bit digest of the id cells of each row."""
    for column in columns:
        _complain(complain, "MSEL-352", "id missing", column, column.absent, "every row needs its id")
    texts = [column.as_text() for column in columns]
    cells = [np.array([*column.texts, ""], object)[column.codes] for column in texts]
    return np.array([_digest("\0".join(row)) for row in zip(*cells)], np.int64)


def times(column: RawColumn, complain: Complain) -> Floats:
    """Numbers as they are, ISO 8601 moments as seconds since 1970."""
    values = _numbers(column)
    if column.numbers is None and np.isnan(values).any():
        values = np.append(seconds(column.texts), np.nan)[column.codes]
    fix = "times are numbers or ISO 8601 (2026-01-31, 2026-01-31T12:00:00Z)"
    _complain(complain, "MSEL-353", "no time", column, ~np.isfinite(values), fix)
    return values


def folds(column: RawColumn, complain: Complain) -> Integers:
    """Whole numbers from −1 (never assessed)."""
    values = _numbers(column)
    wrong = ~(np.isfinite(values) & (values == np.round(values)) & (values >= -1))
    _complain(complain, "MSEL-354", "no fold number", column, wrong, "fold numbers are 0, 1, 2, ..., and -1 for never assessed")
    return np.where(wrong, -1, values).astype(np.int64)


def held_out(column: RawColumn, complain: Complain) -> Booleans:
    """True for test rows."""
    text = column.as_text()
    known = np.array([*(_truth(word) for word in text.texts), -1])[text.codes]
    strange = [word for word in text.texts if _truth(word) < 0]
    what = f"neither test nor development: {examples(strange)}" if strange else "held-out mark missing"
    _complain(complain, "MSEL-355", what, column, known < 0, "use true and false, or test and train")
    return np.asarray(known == 1)


def _truth(word: str) -> int:
    plain = word.strip().casefold()
    return 1 if plain in TRUE else 0 if plain in FALSE else -1


def _numbers(column: RawColumn) -> Floats:
    if column.numbers is not None:
        return column.numbers
    return np.asarray(np.append(numbers(column.texts), np.nan)[column.codes])


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def _complain(complain: Complain, code: str, what: str, column: RawColumn, wrong: NDArray[Any], fix: str) -> None:
    """Pass on a problem with the rows that are marked as wrong, if there are any."""
    rows = np.flatnonzero(wrong)
    if len(rows):
        where = f"column '{column.name}'"
        complain(Problem(code, f"{what} in {len(rows)} row{'s' if len(rows) > 1 else ''} ({rows_said(rows)})", where, fix))
