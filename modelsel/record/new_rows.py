"""New rows by name: columns of raw values become the table that a model was fitted on, whatever their order.

A number is a number or text that reads as one; empty, `?`, None and NaN are missing. A level that the model never saw gets
the code `len(levels)`, as everywhere, is counted and named in a warning.
"""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from difflib import get_close_matches

import numpy as np

from modelsel.core.errors import DataError, Problem
from modelsel.core.types import Feature, Floats, Table, of_texts
from modelsel.dataset.column import like_dates, seconds
from modelsel.dataset.spellings import TRUTH, codes

MISSING = ("", "?")


def table(columns: Mapping[str, Sequence[object]], features: Sequence[Feature], name: str = "new rows") -> Table:
    """The table of the features a model wants; columns beside them are ignored.

    Raises DataError naming every column that is missing, of another length or not readable as its kind.
    """
    DataError.raise_if(_absent(columns, features))
    features, columns = _with_texts(columns, features)
    read = [_values(columns[feature.name], feature) for feature in features]
    DataError.raise_if([problem for _, problems in read for problem in problems])
    rows = len(read[0][0]) if read else 0
    DataError.raise_if(
        Problem("MSEL-624", f"column {f.name!r} has {len(v)} rows, the others {rows}")
        for f, (v, _) in zip(features, read)
        if len(v) != rows
    )
    values = np.column_stack([values for values, _ in read]) if read else np.empty((0, 0))
    return Table(name=name, features=tuple(features), values=values, rows=np.arange(rows, dtype=np.int64))


def _with_texts(
    columns: Mapping[str, Sequence[object]], features: Sequence[Feature]
) -> tuple[Sequence[Feature], Mapping[str, Sequence[object]]]:
    """Features of texts with the levels that these rows have."""
    said = {f.name: [None if _missing(value) else str(value) for value in columns[f.name]] for f in features if f.text}
    return [of_texts(f, said[f.name])[0] if f.text else f for f in features], {**columns, **said}


def unseen(rows: Table) -> dict[str, int]:
    """Values per feature that are no declared level, where there are any."""
    counts = {f.name: int((rows.values[:, i] >= len(f.levels)).sum()) for i, f in enumerate(rows.features) if f.levels}
    return {name: count for name, count in counts.items() if count}


def warn_of_unseen(rows: Table) -> Table:
    """Return the rows unchanged; a warning names the columns with levels that the model never saw, and counts their values."""
    if found := unseen(rows):
        each = ", ".join(f"{name!r} ({count} of {len(rows)} rows)" for name, count in found.items())
        warnings.warn(
            f"levels that the model has not seen, in column {each}; a tree sends them with the majority", stacklevel=4
        )
    return rows


def _absent(columns: Mapping[str, Sequence[object]], features: Sequence[Feature]) -> Iterable[Problem]:
    """Yield a problem for each column that is missing."""
    for feature in features:
        if feature.name not in columns:
            near = get_close_matches(feature.name, list(map(str, columns)), 1)
            fix = f"did you mean {near[0]!r}?" if near else f"the columns are: {', '.join(map(str, columns))}"
            yield Problem("MSEL-622", f"column {feature.name!r} is missing", "", fix)


def _values(column: Sequence[object], feature: Feature) -> tuple[Floats, list[Problem]]:
    """Read a column as numbers or level codes; the second value lists its problems."""
    raw = list(column)
    read = _numbers(raw) if feature.kind == "numeric" else _levels(raw, feature.levels)
    bad = [i for i, value in enumerate(read) if value is None]
    values = np.array([math.nan if value is None else value for value in read], np.float64)
    if not bad:
        return values, []
    where = f"column {feature.name!r} (row {', '.join(str(i + 1) for i in bad[:3])}{', ...' if len(bad) > 3 else ''})"
    fix = "the model wants numbers here, or nothing where the value is missing"
    return values, [Problem("MSEL-623", f"{str(raw[bad[0]])!r} is not a finite number", where, fix)]


def _numbers(raw: Sequence[object]) -> list[float | None]:
    """Numbers; a column of nothing but dates as seconds since 1970, as in a file."""
    there = [value for value in raw if not _missing(value)]
    texts = [value.isoformat() if isinstance(value, date) else str(value).strip() for value in there]
    if not there or not like_dates(texts):
        return [_number(value) for value in raw]
    found = iter(seconds(texts).tolist())
    return [math.nan if _missing(value) else next(found) for value in raw]


def _number(value: object) -> float | None:
    """Read a number; NaN where it is missing, None where it is none."""
    if _missing(value):
        return math.nan
    try:
        number = float(value)  # type: ignore[arg-type]  # whatever it is, it is asked
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _levels(raw: Sequence[object], levels: Sequence[str]) -> list[float | None]:
    """Codes of levels; `len(levels)` for one that is none of them."""
    place = codes(levels)

    def code(value: object) -> float:
        if _missing(value):
            return math.nan
        return float(next((place[text] for text in _spellings(value) if text in place), len(levels)))

    return [code(value) for value in raw]


def _spellings(value: object) -> Iterable[str]:
    """Yield the ways to write a level: as it is, stripped, a whole number without its point, a truth value as 0/1."""
    yield str(value)
    yield str(value).strip()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        yield str(int(value))
    if isinstance(value, bool | np.bool_):
        yield from TRUTH[str(bool(value)).lower()]


def _missing(value: object) -> bool:
    if isinstance(value, str):
        return value.strip() in MISSING
    return value is None or type(value).__name__ == "NAType" or value != value  # NA has no truth value
