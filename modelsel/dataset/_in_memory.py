"""Tables that people hold: pandas, Polars and Arrow (through narwhals), NumPy arrays, `(X, y)`, tasks.

Each column goes through Arrow, where a Parquet file's columns come from too, so that the same table has the same kinds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.types import Task
from modelsel.dataset import _arrow
from modelsel.dataset._column import Column
from modelsel.dataset._held import Held

ROLES = ("target", "weights", "groups", "id")
OF_A_TASK = "(of the task)"  # in the place of a target's name
TAKEN = "pandas, Polars or PyArrow tables, NumPy arrays, (X, y) and tasks are taken"
Cells = Mapping[str, Any]  # column name to an Arrow array, or to whatever Arrow can make one of


@dataclass(frozen=True, eq=False)
class Given:
    """A table in memory and what was said about its columns, as settings of `conf/dataset/memory.yaml`."""

    table: Held
    roles: Mapping[str, Any]


def given(data: Any, **roles: Any) -> Given:
    """Take a table in. `roles` (target, weights, groups, id) are names of its columns, or arrays beside it.

    Raises ConfigurationError for what is no table, DataError for columns that cannot be read, each with all problems.
    """
    roles = {role: said for role, said in roles.items() if said is not None}
    if isinstance(data, Task):
        ConfigurationError.raise_if(_roles_of_a_task(roles))
        return Given(Held(task=data), {"target": OF_A_TASK})
    if isinstance(data, tuple) and len(data) == 2:
        data, roles = data[0], {"target": data[1], **roles}
    cells = dict(_cells(data))
    named = {role: _role(role, said, cells) for role, said in roles.items()}
    return Given(_held(cells), named)


def columns(data: Any) -> dict[str, Column]:
    """The columns of a table, by name. Raises as `given`."""
    return {column.name: column for column in _held(dict(_cells(data))).columns}


def is_frame(data: Any) -> bool:
    """Whether narwhals takes it for a table: pandas, Polars, Arrow, ...

    >>> is_frame([[1.0]])
    False
    """
    return isinstance(nw.from_native(data, eager_only=True, pass_through=True), nw.DataFrame)


def _cells(data: Any) -> Iterator[tuple[str, Any]]:
    """Names and cells of the columns."""
    if isinstance(data, np.ndarray):
        yield from _of_array(data)
        return
    try:
        frame = nw.from_native(data)
    except Exception as error:
        raise ConfigurationError(_no_table(data, error)) from error
    if isinstance(frame, nw.LazyFrame):
        what = f"a lazy table ({type(data).__name__}) has no rows yet"
        raise ConfigurationError(Problem("MSEL-381", what, "data", "collect it first: data.collect()"))
    assert isinstance(frame, nw.DataFrame)
    if not frame.columns:
        raise ConfigurationError(Problem("MSEL-381", "the table has no columns", "data", "give features and a target"))
    for index, name in enumerate(frame.columns):
        yield str(name), frame[:, index]


def _of_array(data: NDArray[Any]) -> Iterator[tuple[str, Any]]:
    if data.ndim != 2 or not data.shape[1]:
        what = f"an array of shape {data.shape} is no table"
        raise ConfigurationError(Problem("MSEL-381", what, "data", "give rows × columns"))
    for index in range(data.shape[1]):
        yield f"x{index}", data[:, index]


def _role(role: str, said: Any, cells: dict[str, Any]) -> Any:
    """The column's name; an array becomes a column of its own. Several id columns stay a list of names."""
    if isinstance(said, str) or (isinstance(said, list | tuple) and role == "id" and all(isinstance(s, str) for s in said)):
        return said
    if isinstance(said, int | np.integer) and not isinstance(said, bool):
        return str(said)
    rows = len(next(iter(cells.values())))
    try:
        length = len(said)
    except TypeError:
        length = -1
    if length != rows:
        found = f"has {length} entries" if length >= 0 else f"is a {type(said).__name__}"
        what = f"{role} {found}, the table has {rows} rows"
        raise ConfigurationError(
            Problem("MSEL-382", what, role, "give the name of a column, or an array with an entry per row")
        )
    own = getattr(said, "name", None)
    name = own if isinstance(own, str) and own not in cells else role if role not in cells else f"({role})"
    cells[name] = said
    return name


def _held(cells: Cells) -> Held:
    """Columns of Arrow, all that cannot be read said at once."""
    problems: list[Problem] = []
    made, types = [], {}
    for name, data in cells.items():
        array = _array(name, data, problems)
        if array is not None:
            made.append(_arrow.column(name, array))
            types[name] = _type(array.type)
    DataError.raise_if(problems)
    if made and not len(made[0]):
        raise DataError(Problem("MSEL-311", "columns and no rows", "data", "the table needs rows"))
    return Held(tuple(made), types)


def _array(name: str, data: Any, problems: list[Problem]) -> pa.ChunkedArray | None:
    try:
        array = _to_arrow(data)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        kinds = _kinds(data)
        what = f"cells of several types ({', '.join(kinds)})" if len(kinds) > 1 else f"cells that no table holds ({error})"
        problems.append(Problem("MSEL-383", what, f"column '{name}'", f"make them one type: frame[{name!r}].astype(str)"))
        return None
    if not _arrow.known(array.type):
        fix = "make it numbers or texts, or take the column out"
        problems.append(Problem("MSEL-365", f"type {array.type} cannot be read", f"column '{name}'", fix))
        return None
    return array


def _to_arrow(data: Any) -> pa.ChunkedArray:
    """Any column as an Arrow array; NaN in floats is missing."""
    series = data if isinstance(data, nw.Series) else nw.from_native(data, series_only=True, pass_through=True)
    array = series.to_arrow() if isinstance(series, nw.Series) else pa.array(np.asarray(data).tolist(), from_pandas=True)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _kinds(data: Any) -> Sequence[str]:
    """Types of the cells, missing ones aside."""
    cells = data.to_list() if isinstance(data, nw.Series) else list(data)
    return sorted({type(cell).__name__ for cell in cells if cell is not None and cell == cell})


def _type(kind: pa.DataType) -> str:
    """What a cell is in Python."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (("bool", pa.types.is_boolean), ("int", pa.types.is_integer), ("float", pa.types.is_floating))
    return next((word for word, test in tests if test(kind)), "str")


def _no_table(data: Any, error: Exception) -> Problem:
    if hasattr(data, "toarray"):
        return Problem("MSEL-381", "a sparse matrix is no table", "data", "hand over data.toarray(), if it fits into memory")
    reason = f" ({str(error).strip().splitlines()[0]})" if is_frame_like(data) else ""
    return Problem("MSEL-381", f"a {type(data).__name__} is no table{reason}", "data", TAKEN)


def is_frame_like(data: Any) -> bool:
    """Something with columns that narwhals still refused, and why is worth saying (two columns of one name)."""
    return hasattr(data, "columns")


def _roles_of_a_task(roles: Mapping[str, Any]) -> Iterator[Problem]:
    for role in roles:
        yield Problem("MSEL-382", f"a task has its {role} already", role, "leave it out, or hand over a table")
