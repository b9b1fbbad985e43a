"""Summary of the data for the report: kinds, levels, missing values, quartiles, class balance, repeated rows."""

from typing import Any

import numpy as np

from modelsel.core.types import Feature, Floats, Integers, Task

SHOWN = 500  # features; a page with more would not be read, and would not be small
LEVELS = 6
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, odd: Fibonacci hashing


def data(task: Task) -> dict[str, Any]:
    """Plain facts about the development rows; nothing of the test rows is here."""
    counts = np.bincount(task.target, minlength=len(task.classes))
    features = [feature(item, task.values[:, i]) for i, item in enumerate(task.features[:SHOWN])]
    return {
        "rows": len(task),
        "features": features,
        "not_shown": max(0, len(task.features) - SHOWN),
        "kinds": {kind: sum(item.kind == kind for item in task.features) for kind in ("numeric", "nominal", "ordered")},
        "classes": [{"name": name, "rows": int(count)} for name, count in zip(task.classes, counts)],
        "missing": float(np.isnan(task.values).mean()) if task.values.size else 0.0,
        "repeated_rows": repeated(task),
        "weighted": task.weights is not None,
        "groups": None if task.groups is None else len(np.unique(task.groups)),
    }


def feature(item: Feature, values: Floats) -> dict[str, Any]:
    """Kind, share of missing values, number of different ones, and either quartiles or the most frequent levels."""
    present = values[~np.isnan(values)]
    facts = {"name": item.name, "kind": item.kind, "missing": 1 - len(present) / max(1, len(values))}
    if item.kind == "numeric":
        quartiles = np.quantile(present, [0, 0.25, 0.5, 0.75, 1]).tolist() if len(present) else []
        return {**facts, "different": len(np.unique(present)), "quartiles": quartiles, "dates": item.dates}
    counts = np.bincount(present.astype(np.int64), minlength=len(item.levels) + 1)
    named = [*item.levels, "(not declared)"]
    top = [index for index in np.argsort(-counts, kind="stable")[:LEVELS] if counts[index]]
    return {
        **facts,
        "different": int((counts > 0).sum()),
        "levels": [{"name": named[index], "rows": int(counts[index])} for index in top],
    }


def repeated(task: Task) -> int:
    """Rows that are equal to an earlier one in all features and the class."""
    rows = _perhaps_repeated(task)
    whole = np.column_stack([task.values[rows], task.target[rows]])
    bytes_of_rows = np.ascontiguousarray(np.nan_to_num(whole, nan=np.inf)).view(np.dtype((np.void, whole.shape[1] * 8)))
    return len(rows) - len(np.unique(bytes_of_rows))


def _perhaps_repeated(task: Task) -> Integers:
    """Rows whose hash another row has: all that are repeated are among them, and only they are compared whole."""
    mixed = task.target.astype(np.uint64)
    for column in task.values.T:
        mixed = (mixed ^ np.nan_to_num(column, nan=np.inf).view(np.uint64)) * MULTIPLIER
        mixed ^= mixed >> np.uint64(29)
    ordered = np.sort(mixed)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(twice):
        return np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(twice, mixed), len(twice) - 1)
    return np.flatnonzero(twice[at] == mixed)
