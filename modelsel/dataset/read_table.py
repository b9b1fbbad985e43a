"""Read a table as a task (`modelsel.read_table`), or as new rows for a model; a file's suffix chooses the reader."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.spec import make
from modelsel.core.types import Feature, Finding, Floats, Table, Task, names, of_texts
from modelsel.dataset.base import nearest
from modelsel.dataset.column import RawColumn, examples, like_dates, name_rows, read_numbers, seconds
from modelsel.dataset.files import File, Raw, bare
from modelsel.dataset.kinds import ABSENT, OTHER
from modelsel.dataset.spellings import BOOLEAN, codes

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
    """The kind of `conf/dataset/` that reads a file; ConfigurationError for an unknown suffix."""
    suffix = bare(path).suffix.lower()
    if suffix not in READERS:
        fix = f"use one of {', '.join(READERS)}"
        raise ConfigurationError(Problem("MSEL-306", f"no reader for the suffix '{suffix}'", str(path), fix))
    return READERS[suffix]


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


# New rows for a fitted model: columns matched by name, levels mapped to the task's codes, unseen levels counted.


@dataclass(frozen=True, eq=False)
class PredictionRows:
    """Rows that a model can predict, and what was noticed about them."""

    table: Table
    findings: tuple[Finding, ...]
    ids: Mapping[str, Sequence[str]] = field(default_factory=dict)  # columns that identify the rows, as they stand there


def read_like(path: str | Path, features: Sequence[Feature], ids: Sequence[str] = (), **settings: object) -> PredictionRows:
    """Read the rows of a file as the features of a model; other columns of the file are left aside.

    A level that the features do not list becomes the code len(levels). Raises DataError for missing columns and cells
    that are no numbers, all in one pass.
    """
    source = reader(path, **settings)
    raw: Raw = source.raw(Path(path))
    made = like(raw.columns, features, bare(path).stem, str(path), source.missing, raw.decimal)
    return replace(made, ids={column.name: _cells(column) for column in raw.columns if column.name in ids})


def _cells(column: RawColumn) -> list[str]:
    """The texts of all rows, empty where there is none."""
    text = column.as_text()
    return list(np.array([*text.texts, ""], object)[text.codes])


def like(
    given: Sequence[RawColumn],
    features: Sequence[Feature],
    name: str,
    where: str,
    missing: Collection[str] = (),
    decimal: str = ".",
) -> PredictionRows:
    """Columns of any source as the features of a model, as `read_like` reads those of a file."""
    columns = {column.name: column.without(missing) for column in given}
    problems = [*_missing(features, columns, where)]
    findings: list[Finding] = []
    read = [
        _read_feature(feature, columns[feature.name], decimal, problems, findings)
        for feature in features
        if feature.name in columns
    ]
    DataError.raise_if(problems)
    rows = np.arange(len(given[0]))
    matrix = np.column_stack([values for _, values in read]) if read else np.empty((len(rows), 0))
    table = Table(name=name, features=tuple(feature for feature, _ in read), values=matrix, rows=rows)
    return PredictionRows(table, tuple(findings))


def _read_feature(
    feature: Feature, column: RawColumn, decimal: str, problems: list[Problem], findings: list[Finding]
) -> tuple[Feature, Floats]:
    """A column as a feature of the model; of texts with the levels of these rows."""
    if not feature.text:
        return feature, _values(feature, column, decimal, problems, findings)
    text = column.as_text()
    made, codes = of_texts(feature, [*text.texts, None])
    return made, codes[text.codes]


def _missing(features: Sequence[Feature], columns: dict[str, RawColumn], path: str) -> Iterator[Problem]:
    """Yield a problem for each column of the model that the file lacks."""
    for name in names(features):
        if name not in columns:
            yield Problem(
                "MSEL-370", f"the column '{name}' is missing", path, f"{nearest(name, list(columns))}the model needs it"
            )


def _values(feature: Feature, column: RawColumn, decimal: str, problems: list[Problem], findings: list[Finding]) -> Floats:
    if feature.kind != "numeric":
        return _levels(feature, column, findings)
    return _numeric(column.without(_absent(column)), decimal, problems)


def _absent(column: RawColumn) -> set[str]:
    """The words among a column's texts with which programs write a missing number."""
    return {text.strip() for text in column.texts if text.strip().casefold() in ABSENT} if column.codes is not None else set()


def _numeric(column: RawColumn, decimal: str, problems: list[Problem]) -> Floats:
    """Read numbers; a cell that is neither finite nor missing is a problem."""
    if column.numbers is not None:
        values = column.numbers
    else:
        values = np.append(_numbers_of(column, decimal), np.nan)[column.codes]
    wrong = np.flatnonzero((np.isnan(values) & ~column.absent) | np.isinf(values))
    if len(wrong):
        fix = "correct them or make them missing"
        problems.append(Problem("MSEL-346", f"not a finite number ({name_rows(wrong)})", f"column '{column.name}'", fix))
    return values


def _numbers_of(column: RawColumn, decimal: str) -> Floats:
    """The number of each text; the seconds of a moment; of a column of truth values 0 and 1."""
    if like_dates(column.texts):
        return seconds(column.texts)
    if column.levels == BOOLEAN:
        return np.array([BOOLEAN.index(text) for text in column.texts], np.float64)
    return read_numbers(column.texts, decimal)[0]


def _levels(feature: Feature, column: RawColumn, findings: list[Finding]) -> Floats:
    """Read levels as the model's codes; unseen levels get one code more, and a finding."""
    text = column.as_text()
    place, new = codes(feature.levels), len(feature.levels)
    other = place.get(OTHER, new)  # where rare levels were made one, a new level is one of them
    unseen = [level for level in text.texts if level not in place] if OTHER not in place else []
    code = np.array([*(place.get(level, other) for level in text.texts), np.nan], np.float64)
    values = np.asarray(code[text.codes])
    if unseen:
        count = int((values == new).sum())
        message = f"column '{feature.name}': {count} rows hold levels that the model has not seen: {examples(unseen)}"
        findings.append(Finding("UNSEEN_LEVELS", "medium", message, "a tree sends them with the majority"))
    return values
