"""Read a table as a task (`modelsel.read_table`), or as new rows for a model; a file's suffix chooses the reader."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.reading import TableReading
from modelsel.core.spec import make
from modelsel.core.types import Task
from modelsel.dataset.column import RawColumn
from modelsel.dataset.files import File, Raw, bare, parquet_files
from modelsel.dataset.reading import PredictionRows, apply

READERS = {
    ".csv": "csv",
    ".data": "csv",
    ".txt": "csv",
    ".tsv": "csv",
    ".arff": "arff",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def kind_of_file(path: str | Path) -> str:
    """The kind of `conf/dataset/` that reads a file, or a folder of Parquet files; ConfigurationError for an unknown suffix."""
    suffix = bare(path).suffix.lower()
    if holds_parquet(path):
        return "parquet"
    if suffix not in READERS:
        fix = f"use one of {', '.join(READERS)}"
        raise ConfigurationError(Problem("MSEL-306", f"no reader for the suffix '{suffix}'", str(path), fix))
    return READERS[suffix]


def holds_parquet(path: str | Path) -> bool:
    """Say whether this is a folder in which Parquet files stand, however deep."""
    return Path(path).is_dir() and any(parquet_files(Path(path)))


def reader(path: str | Path, **settings: object) -> File:
    """The dataset part that reads a file; ConfigurationError for an unknown suffix or setting."""
    kind, suffix = kind_of_file(path), bare(path).suffix.lower()
    if suffix == ".tsv":
        settings.setdefault("delimiter", "\t")
    made: File = _make_dataset(kind, f"reading {path}", path=str(path), **settings)
    return made


def read_table(data: object, target: object = None, **settings: object) -> Task:
    """Read a table as a task: features, classes, and what is known of them.

    A CSV, ARFF or Parquet file, or a table in memory.

    Parameters
    ----------
    data : str, Path, table, array or tuple
        A file, a pandas, Polars or PyArrow table, a NumPy array, or `(X, y)`.
    target : str or array-like, optional
        The column of classes, or the classes themselves.
    **settings
        Those of `conf/dataset/`; `weights`, `groups` and `id` may be arrays as well as names.

    Returns
    -------
    Task
        Values (rows × features), classes and roles.

    Raises
    ------
    ConfigurationError
        A missing file, no such column; all problems at once.
    DataError
        Contents that cannot be used; all problems at once.

    Examples
    --------
    >>> import numpy as np
    >>> task = read_table((np.array([[1.0], [2.0], [3.0], [4.0]]), ["a", "b", "a", "b"]))
    >>> task.classes
    ('a', 'b')
    """
    if isinstance(data, str | Path):
        return reader(data, target=target, **settings).read()
    if isinstance(data, Task):
        return data
    from modelsel.dataset.in_memory import ROLES, UnreadColumnsError, take_table  # narwhals, which a file does without

    roles = {role: settings.pop(role) for role in ROLES[1:] if role in settings}
    try:
        return _task(take_table(data, target=target, **roles), settings)
    except UnreadColumnsError as error:
        unread, rest = error.problems, error.rest
    try:
        _task(rest, settings)
    except DataError as error:
        raise DataError(*unread, *error.problems) from None
    except ConfigurationError:  # a target, or a setting, of one of those columns
        pass
    raise DataError(*unread)


def _task(taken: Any, settings: Mapping[str, object]) -> Task:
    """Hold a table in memory, and read it by these settings."""
    from modelsel.dataset.untyped import hold

    table = hold(taken.table)
    return _make_dataset("memory", "reading a table", content=table.content, **taken.roles, **settings).read()  # type: ignore[no-any-return]


def _make_dataset(kind: str, where: str, **settings: object) -> Any:
    """Make a data set of a kind; an unknown setting is a problem."""
    try:
        return make("dataset", kind, **settings)
    except TypeError as error:
        word = str(error).rpartition("argument ")[2]
        raise ConfigurationError(Problem("MSEL-305", f"unknown setting {word}", where, "see conf/dataset/")) from error


def read_like(path: str | Path, reading: TableReading, ids: Sequence[str] = (), **settings: object) -> PredictionRows:
    """Read the rows of a file as a model reads them; other columns of the file are left aside. Raises as `apply`."""
    texts = {column.name: "nominal" for column in reading.columns if column.is_read_as_text}
    raw: Raw = reader(path, features=texts, **settings).raw(Path(path))
    made = apply(raw.columns, reading, bare(path).stem, str(path), raw.decimal)
    return replace(made, ids={column.name: _cells(column) for column in raw.columns if column.name in ids})


def _cells(column: RawColumn) -> list[str]:
    """The texts of all rows, empty where there is none."""
    text = column.as_text()
    return list(np.array([*text.texts, ""], object)[text.codes])
