"""Sources of tables: columns in their own types, what a sparse matrix is as a table, what a table is as a frame.

A table of numbers holds a sparse matrix whole where it is small. A large one is known by its rows: a digest and the number of
its entries stand for each, by which equal rows are recognised again; only estimator objects can read such a table.
"""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from modelsel.core.source import Source
from modelsel.core.types import ClassTask, Floats, Table, Task
from modelsel.dataset.columns.spellings import labels

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
        if feature.kind == "numeric":
            columns[feature.name] = pd.to_datetime(values, unit="s") if feature.dates else values
            continue
        codes = np.where(np.isnan(values) | (values >= len(feature.levels)), -1, values).astype(np.int64)
        if feature.kind == "ordered":
            columns[feature.name] = pd.Categorical.from_codes(codes, pd.Index(feature.levels), ordered=True)
        else:
            columns[feature.name] = np.append(np.array(feature.levels, object), [np.nan])[codes]
    return Source(pd.DataFrame(columns))


def read_as_given(task: Task) -> Task:
    """The task with a source for estimator objects: columns in their own types, labels as the target's column held them."""
    source = of_table(task) if task.source is None else task.source
    if source.classes is None and isinstance(task, ClassTask):
        source = replace(source, classes=labels(task.class_names, task.label_type))
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
