"""Columns of Arrow, as Parquet files and data frames hand them over: their own types are the declaration.

Ordered categories keep their levels and order; others have the levels that occur, sorted, as those of a CSV file of the same
rows. Booleans and texts are nominal, numbers numeric; dates, also as texts, are for whoever infers kinds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.dataset.column import RawColumn, moments, number_text, text_column
from modelsel.dataset.spellings import BOOLEAN

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
        return RawColumn(name, numbers=np.array(data.to_numpy(), np.float64), type="float", held="double")
    return replace(_read_cells(name, data), type="date" if pa.types.is_temporal(kind) else type_of(kind), held=_type_name(kind))


def _type_name(kind: pa.DataType) -> str:
    """The name of the type of the cells; of categories that of their levels."""
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind)


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
        numbers = np.array(_doubles(data).to_numpy(), np.float64)
        if pa.types.is_decimal(kind) and (np.abs(numbers) > EXACT).any():
            return text_column(name, data.cast(pa.string()))
        return RawColumn(name, numbers=numbers)
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
    levels = tuple(text_of(said[place]) for place in known)
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


def text_of(level: object) -> str:
    """A cell as a CSV file would spell it.

    >>> text_of(1.0), text_of(True), text_of("a")
    ('1', 'true', 'a')
    """
    if isinstance(level, bool):
        return str(level).lower()
    return number_text(level) if isinstance(level, float) else str(level)


# The columns of a table in memory as Arrow arrays: pandas, Polars and Arrow (through narwhals), NumPy arrays.
#
# Each column goes through Arrow, where a Parquet file's columns come from too, so that the same table has the same kinds.


TAKEN = "pandas, Polars or PyArrow tables, NumPy arrays, (X, y) and tasks are taken; pandas.DataFrame(data) makes one of most"


def cells(data: Any) -> Iterator[tuple[str, object]]:
    """Names and cells of the columns. Raises ConfigurationError for what is not a table, and for columns of one name."""
    if isinstance(data, np.ndarray):
        yield from _of_array(data)
        return
    table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
    demand_unique(table)
    try:
        frame = nw.from_native(table)
    except Exception as error:
        raise ConfigurationError(_no_table(data, error)) from error
    if isinstance(frame, nw.LazyFrame):
        what = f"a lazy table ({type(data).__name__}) has no rows yet"
        raise ConfigurationError(Problem("MSEL-381", what, "data", "collect it first: data.collect()"))
    assert isinstance(frame, nw.DataFrame)
    if not frame.columns:
        raise ConfigurationError(Problem("MSEL-381", "the table has no columns", "data", "give features and a target"))
    for name, column in zip(frame.columns, frame.iter_columns(), strict=True):
        yield str(name), column


def demand_unique(table: object) -> None:
    """Raise ConfigurationError for a table in which several columns have one name."""
    if twice := repeated_names(_names(table)):
        what, fix = f"several columns are called {', '.join(map(repr, twice))}", "give each column a name of its own"
        raise ConfigurationError(Problem("MSEL-381", what, "data", fix))


def repeated_names(names: Sequence[str]) -> list[str]:
    """List the names that occur more than once.

    >>> repeated_names(["a", "b", "a"])
    ['a']
    """
    return [name for name, count in Counter(names).items() if count > 1]


def to_arrow(data: object) -> pa.ChunkedArray:
    """Any column as an Arrow array; NaN in floats is missing. Raises what Arrow raises for cells that fit no type."""
    series = data if isinstance(data, nw.Series) else nw.from_native(data, series_only=True, pass_through=True)
    native: Any = series.to_native() if isinstance(series, nw.Series) else None
    if isinstance(getattr(native, "dtype", None), np.dtype) and _is_plain(native.dtype):  # pandas: Arrow alone is enough
        return pa.chunked_array([_of_cells(native.to_numpy())])
    if hasattr(native, "sparse"):  # pandas: a column that keeps no zeros
        return to_arrow(native.sparse.to_dense())
    array = series.to_arrow() if isinstance(series, nw.Series) else _of_cells(_array(data))
    whole = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    if pa.types.is_run_end_encoded(whole.type):
        return pa.chunked_array([pc.run_end_decode(chunk) for chunk in whole.chunks], whole.type.value_type)
    if pa.types.is_dictionary(whole.type) and isinstance(series, nw.Series) and series.dtype == nw.Enum:
        return _ordered_enumeration(whole)
    return _texts(whole) if pa.types.is_string_view(whole.type) else whole


def _array(cells: object) -> NDArray[Any]:
    """The cells as an array; NumPy would make a text of a NaN that stands among texts.

    >>> _array(["a", float("nan")]).tolist()
    ['a', nan]
    """
    found = np.asarray(cells)
    return np.asarray(cells, object) if found.dtype.kind in "US" and not isinstance(cells, np.ndarray) else found


def _ordered_enumeration(categories: pa.ChunkedArray) -> pa.ChunkedArray:
    """An enumeration with its order, which early versions of Polars leave out."""
    kind = categories.type
    if kind.ordered:
        return categories
    chunks = [pa.DictionaryArray.from_arrays(one.indices, one.dictionary, ordered=True) for one in categories.chunks]
    return pa.chunked_array(chunks, pa.dictionary(kind.index_type, kind.value_type, ordered=True))


def _texts(views: pa.ChunkedArray) -> pa.ChunkedArray:
    """Views of texts as texts; Arrow casts them from version 17 on."""
    try:
        return views.cast(pa.string())
    except pa.ArrowNotImplementedError:
        return pa.chunked_array([pa.array(views.to_pylist(), pa.string())])


def kinds(data: Any) -> Sequence[str]:
    """Types of the cells, missing ones aside."""
    found = data.to_list() if isinstance(data, nw.Series) else list(data)
    return sorted({type(cell).__name__ for cell in found if cell is not None and cell == cell})


def type_of(kind: pa.DataType) -> str:
    """Return the Python type of a cell: bool, int, float or str."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (("bool", pa.types.is_boolean), ("int", pa.types.is_integer), ("float", pa.types.is_floating))
    return next((word for word, test in tests if test(kind)), "str")


