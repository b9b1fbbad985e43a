"""Data frames and arrays at the doors of estimators: a frame is read as a study reads it, an array holds numbers."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from modelsel.core.errors import DataError, ModelselError
from modelsel.core.reading import TableReading
from modelsel.core.types import Feature, Floats, Table
from modelsel.dataset.base import TableSettings
from modelsel.dataset.column import RawColumn, moments
from modelsel.dataset.in_memory import columns, is_frame
from modelsel.dataset.kinds import make
from modelsel.dataset.reading import apply, warn_of_unseen


def read_frame(frame: object) -> tuple[TableReading, Table]:
    """How a table is read, and its rows: decided as a study decides it, a column called x0, x1, ... where words name none.

    Raises ValueError with every problem of the columns.

    >>> frame = pd.DataFrame({"size": [1.5, None], "colour": pd.Categorical(["red", "blue"])})
    >>> read_frame(frame)[1].values.tolist()
    [[1.5, 1.0], [nan, 0.0]]
    """
    settings, found = TableSettings(), _columns(frame)
    names = [column.name for column in found]
    if not all(isinstance(name, str) for name in getattr(frame, "columns", names)):
        found = [replace(column, name=f"x{place}") for place, column in enumerate(found)]
    made = [make(column.without(settings.missing), settings) for column in found]
    if problems := [problem for one in made for problem in one.problems]:
        raise ValueError(str(DataError(*problems)))
    reading = TableReading(tuple(one.reading for one in made if one.reading is not None))
    values = np.column_stack([one.values for one in made if one.values is not None])
    return reading, Table(name="frame", features=reading.features, values=values, rows=np.arange(len(values)))


def rows_of_frame(frame: object, reading: TableReading, by_name: bool = False) -> Table:
    """The rows of a table as a reading says, its columns by their place or by name. Raises ValueError with all problems.

    A level that the reading does not list has the code `len(levels)`, and is warned of.
    """
    found = _columns(frame, new_rows=True)
    if not by_name:
        found = [replace(column, name=one.name) for column, one in zip(found, reading.columns, strict=True)]
    try:
        return warn_of_unseen(apply(found, reading, "table", "data").table)
    except DataError as error:  # what scikit-learn's callers catch
        raise ValueError(str(error)) from error


def has_cells(data: object) -> bool:
    """Say whether the cells tell how to read them: those of a frame, and of an array that holds texts or dates.

    >>> has_cells(np.array([["red", 1.5]], object)), has_cells(np.array([[2, 1.5]], object))
    (True, False)
    """
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.size:
        return data.dtype.kind in "USM" or (data.dtype.kind == "O" and any(isinstance(cell, str) for cell in data.flat))
    return is_frame(data)


def _columns(frame: object, new_rows: bool = False) -> list[RawColumn]:
    """The columns of a table, as a study reads them."""
    try:
        return list(columns(frame, new_rows).values())
    except ModelselError as error:
        raise ValueError(str(error)) from error


def moments_of(times: object, rows: int) -> Floats:
    """Times of rows as numbers: numbers as they are, dates as seconds since 1970. ValueError for what is neither, or missing.

    >>> moments_of(["1970-01-02", "1970-01-03"], 2).tolist(), moments_of([3, 1], 2).tolist()
    ([86400.0, 172800.0], [3.0, 1.0])
    """
    column = pd.Series(times).reset_index(drop=True)
    found = _moments(column)
    if found is None:
        found = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    if len(found) != rows or not np.isfinite(found).all():
        raise ValueError(f"times are a number or a date (ISO 8601) for each of the {rows} rows")
    return found


def _moments(column: "pd.Series[Any]") -> Floats | None:
    """Return the seconds since 1970 of a column of dates (UTC where no zone is said), NaN where missing; None for any other."""
    if isinstance(column.dtype, pd.DatetimeTZDtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        texts = column.map(lambda moment: moment.isoformat(), na_action="ignore").astype(object)
    elif pd.api.types.is_numeric_dtype(column.dtype) or isinstance(column.dtype, pd.CategoricalDtype):
        return None
    else:
        texts = column.map(str, na_action="ignore").astype(object)
    codes, found = pd.factorize(texts)
    since = moments(found.tolist())
    return None if since is None else np.append(since, np.nan)[codes]


# Arrays that need no conversion: what scikit-learn's check would hand back as it is, told without its fixed cost.
#
# Its check takes a tenth of a millisecond whatever the size, which is half of what a prediction of a thousand rows takes.
# Whatever is not plain goes to it, so that every refusal is worded by scikit-learn.


def plain_matrix(data: object) -> bool:
    """Say whether this is a NumPy array of rows × features in double precision, with a row and a feature at least.

    >>> plain_matrix(np.ones((2, 1))), plain_matrix([[1.0]]), plain_matrix(np.ones((0, 1)))
    (True, False, False)
    """
    return type(data) is np.ndarray and data.ndim == 2 and data.dtype == np.float64 and data.size > 0


def plain_labels(labels: object, rows: int) -> bool:
    """Say whether this is a NumPy array of whole numbers, truth values or texts, one per row.

    >>> plain_labels(np.array(["a", "b"]), 2), plain_labels(np.array([0.5, 1.0]), 2)
    (True, False)
    """
    return type(labels) is np.ndarray and labels.shape == (rows,) and labels.dtype.kind in "iubU"


def plain_numbers(numbers: object, rows: int) -> bool:
    """Say whether this is a NumPy array of finite numbers in double precision, one per row.

    >>> plain_numbers(np.array([0.5, 1.0]), 2), plain_numbers(np.array([0.5, np.nan]), 2), plain_numbers([0.5, 1.0], 2)
    (True, False, False)
    """
    return type(numbers) is np.ndarray and numbers.shape == (rows,) and numbers.dtype == np.float64 and finite_sum(numbers)


def finite_sum(data: NDArray[np.generic]) -> bool:
    """Say whether the sum is finite: then every number is. False says nothing: a number is missing, or a sum too large.

    >>> finite_sum(np.array([[1.0, np.inf]]))
    False
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.add.reduce(data, axis=None)))


def numeric_features(count: int) -> tuple[Feature, ...]:
    """Features x0, x1, ...: a new tuple at each call, since tables of the same tuple and values share their ranks."""
    return tuple(_numeric_features(count))


@cache
def _numeric_features(count: int) -> list[Feature]:
    return [Feature.of_numbers(f"x{index}") for index in range(count)]
