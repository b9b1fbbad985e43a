"""Data frames at the door: category (and text) columns are nominal or ordered, numbers numeric, NaN missing.

A column's levels are its categories, sorted unless they are ordered; of text, the values that occur, sorted. Dates are numeric,
as seconds since 1970, also where all texts are dates (ISO 8601).
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from modelsel.core.types import Feature, Floats, Table
from modelsel.dataset.column import moments
from modelsel.dataset.kinds import sorted_levels
from modelsel.dataset.spellings import codes as spelled


def as_pandas(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of pandas, Polars or Arrow as one of pandas."""
    made: pd.DataFrame = nw.from_native(frame, eager_only=True).to_pandas()
    return made


def describe_columns(frame: pd.DataFrame) -> tuple[Feature, ...]:
    """A feature per column, in order, called x0, x1, ... where columns are not named by words.

    Raises ValueError for a column that is neither numbers nor categories.
    """
    named = all(isinstance(name, str) for name in frame.columns)
    names = [str(name) if named else f"x{index}" for index, name in enumerate(frame.columns)]
    return tuple(_feature(name, frame.iloc[:, index]) for index, name in enumerate(names))


def table(frame: pd.DataFrame, features: Sequence[Feature]) -> Table:
    """The frame's columns, by position, as these features; a level that they do not list has the code `len(levels)`.

    >>> frame = pd.DataFrame({"size": [1.5, None], "colour": pd.Categorical(["red", "blue"])})
    >>> table(frame, describe_columns(frame)).values.tolist()
    [[1.5, 1.0], [nan, 0.0]]
    """
    columns = [_values(feature, frame.iloc[:, index]) for index, feature in enumerate(features)]
    values = np.column_stack(columns) if columns else np.empty((len(frame), 0))
    return Table(name="frame", features=tuple(features), values=values, rows=np.arange(len(frame)))


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


def _feature(name: str, column: "pd.Series[Any]") -> Feature:
    """Describe a column of a data frame by its type."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        levels = tuple(str(level) for level in column.dtype.categories)
        return Feature(name, "ordered", levels) if column.dtype.ordered else Feature(name, "nominal", sorted_levels(levels))
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        return Feature(name, "numeric")
    if _moments(column) is not None:
        return Feature(name, "numeric", dates=True)
    if pd.api.types.is_string_dtype(column.dtype) or column.dtype == object:
        return Feature(name, "nominal", sorted_levels(tuple({str(value) for value in column.dropna()})))
    raise ValueError(f"Column {name!r} has dtype {column.dtype}: make it numeric, or a category.")


def _values(feature: Feature, column: "pd.Series[Any]") -> Floats:
    """Turn a column of a data frame into numbers, or into codes of levels."""
    if feature.kind == "numeric":
        since = _moments(column) if feature.dates else None
        numbers = pd.to_numeric(column, errors="raise").to_numpy(np.float64, na_value=np.nan) if since is None else since
        if np.isinf(numbers).any():
            raise ValueError(f"Column {feature.name!r} contains infinity.")
        return np.asarray(numbers)
    codes, found = pd.factorize(column.astype(object))
    place = spelled(feature.levels)
    known = np.array([*(place.get(str(level), len(feature.levels)) for level in found), np.nan], np.float64)
    return np.asarray(known[codes])


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
    return [Feature(f"x{index}", "numeric") for index in range(count)]
