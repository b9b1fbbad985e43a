"""Labels as whoever gave them held them: truth values, numbers, dates, moments, decimals and texts.

Inside, a class is a text; what a model says goes back as the type that the target's column had. A table in memory and a Parquet
file have types of their own (`held`, as Arrow calls them); a CSV file holds texts, which table readers take for some `type`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, time
from decimal import Decimal
from typing import Any, Literal, cast

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from modelsel.core.reading import ColumnReading, Feature
from modelsel.core.types import Codes
from modelsel.dataset.arrow import column, to_arrow

TRUE, FALSE = "true", "false"
NUMBERS: Mapping[str, Any] = {"halffloat": np.float16, "float": np.float32, "double": np.float64}  # as Arrow calls them
MOMENT = re.compile(r"timestamp\[(\w+)(?:, tz=(.+))?\]")
FRACTION = re.compile(r"decimal\d+\(\d+, (-?\d+)\)")
TYPED: Mapping[str, Callable[[str], object]] = {
    "bool": lambda name: {TRUE: True, FALSE: False}[name.lower()], "int": int, "float": float,
}  # fmt: skip


def labels(classes: Sequence[str], told: ColumnReading | None) -> NDArray[np.generic]:
    """Classes as the target's column held them; texts where it held those, or nothing is told of it.

    >>> told = ColumnReading(Feature("y", "nominal"), type="bool")
    >>> labels(("false", "true"), told).tolist(), labels(("1", "2"), None).tolist()
    ([False, True], ['1', '2'])
    >>> labels(("2026-01-31",), ColumnReading(Feature("y", "nominal"), held="date32[day]")).tolist()
    [datetime.date(2026, 1, 31)]
    """
    try:
        if told is not None and told.held:
            return _read_names(classes, told.held)
        read = TYPED.get("" if told is None else told.type)
        return np.array(classes, object) if read is None else np.array([read(name) for name in classes])
    except (KeyError, ValueError, ArithmeticError):  # a class that was made of rare ones
        return np.array(classes, object)


def _read_names(names: Sequence[str], kind: str) -> NDArray[np.generic]:
    """Read the names of classes as cells of a type of Arrow."""
    if kind == "bool":
        return np.array([TYPED[kind](name) for name in names], np.bool_)
    if kind.startswith(("int", "uint")):
        return np.array([int(name) for name in names], kind)
    if kind in NUMBERS:
        return np.array([float(name) for name in names], NUMBERS[kind])
    if found := MOMENT.fullmatch(kind):
        unit, zone = cast(Literal["s", "ms", "us", "ns"], found[1]), found[2]
        if zone is None:
            return np.array([name.strip().replace(" ", "T") for name in names], f"datetime64[{unit}]")
        return _objects(pd.Timestamp(name).tz_convert(zone).as_unit(unit) for name in names)
    if found := FRACTION.fullmatch(kind):
        return _objects(Decimal(name).quantize(Decimal(1).scaleb(-int(found[1]))) for name in names)
    if kind.startswith("date"):
        return _objects(date.fromisoformat(name) for name in names)
    return _objects(time.fromisoformat(name) if kind.startswith("time") else name for name in names)


def _objects(cells: Any) -> NDArray[np.generic]:
    """One dimension of Python objects."""
    found = list(cells)
    made = np.empty(len(found), object)
    made[:] = found
    return made


DECIMAL = "decimal"
OWN = {"boolean", "date", "datetime", "datetime64", DECIMAL, "time"}  # as pandas calls them, in an array of objects


def own_type(y: Any) -> bool:
    """Say whether labels have a type that scikit-learn does not take as it is: dates, moments, decimals, nullable booleans.

    >>> own_type([date(2026, 1, 31)]), own_type(np.array([True])), own_type(["a"]), own_type(np.array([1.5]))
    (True, False, False, False)
    """
    return _kind(y) in OWN or (_kind(y) == "integer" and not isinstance(getattr(y, "dtype", np.dtype(int)), np.dtype))


def _kind(y: Any) -> str:
    """The type of labels that are no plain array, as pandas calls it; empty for plain ones, and for what is not a column."""
    series = nw.from_native(y, series_only=True, pass_through=True)
    extended = isinstance(series, nw.Series) and not isinstance(getattr(y, "dtype", None), np.dtype)
    found = np.asarray(y, object if extended else None)
    if found.ndim != 1 or found.dtype.kind not in "OM":
        return ""
    return str(pd.api.types.infer_dtype(found, skipna=True))


def as_numbers(y: Any) -> Any:
    """Decimals as numbers of double precision; anything else as it is.

    >>> as_numbers([Decimal("1.50")]).tolist()
    [1.5]
    """
    return np.asarray(y, object).astype(np.float64) if _kind(y) == DECIMAL else y


def held_labels(y: Any) -> tuple[NDArray[np.generic], Codes, ColumnReading]:
    """The distinct labels in ascending order as they were held, the place of each row's among them, and how they are read.

    Raises ValueError where a label is missing.

    >>> classes, place, told = held_labels([date(2026, 1, 31), date(2025, 1, 1)])
    >>> classes.tolist(), place.tolist(), told.feature.levels
    ([datetime.date(2025, 1, 1), datetime.date(2026, 1, 31)], [1, 0], ('2025-01-01', '2026-01-31'))
    """
    read = column("y", to_arrow(y))
    if read.absent.any():
        raise ValueError(f"Input y contains NaN: {int(read.absent.sum())} labels are missing.")
    text = read.as_text()
    told = ColumnReading(Feature.of_levels("y", tuple(text.texts)), type=read.type, held=read.held)
    classes = labels(text.texts, told)
    order = np.argsort(classes, kind="stable")
    told = replace(told, feature=replace(told.feature, levels=tuple(text.texts[at] for at in order.tolist())))
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    return classes[order], place[text.codes], told


TYPES = {"b": "bool", "i": "int", "u": "int", "f": "float"}  # of NumPy's kinds


def target_of(classes: NDArray[np.generic], names: Sequence[str]) -> ColumnReading:
    """How the target of labels was read that scikit-learn takes as they are."""
    return ColumnReading(Feature.of_levels("y", tuple(names)), type=TYPES.get(classes.dtype.kind, "str"))
