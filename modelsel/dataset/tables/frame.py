"""Data frames at the door: category (and text) columns are nominal or ordered, numbers numeric, NaN missing.

A column's levels are its categories, sorted unless they are ordered; of text, the values that occur, sorted.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from modelsel.core.types import Feature, Floats, Table
from modelsel.dataset.columns.kinds import sorted_levels
from modelsel.dataset.columns.spellings import codes as spelled


def as_pandas(frame: Any) -> pd.DataFrame:
    """A table of pandas, Polars or Arrow as one of pandas."""
    made: pd.DataFrame = nw.from_native(frame, eager_only=True).to_pandas()
    return made


def described(frame: pd.DataFrame) -> tuple[Feature, ...]:
    """A feature per column, in order, called x0, x1, ... where columns are not named by words.

    Raises ValueError for a column that is neither numbers nor categories.
    """
    named = all(isinstance(name, str) for name in frame.columns)
    names = [str(name) if named else f"x{index}" for index, name in enumerate(frame.columns)]
    return tuple(_feature(name, frame.iloc[:, index]) for index, name in enumerate(names))


def table(frame: pd.DataFrame, features: Sequence[Feature]) -> Table:
    """The frame's columns, by position, as these features; a level that they do not list has the code `len(levels)`.

    >>> frame = pd.DataFrame({"size": [1.5, None], "colour": pd.Categorical(["red", "blue"])})
    >>> table(frame, described(frame)).values.tolist()
    [[1.5, 1.0], [nan, 0.0]]
    """
    columns = [_values(feature, frame.iloc[:, index]) for index, feature in enumerate(features)]
    values = np.column_stack(columns) if columns else np.empty((len(frame), 0))
    return Table(name="frame", features=tuple(features), values=values, rows=np.arange(len(frame)))


def _feature(name: str, column: "pd.Series[Any]") -> Feature:
    """Describe a column of a data frame by its type."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        levels = tuple(str(level) for level in column.dtype.categories)
        return Feature(name, "ordered", levels) if column.dtype.ordered else Feature(name, "nominal", sorted_levels(levels))
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        return Feature(name, "numeric")
    if pd.api.types.is_string_dtype(column.dtype) or column.dtype == object:
        return Feature(name, "nominal", sorted_levels(tuple({str(value) for value in column.dropna()})))
    raise ValueError(f"Column {name!r} has dtype {column.dtype}: make it numeric, or a category.")


def _values(feature: Feature, column: "pd.Series[Any]") -> Floats:
    """Turn a column of a data frame into numbers, or into codes of levels."""
    if feature.kind == "numeric":
        numbers = pd.to_numeric(column, errors="raise").to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(numbers).any():
            raise ValueError(f"Column {feature.name!r} contains infinity.")
        return np.asarray(numbers)
    codes, found = pd.factorize(column.astype(object))
    place = spelled(feature.levels)
    known = np.array([*(place.get(str(level), len(feature.levels)) for level in found), np.nan], np.float64)
    return np.asarray(known[codes])