def _of_array(data: NDArray[np.generic]) -> Iterator[tuple[str, object]]:
    """Yield the columns of an array, named x0, x1, ..."""
    if data.ndim != 2 or not data.shape[1]:
        what = f"an array of shape {data.shape} is not a table"
        raise ConfigurationError(Problem("MSEL-381", what, "data", "give rows × columns"))
    for index in range(data.shape[1]):
        yield f"x{index}", data[:, index]


def _of_cells(found: NDArray[np.generic]) -> pa.Array:
    """Numbers keep their width; of anything else the cells tell what they are."""
    return pa.array(np.ascontiguousarray(found) if _is_plain(found.dtype) else found.tolist(), from_pandas=True)


def _is_plain(kind: np.dtype[Any]) -> bool:
    """Say whether NumPy's type is a number, or truth value, as Arrow has it."""
    return kind.kind in "biuf" and kind.itemsize <= 8


def _names(table: object) -> list[str]:
    """Names of the columns as they stand there, also where two are equal; none where it is not a table, or a lazy one."""
    if hasattr(table, "collect"):
        return []
    found = table.column_names if isinstance(table, pa.Table) else getattr(table, "columns", ())
    return [str(name) for name in found] if isinstance(found, Sequence) or hasattr(found, "names") else []


def _no_table(data: object, error: Exception) -> Problem:
    """Describe data that no library reads as a table."""
    if hasattr(data, "toarray"):
        return Problem("MSEL-381", "a sparse matrix is not a table", "data", "hand over data.toarray(), if it fits into memory")
    reason = f" ({str(error).strip().splitlines()[0]})" if hasattr(data, "columns") else ""  # a table that is refused
    return Problem("MSEL-381", f"{type(data).__name__} is not a table{reason}", "data", TAKEN)
