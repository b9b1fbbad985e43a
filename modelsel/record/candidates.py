"""candidates.csv: one row per candidate in declared order, every hyper-parameter a column of dotted name.

A cell that a spreadsheet would take for a formula gets an apostrophe in front, as OWASP advises (CSV injection, 2020); a
parameter that a candidate does not have is empty, one that is None is `none`.
"""

import csv
import json
import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from io import StringIO
from itertools import takewhile
from typing import Any

import numpy as np

from modelsel.core.selection import Selection
from modelsel.core.types import Candidate, Integers, Scoreboard

OPTIONAL_PARTS = ("calibrator", "decision", "preparer", "target.transform")  # of a learner; what is not there is called `none`
NONE = "none"
MEASURE = "measure."  # before the name of a measure beside the one that chose
RISKY = ("=", "+", "-", "@", "\t", "\r", "'")


@dataclass(frozen=True)
class Row:
    """A candidate as the record keeps it. Numbers are NaN where there is none, `rank` is 0 where it was not eligible.

    Its plain values are the file's first columns, in this order. One with a default may be missing in an older file.
    """

    id: str
    entry: str
    learner: str
    status: str
    rank: int
    mean: float
    se: float
    difference_se: float = field(default=math.nan, kw_only=True)  # of the mean less the winner's; NaN for the winner
    complexity: float
    unit: str
    training_error: float
    trial: int = field(default=0, kw_only=True)  # at which it was drawn from its entry, from 1; 0: it was declared
    reason: str
    folds: tuple[float, ...]
    parameters: Mapping[str, str]
    measures: Mapping[str, float] = field(default_factory=dict)  # others than the one that chose, NaN where not known

    @cached_property
    def label(self) -> str:
        """The candidate's name in reports: its entry, else its learner."""
        return self.entry or self.learner


FIXED = {
    each.name: each for each in fields(Row) if each.name not in ("folds", "parameters", "measures")
}  # as the columns stand


def ranks(board: Scoreboard) -> Integers:
    """1 for the best eligible candidate, ties by complexity, then declared order; 0 where not eligible."""
    order = np.lexsort((np.arange(len(board.ids)), board.complexity, board.cost))
    rank = np.empty(len(board.ids), np.int64)
    rank[order] = np.arange(1, len(order) + 1)
    return np.where(board.eligible, rank, 0)


def settings_of(candidate: Candidate, numbers: bool) -> dict[str, object]:
    """Settings as the record has them; a tree of numbers leaves out those about classes unless they were set."""
    return {name: value for name, value in candidate.parameters.items() if not (numbers and is_of_classes(name, value))}


def is_of_classes(name: str, value: object) -> bool:
    """Say whether a setting is the default of one that trees of numbers do not read."""
    return name.endswith("pruner.impurity") and value == "misclassification"


def rows(selection: Selection) -> list[Row]:
    """The rows of the file, from what the cells added up to."""
    board, rank, numbers = selection.board, ranks(selection.board), selection.assessed.numbers
    return [
        Row(
            id=candidate.id,
            entry=candidate.entry,
            learner=str(candidate.parameters.get("kind", "")),
            status=selection.status[i],
            rank=int(rank[i]),
            mean=float(board.mean[i]),
            se=float(board.se[i]),
            complexity=float(board.complexity[i]),
            trial=candidate.trial,
            unit=board.unit[i],
            training_error=float(selection.means["training_error"][i]),
            reason=selection.reasons[i],
            folds=tuple(float(score) for score in board.folds[i]),
            parameters={name: word(value) for name, value in settings_of(candidate, numbers).items() if name != "kind"},
            measures={name: float(each[i]) for name, each in selection.beside.items()},
            difference_se=math.nan if selection.difference_se is None else float(selection.difference_se[i]),
        )
        for i, candidate in enumerate(selection.candidates)
    ]


def text(table: Sequence[Row]) -> str:
    """The file: LF line ends, fixed columns, folds, measures, then the parameters in the order in which they first appear."""
    measures = list(dict.fromkeys(name for row in table for name in row.measures))
    names = list(dict.fromkeys(name for row in table for name in row.parameters))
    width = max((len(row.folds) for row in table), default=0)
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*FIXED, *map(fold_name, range(width)), *(f"{MEASURE}{name}" for name in measures), *map(safe, names)])
    for row in table:
        fixed = (_cell(getattr(row, name)) for name in FIXED)
        others = (_cell(row.measures.get(name, math.nan)) for name in measures)
        writer.writerow([*fixed, *map(_cell, row.folds), *others, *(safe(row.parameters.get(name, "")) for name in names)])
    return out.getvalue()


