"""Tables that people hold (pandas, Polars, Arrow, NumPy arrays, `(X, y)`, tasks), and what was said of their columns."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.source import Source
from modelsel.core.types import ClassTask, Floats, Table, Task
from modelsel.dataset import arrow
from modelsel.dataset.arrow import cells as cells_of
from modelsel.dataset.arrow import demand_unique, kinds, to_arrow
from modelsel.dataset.column import RawColumn
from modelsel.dataset.labels import labels
from modelsel.dataset.untyped import UntypedTable

ROLES = ("target", "weights", "groups", "unit", "id")
OF_A_TASK = "(of the task)"  # in the place of a target's name
NUMBERS = {"int", "longdouble"}  # that no column holds: beyond 64 bits
Cells = Mapping[str, Any]  # column name to an Arrow array, or to whatever Arrow can make one of


@dataclass(frozen=True, eq=False)
class MemoryTable:
    """A table in memory and what was said about its columns, as settings of `conf/dataset/memory.yaml`.

    `notes` are for people: what of the table takes no part.
    """

    table: UntypedTable
    roles: Mapping[str, object]
    notes: tuple[str, ...] = ()


class UnreadColumnsError(DataError):
    """Columns of a table that cannot be read; `rest` is the table without them, so that its problems can be told with these."""

    def __init__(self, *problems: Problem, rest: MemoryTable | None = None) -> None:
        super().__init__(*problems)
        self.rest = rest


def take_table(data: Any, **roles: object) -> MemoryTable:
    """Take a table in. `roles` (target, weights, groups, unit, id) are names of its columns, or arrays beside it.

    Raises ConfigurationError for what is not a table, UnreadColumnsError for unreadable columns, each with all problems.
    """
    roles = {role: said for role, said in roles.items() if said is not None}
    if isinstance(data, Task):
        ConfigurationError.raise_if(_roles_of_a_task(roles))
        return MemoryTable(UntypedTable(task=data), {"target": OF_A_TASK})
    if isinstance(data, tuple) and len(data) == 2:
        data, roles = data[0], {"target": data[1], **roles}
    native, data = data, of_sparse(data) if is_sparse(data) else data
    cells = dict(cells_of(data))
    ConfigurationError.raise_if(_misplaced_roles(data, cells, roles))
    named = {role: _role(role, said, cells) for role, said in roles.items()}
    table, problems = _read_columns(cells)
    table = replace(table, native=native)
    found = MemoryTable(table, named, tuple(_index_left_out(data)))
    if problems:
        raise UnreadColumnsError(*problems, rest=found)
    return found


def columns(data: object, new_rows: bool = False) -> dict[str, RawColumn]:
    """The columns of a table, or of a mapping of names to cells, by name. Raises as `take_table`.

    In new rows, of which it is known how they are read, cells of several types are taken as their texts.
    """
    cells = dict(data) if isinstance(data, Mapping) else dict(cells_of(data))
    if new_rows:
        cells = {name: _as_texts(own) if own is not None and _is_mixed(own) else own for name, own in cells.items()}
    table, problems = _read_columns(cells)
    lengths = {len(column) for column in table.columns}
    if len(lengths) > 1:
        said = ", ".join(f"{column.name!r} has {len(column)}" for column in table.columns)
        problems.append(Problem("MSEL-382", f"columns of different lengths: {said}", "data", "give an entry per row in each"))
    DataError.raise_if(problems)
    return {column.name: column for column in table.columns}


def _is_mixed(cells: Any) -> bool:
    """Say whether Arrow has no type for what these cells hold together."""
    try:
        to_arrow(cells)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return len(kinds(cells)) > 1
    return False


def _as_texts(cells: Any) -> list[str | None]:
    """Cells of several types as a file of them would have them."""
    found = cells.to_list() if isinstance(cells, nw.Series) else list(cells)
    return [None if cell is None or cell is pd.NA or cell != cell else arrow.text_of(cell) for cell in found]


def is_frame(data: object) -> bool:
    """Return whether narwhals takes it for a table: pandas, Polars, Arrow, ...; ConfigurationError for columns of one name.

    >>> is_frame([[1.0]])
    False
    """
    if isinstance(data, np.ndarray | list | tuple):
        return False  # narwhals looks through all libraries that it knows before it says so
    try:
        return isinstance(nw.from_native(data, eager_only=True, pass_through=True), nw.DataFrame)
    except DuplicateError:
        demand_unique(data)
        raise


def _index_names(data: object) -> list[str]:
    """Names of the row index of pandas, where it has some."""
    return [str(name) for name in getattr(getattr(data, "index", None), "names", ()) if name is not None]


def _index_left_out(data: object) -> Iterator[str]:
    for name in _index_names(data):
        yield f"the row index {name!r} is not a column of the table and takes no part; data.reset_index() makes it one"


def _misplaced_roles(data: object, cells: Cells, roles: Mapping[str, object]) -> Iterator[Problem]:
    """Roles that are in the row index, and arrays whose rows stand in another order than the table's."""
    for role, said in roles.items():
        if isinstance(said, str) and said not in cells and said in _index_names(data):
            yield Problem(
                "MSEL-382", f"{said!r} is the row index of the table, no column", role, "hand over data.reset_index()"
            )
        if _is_shuffled(getattr(said, "index", None), getattr(data, "index", None)):
            fix = f"{role}.loc[data.index], or {role}.to_numpy() if its rows are the table's"
            yield Problem("MSEL-382", f"{role} has the row index of the table in another order", role, fix)


