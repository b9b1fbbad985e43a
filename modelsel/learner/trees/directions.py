"""Answers that may only rise, or fall, with a column: `monotone: {column: increasing or decreasing}`."""

from collections.abc import Iterable, Mapping

from modelsel.core.types import ClassTask, Table

DIRECTIONS = {"increasing": 1, "decreasing": -1}

Monotone = Mapping[str, str] | tuple[tuple[str, str], ...] | None


def sorted_monotone(monotone: Monotone) -> tuple[tuple[str, str], ...] | None:
    """Directions sorted by column; None where there are none.

    >>> sorted_monotone({"b": "increasing", "a": "decreasing"})
    (('a', 'decreasing'), ('b', 'increasing'))
    """
    if monotone is None:
        return None
    pairs = monotone.items() if isinstance(monotone, Mapping) else monotone
    return tuple(sorted((str(name), str(way)) for name, way in pairs)) or None


def monotone_signs(monotone: Monotone, table: Table) -> tuple[int, ...]:
    """Per feature whether answers may only rise (1) or fall (−1) with it; nothing where all of them may do both."""
    ways = dict(monotone or ())
    return tuple(DIRECTIONS.get(ways.get(one.name, ""), 0) for one in table.features) if ways else ()


def monotone_problems(monotone: Monotone, task: Table | None) -> Iterable[str]:
    """Yield which directions are none, or of no column of numbers or ranks; and that there are more classes than two."""
    for name, way in dict(monotone or ()).items():
        if way not in DIRECTIONS:
            yield f"monotone.{name} is increasing or decreasing, not {way!r}"
        if task is not None and name not in [one.name for one in task.features if one.kind != "nominal"]:
            yield f"monotone.{name}: there is no such column of numbers or ranks"
    if isinstance(task, ClassTask) and len(task.classes) != 2:
        yield f"monotone is of numbers and of two classes, and these are {len(task.classes)}"
