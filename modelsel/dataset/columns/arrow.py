"""Columns of Arrow, as Parquet files and data frames hand them over: their own types are the declaration.

Ordered categories keep their levels and order; others have the levels that occur, sorted, as those of a CSV file of the same
rows. Booleans and texts are nominal, numbers numeric; dates, also as texts, are for whoever infers kinds.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from modelsel.dataset.columns.cells import type_of
from modelsel.dataset.columns.column import RawColumn, number_text, text_column
from modelsel.dataset.columns.numbers import moments
from modelsel.dataset.columns.spellings import BOOLEAN

EXACT = 2**53


def can_be_read(kind: pa.DataType) -> bool:
    """Return whether cells of this type can be read at all."""
    return not (
        pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_duration(kind)
    )


def column(name: str, data: pa.ChunkedArray) -> RawColumn:
    """A column of a table; one of an unreadable type has no values."""
    kind = data.type
    if pa.types.is_float64(kind):  # no copy of what was just made: tables may have thousands of them
        return RawColumn(name, numbers=np.array(data.to_numpy(), np.float64), type="float")
    return replace(_read_cells(name, data), type="date" if pa.types.is_temporal(kind) else type_of(kind))


def _read_cells(name: str, data: pa.ChunkedArray) -> RawColumn:
    """Read the cells of a column."""
    kind = data.type
    if pa.types.is_dictionary(kind):
        return _categories(name, data)
    if pa.types.is_boolean(kind):
        return text_column(name, data.cast(pa.string()), "nominal", BOOLEAN)
    if pa.types.is_null(kind) or not can_be_read(kind):  # the latter only where it is ignored
        return RawColumn(name, numbers=np.full(len(data), np.nan))
    if pa.types.is_integer(kind) and (pc.max(pc.abs(data.cast(pa.decimal128(20)))).as_py() or 0) > EXACT:
        return text_column(name, data.cast(pa.string()))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return RawColumn(name, numbers=np.array(_doubles(data).to_numpy(), np.float64))
    texts = text_column(name, data.cast(pa.string()))
    dates = pa.types.is_temporal(kind) or moments(texts.texts) is not None
    return texts if dates else replace(texts, kind="nominal")


def _doubles(data: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers of 64 bits; those of 32 and 16 bits, and decimals, as what a CSV file of them says (the shortest text).

    >>> _doubles(pa.chunked_array([pa.array([0.1], pa.float32())])).to_pylist()
    [0.1]
    """
    if pa.types.is_float16(data.type):
        found, inverse = np.unique(data.to_numpy(), return_inverse=True)
        return pa.chunked_array([np.array([float(str(value)) for value in found])[inverse]])
    written = pa.types.is_float32(data.type) or pa.types.is_decimal(data.type)
    return data.cast(pa.string() if written else data.type).cast(pa.float64())


def _categories(name: str, data: pa.ChunkedArray) -> RawColumn:
    """The categories; ordered ones are declared in their order, unused ones too."""
    chunks = data.unify_dictionaries().chunks
    if not chunks:
        return text_column(name, pa.array([], pa.string()), "nominal")
    said = chunks[0].dictionary.to_pylist()
    known = [place for place, level in enumerate(said) if level is not None]  # a dictionary may hold null itself
    levels = tuple(_text(said[place]) for place in known)
    code_of = np.full(len(said) + 1, -1, np.int32)
    code_of[known] = np.arange(len(known))
    signed = (chunk.indices.cast(pa.int64()).fill_null(-1) for chunk in chunks)
    codes = code_of[np.concatenate([each.to_numpy(zero_copy_only=False) for each in signed])]
    used = np.unique(codes[codes >= 0])
    place = np.full(len(levels) + 1, -1, np.int32)
    place[used] = np.arange(len(used))
    texts = tuple(levels[code] for code in used.tolist())
    if not data.type.ordered:
        return RawColumn(name, texts, place[codes], kind="nominal")
    return RawColumn(name, texts, place[codes], kind="ordered", levels=levels)


def _text(level: object) -> str:
    """A category as a CSV file would spell it.

    >>> _text(1.0), _text(True), _text("a")
    ('1', 'true', 'a')
    """
    if isinstance(level, bool):
        return str(level).lower()
    return number_text(level) if isinstance(level, float) else str(level)