def _is_shuffled(one: Any, other: Any) -> bool:
    """Two indices of pandas with the same labels, differently arranged."""
    if not (hasattr(one, "equals") and hasattr(other, "equals")) or len(one) != len(other) or one.equals(other):
        return False
    return bool(one.is_unique and other.is_unique and one.isin(other).all())


def _role(role: str, said: Any, cells: dict[str, Any]) -> object:
    """The column's name; an array becomes a column of its own. Several columns of ids or units stay a list of names."""
    if isinstance(said, str) or (
        isinstance(said, list | tuple) and role in ("id", "unit") and all(isinstance(s, str) for s in said)
    ):
        return said
    if (isinstance(said, int | np.integer) and not isinstance(said, bool)) or (isinstance(said, tuple) and str(said) in cells):
        return str(said)
    said = _flat(role, said)
    rows = len(next(iter(cells.values())))
    try:
        length = len(said)
    except TypeError:
        length = -1
    if length != rows:
        found = f"has {length} entries" if length >= 0 else f"is a {type(said).__name__}"
        fix = "give the name of a column, or an array with an entry per row"
        raise ConfigurationError(Problem("MSEL-382", f"{role} {found}, the table has {rows} rows", role, fix))
    own = getattr(said, "name", None)
    name = own if isinstance(own, str) and own not in cells else role if role not in cells else f"({role})"
    cells[name] = said
    return name


def _flat(role: str, said: object) -> object:
    """A table of one column as that column; ConfigurationError for one of several."""
    shape: tuple[int, ...] = getattr(said, "shape", ())
    if len(shape) != 2:
        return said
    if shape[1] != 1:
        what = f"{role} has {shape[1]} columns"
        raise ConfigurationError(
            Problem("MSEL-382", what, role, "give the name of a column, or an array with an entry per row")
        )
    if isinstance(said, np.ndarray):
        return said[:, 0]
    _, column = next(cells_of(said))
    return column.to_native() if isinstance(column, nw.Series) else column


def _read_columns(cells: Cells) -> tuple[UntypedTable, list[Problem]]:
    """Columns of Arrow, and all that cannot be read."""
    problems: list[Problem] = []
    made = []
    for name, data in cells.items():
        array = _array(name, data, problems)
        if array is not None and (column := _column(name, array, problems)) is not None:
            made.append(column)
    if made and not len(made[0]):
        problems.append(Problem("MSEL-311", "columns and no rows", "data", "the table needs rows"))
    return UntypedTable(tuple(made)), problems


def _array(name: str, data: object, problems: list[Problem]) -> pa.ChunkedArray | None:
    """Turn a column into Arrow; cells that Arrow refuses are a problem."""
    try:
        return to_arrow(data)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        found = kinds(data)
        what = f"cells of several types ({', '.join(found)})" if len(found) > 1 else f"cells that no table holds ({error})"
        kind = "float" if set(found) <= NUMBERS else "str"
        problems.append(Problem("MSEL-383", what, f"column '{name}'", f"make them one type: frame[{name!r}].astype({kind})"))
        return None


def _column(name: str, array: pa.ChunkedArray, problems: list[Problem]) -> RawColumn | None:
    """Read an Arrow column; types that cannot be read are a problem."""
    reason = ""
    try:
        if arrow.can_be_read(array.type):
            return arrow.column(name, array)
    except pa.ArrowException as error:
        reason = f" ({error})"
    fix = "make it numbers or texts, or take the column out"
    problems.append(Problem("MSEL-365", f"type {array.type} cannot be read{reason}", f"column '{name}'", fix))
    return None