def read_candidates(content: str) -> list[Row]:
    """The rows back: the columns before the first fold are known by name, in whatever order; the parameters stand last.

    Raises ValueError when the file is not one of ours, KeyError for a fixed column that is missing or that nobody knows.
    """
    lines = csv.reader(StringIO(content, newline=""))
    header = next(lines, [])
    fixed = (
        header[: header.index(fold_name(0))]
        if fold_name(0) in header
        else _leading_columns(header, lambda _, name: name in FIXED)
    )
    needed = [name for name, column in FIXED.items() if column.default is MISSING]
    if missing := [name for name in needed if name not in fixed] or [name for name in fixed if name not in FIXED]:
        raise KeyError(missing[0])
    folds = len(_leading_columns(header[len(fixed) :], lambda place, name: name == fold_name(place)))
    measures = len(_leading_columns(header[len(fixed) + folds :], lambda _, name: name.startswith(MEASURE)))
    return [_row(cells, header, fixed, folds, measures) for cells in lines if cells]


def word(value: object) -> str:
    """A parameter as text: `none`, `true`, the shortest decimal that reads back equal, JSON for lists.

    >>> [word(value) for value in (None, True, 0.1, 3, 3.0, "gini", [1, 2])]
    ['none', 'true', '0.1', '3', '3', 'gini', '[1, 2]']
    """
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, default=str)


def safe(value: str) -> str:
    """Text that no spreadsheet takes for a formula; a plain number stays one.

    >>> safe("=1+1"), safe("-0.5"), unsafe(safe("@home"))
    ("'=1+1", '-0.5', '@home')
    """
    return f"'{value}" if value.startswith(RISKY) and not _is_number(value) else value


def unsafe(value: str) -> str:
    """The text that `safe` was given."""
    return value[1:] if value.startswith("'") else value


def varied_parameters(table: Sequence[Row]) -> dict[str, dict[str, str]]:
    """Candidate id to the parameters that tell it from the others of its entry, the learner's own first."""
    by_label: dict[str, list[Row]] = {}
    for row in table:
        by_label.setdefault(row.label, []).append(row)
    names = {label: differing([row.parameters for row in rows]) for label, rows in by_label.items()}
    return {row.id: _telling_settings(row, names[row.label]) for row in table}


def _telling_settings(row: Row, names: Set[str]) -> dict[str, str]:
    """A part that only others of its entry have is `none` here."""
    own = {**row.parameters, **{part: NONE for part in OPTIONAL_PARTS if part not in row.parameters}}
    return {name: own[name] for name in sorted(own, key=lambda name: name.startswith("preparer")) if name in names}


def differing(parameters: Sequence[Mapping[str, object]]) -> set[str]:
    """Names of settings that tell candidates apart.

    A dotted setting that some do not have belongs to a part that they do not have, and the part is named already.
    """
    values: dict[str, set[str]] = {}
    for own in parameters:
        for name, value in own.items():
            values.setdefault(name, set()).add(word(value))
    whole = {name for name in values if "." not in name or name in OPTIONAL_PARTS}
    absent = {name for name in whole if any(name not in own for own in parameters)}
    return {name for name, found in values.items() if len(found) + (name in absent) > 1}


def fold_name(place: int) -> str:
    """The column of a fold's scores.

    >>> fold_name(3)
    'fold_03'
    """
    return f"fold_{place:02d}"


def _leading_columns(header: Sequence[str], belongs: Callable[[int, str], bool]) -> list[str]:
    """The first columns that belong together, each told its place among them and its name."""
    return [name for _, name in takewhile(lambda column: belongs(*column), enumerate(header))]


def _row(cells: Sequence[str], header: Sequence[str], fixed: Sequence[str], folds: int, measures: int) -> Row:
    """Read a line of known column groups, as a parameter may be called like a fixed column."""
    line = dict(zip(fixed, cells, strict=False))
    first, last = len(fixed) + folds, len(fixed) + folds + measures
    names, values, scores = header[last:], cells[last:], cells[len(fixed) : first]
    return Row(
        **{name: READ[FIXED[name].type](cell) for name, cell in line.items()},
        folds=tuple(_number(score) for score in scores),
        parameters={unsafe(name): unsafe(value) for name, value in zip(names, values, strict=False) if value != ""},
        measures={
            name.removeprefix(MEASURE): _number(cell) for name, cell in zip(header[first:last], cells[first:last], strict=True)
        },
    )


def _cell(value: object) -> str:
    """Write a cell; empty for 0 and for what is not finite."""
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    if isinstance(value, int):
        return str(value) if value else ""
    return safe(str(value))


def _number(cell: str) -> float:
    return float(cell) if cell else math.nan


def _whole(cell: str) -> int:
    return int(cell or 0)


READ: Mapping[object, Callable[[str], Any]] = {str: unsafe, int: _whole, float: _number}


def _is_number(value: str) -> bool:
    """Say whether a text is a number."""
    try:
        float(value)
    except ValueError:
        return False
    return True
