"""The columns of a table in memory as Arrow arrays: pandas, Polars and Arrow (through narwhals), NumPy arrays.

Each column goes through Arrow, where a Parquet file's columns come from too, so that the same table has the same kinds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from modelsel.core.errors import ConfigurationError, Problem

TAKEN = "pandas, Polars or PyArrow tables, NumPy arrays, (X, y) and tasks are taken; pandas.DataFrame(data) makes one of most"


def cells(data: Any) -> Iterator[tuple[str, object]]:
    """Names and cells of the columns. Raises ConfigurationError for what is no table, and for columns of one name."""
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
    array = series.to_arrow() if isinstance(series, nw.Series) else _of_cells(np.asarray(data))
    whole = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    if pa.types.is_run_end_encoded(whole.type):
        return pa.chunked_array([pc.run_end_decode(chunk) for chunk in whole.chunks], whole.type.value_type)
    if pa.types.is_dictionary(whole.type) and isinstance(series, nw.Series) and series.dtype == nw.Enum:
        return _ordered_enumeration(whole)
    return _texts(whole) if pa.types.is_string_view(whole.type) else whole


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
        what = f"an array of shape {data.shape} is no table"
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
    """Names of the columns as they stand there, also where two are equal; none where it is no table, or a lazy one."""
    if hasattr(table, "collect"):
        return []
    found = table.column_names if isinstance(table, pa.Table) else getattr(table, "columns", ())
    return [str(name) for name in found] if isinstance(found, Sequence) or hasattr(found, "names") else []


def _no_table(data: object, error: Exception) -> Problem:
    """Describe data that no library reads as a table."""
    if hasattr(data, "toarray"):
        return Problem("MSEL-381", "a sparse matrix is no table", "data", "hand over data.toarray(), if it fits into memory")
    reason = f" ({str(error).strip().splitlines()[0]})" if hasattr(data, "columns") else ""  # a table that is refused
    return Problem("MSEL-381", f"a {type(data).__name__} is no table{reason}", "data", TAKEN)