def _roles_of_a_task(roles: Mapping[str, object]) -> Iterator[Problem]:
    for role in roles:
        yield Problem("MSEL-382", f"a task has its {role} already", role, "leave it out, or hand over a table")


# Sources of tables: columns in their own types, what a sparse matrix is as a table, what a table is as a frame.
#
# A table of numbers holds a sparse matrix whole where it is small. A large one is known by its rows: a digest and the number of
# its entries stand for each, by which equal rows are recognised again; only estimator objects can read such a table.


MOST_CELLS = 1 << 24  # of a sparse matrix that becomes a table of numbers
EXACT = 1 << 53  # whole numbers up to here are exact as floats
ROW, ENTRIES = "row", "entries"


def is_sparse(data: object) -> bool:
    """Say whether it is a sparse matrix or array of SciPy.

    >>> is_sparse(np.eye(2))
    False
    """
    return hasattr(data, "tocsr") and hasattr(data, "nnz")


def of_columns(data: Any, names: Collection[str]) -> Source:
    """The columns that are called so, in their order and types; of an array those at the places that x0, x1, ... name."""
    if is_sparse(data):
        return Source(data.tocsr())
    if isinstance(data, np.ndarray):
        places = [place for place in range(data.shape[1]) if f"x{place}" in names] if data.ndim == 2 else []
        return Source(data if len(places) == data.shape[1] else data[:, places])
    if isinstance(data, pd.DataFrame):
        return Source(data.loc[:, [str(name) in names for name in data.columns]])
    frame = nw.from_native(_table_of(data), eager_only=True)
    return Source(frame.select([name for name in frame.columns if name in names]).to_native())


def _table_of(data: object) -> Any:
    """A batch of Arrow's as a table of it; any other frame as it is."""
    return pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data


def of_table(table: Table) -> Source:
    """A frame of what a table says, for one that came from a file: numbers, texts, ordered categories, moments."""
    rows = int(table.rows.max()) + 1 if len(table) else 0
    columns: dict[str, object] = {}
    for index, feature in enumerate(table.features):
        values = np.full(rows, np.nan)
        values[table.rows] = table.values[:, index]
        if feature.is_number:
            columns[feature.name] = pd.to_datetime(values, unit="s") if feature.dates else values
            continue
        codes = np.where(np.isnan(values) | (values >= len(feature.levels)), -1, values).astype(np.int64)
        if feature.is_ranked:
            columns[feature.name] = pd.Categorical.from_codes(codes, pd.Index(feature.levels), ordered=True)
        else:
            columns[feature.name] = np.append(np.array(feature.levels, object), [np.nan])[codes]
    return Source(pd.DataFrame(columns))


def read_as_given(task: Task) -> Task:
    """The task with a source for estimator objects: columns in their own types, labels as the target's column held them."""
    source = of_table(task) if task.source is None else task.source
    if source.classes is None and isinstance(task, ClassTask):
        told = None if task.reading is None else task.reading.target
        source = replace(source, classes=labels(task.class_names, told))
    return replace(task, source=source)


def of_sparse(matrix: Any) -> NDArray[Any] | pd.DataFrame:
    """A sparse matrix as a table of numbers, or a digest and a number of entries per row where it is too large for that."""
    if matrix.shape[0] * matrix.shape[1] <= MOST_CELLS:
        return np.asarray(matrix.toarray(), np.float64)
    rows = matrix.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    parts = zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True)
    said = [
        _number(rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].astype(np.float64).tobytes()) for a, b in parts
    ]
    return pd.DataFrame({ROW: np.array(said), ENTRIES: np.diff(rows.indptr).astype(np.float64)})


def by_rows(data: Iterable[object]) -> Floats:
    """Rows that are no row of numbers (arrays of more dimensions, objects) as a digest each."""
    return np.array([[_number(_bytes(row))] for row in data])


def _bytes(row: object) -> bytes:
    """What a row holds: a text, numbers, or what it shows."""
    if isinstance(row, str):
        return b"text:" + row.encode()
    array = np.asarray(row)
    return array.tobytes() if not array.dtype.hasobject else repr(row).encode()


def _number(data: bytes) -> float:
    return float(int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little") % EXACT)
