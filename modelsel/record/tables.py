"""The rows of a run's tables, read from its folder: columns of plain values, None where there is none."""

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as parquet

from modelsel.record.candidates import Row, safe
from modelsel.record.documents import DependenceFacts
from modelsel.record.files import json_text, storing, write
from modelsel.record.folder import DETAILS, RecordedRun, RunFolder

Columns = dict[str, list[Any]]  # by name, in the order in which they are declared
Line = Mapping[str, Any]


def tables(folder: RunFolder) -> dict[str, Columns]:
    """Every table of a finished run, by name.

    Raises ConfigurationError where the run was not finished, KeyError where its record is not whole.
    """
    run = RecordedRun(folder)
    return {name: _columns(name, _READERS[name](run)) for name in TABLES}


def _columns(name: str, lines: Iterator[Line]) -> Columns:
    kept = list(lines)
    return {column: [_none_if_missing(line.get(column)) for line in kept] for column in TABLES[name].columns}


def _none_if_missing(value: object) -> object:
    """None for NaN and for an empty text."""
    return None if value == "" or (isinstance(value, float) and not math.isfinite(value)) else value


def _candidates(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per candidate, with its difference from the winner."""
    won, near = run.outcome.winner.id, set(run.outcome.winner.indistinguishable)
    times = run.details.predict_1000_rows or {}
    best = next(row.mean for row in run.candidates if row.id == won)
    for row in run.candidates:
        told = None if row.id == won or not row.rank else row.id not in near
        same = {name: getattr(row, name) for name in TABLES["candidates"].columns if hasattr(row, name)}
        yield {
            **same, "entry": row.label, "rank": row.rank or None, "winner": row.id == won, "told_apart": told,
            "difference": row.mean - best, "predict_1000_rows": times.get(row.id),
        }  # fmt: skip


def _parameters(run: RecordedRun) -> Iterator[Line]:
    for row in run.candidates:
        yield from ({"id": row.id, "parameter": name, "value": value} for name, value in row.parameters.items())


def fold_lines(folder: RunFolder, rows: Sequence[Row]) -> Iterator[Line]:
    """Yield a line per candidate and fold."""
    facts = folder.details().known_folds
    for row in rows:
        with folder.reading(DETAILS):
            folds = list(zip(facts.repeat, facts.analysis, facts.assessment, row.folds, strict=True))
        for fold, (repeat, analysis, assessment, score) in enumerate(folds):
            yield {"id": row.id, "fold": fold, "repeat": repeat, "analysis": analysis, "assessment": assessment, "score": score}


def _measures(run: RecordedRun) -> Iterator[Line]:
    for row in run.candidates:
        yield {"id": row.id, "measure": run.outcome.measure, "chose": True, "mean": row.mean}
        yield from ({"id": row.id, "measure": name, "chose": False, "mean": mean} for name, mean in row.measures.items())


def _predictions(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per kept prediction."""
    assessed, rows, fold = run.folder.assessed(), run.folder.losses().row.tolist(), run.folder.fold()[:, 0].tolist()
    for at, name in enumerate(assessed.ids):
        for row, own, truth, said in zip(rows, fold, assessed.truth.tolist(), assessed.predicted[at].tolist(), strict=True):
            if not run.classes and not math.isnan(said):
                yield {"id": name, "row": row, "fold": own, "truth": f"{truth:.17g}", "predicted": f"{said:.17g}"}
            elif said >= 0 and run.classes:
                classes = {"truth": run.classes[truth], "predicted": run.classes[said]}
                yield {"id": name, "row": row, "fold": own, **classes}


def _scores(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per kept score of a class."""
    assessed, rows = run.folder.assessed(), run.folder.losses().row.tolist()
    for name, own in zip(assessed.ids, () if assessed.scores is None else assessed.scores):
        for row, scores in zip(rows, own.tolist(), strict=True):
            if not math.isnan(scores[0]):
                yield from ({"id": name, "row": row, "class": one, "score": said} for one, said in zip(run.classes, scores))


def _floor(run: RecordedRun) -> Iterator[Line]:
    for line in run.outcome.floor:
        yield {**line, **(line.cv or {})}


def _outer_folds(run: RecordedRun) -> Iterator[Line]:
    nested = run.outcome.nested
    for fold, (score, winner) in enumerate(zip(nested.scores, nested.winners, strict=True) if nested else ()):
        yield {"fold": fold, "score": score, "winner": winner}


def _slices(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per slice that was found or declared."""
    for kind, table in (
        ("found", run.explanation.weak_slices), ("declared", run.explanation.declared_slices)
    ):  # fmt: skip
        yield from ({"kind": kind, **line} for line in (table.slices if table else ()))


def _importance(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per column, group of columns and noise of each importance."""
    for one in run.explanation.importance:
        who = {"id": one.candidate}
        yield from ({**line, **who, "columns": line.column, "kind": "column"} for line in one.columns)
        yield from ({**line, **who, "columns": " + ".join(line.columns), "kind": "together"} for line in one.together)
        if one.noise:
            yield {**one.noise, **who, "kind": "noise"}


def _importance_folds(run: RecordedRun) -> Iterator[Line]:
    for line in _importance(run):
        yield from ({**line, "fold": fold, "importance": cost} for fold, cost in enumerate(line["folds"]))


def _values(one: DependenceFacts) -> list[Line]:
    levels = one.levels if one.levels else [None] * len(one.grid)
    return [{"column": one.column, "value": at, "level": level} for at, level in zip(one.grid, levels, strict=True)]


def _dependence(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per value of a column, and class where there are classes."""
    for one in run.explanation.dependence:
        for value, means in zip(_values(one), one.mean, strict=True):
            names = run.classes or (None,)
            yield from ({**value, "class": name, "mean": mean} for name, mean in zip(names, means, strict=True))


def _dependence_rows(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per point of each row's course."""
    for one in run.explanation.dependence:
        for line, scores in enumerate(one.lines["scores"]):
            drawn = {"line": line, "class": one.lines.get("class")}
            yield from ({**value, **drawn, "score": score} for value, score in zip(_values(one), scores, strict=True))


def _curve(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per point of the learning curve."""
    curve = run.explanation.curve
    if curve is None:
        return
    for one in curve.candidates:
        for share, rows, point in zip(curve.shares, curve.rows, one.points, strict=True):
            yield {"id": one.candidate, "entry": one.entry, "share": share, "rows": rows, **point}


def _doublings(run: RecordedRun) -> Iterator[Line]:
    curve = run.explanation.curve
    for one in curve.candidates if curve else ():
        yield {"id": one.candidate, "entry": one.entry, **one.doubling}


def _looks(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per look."""
    audit = run.details.audited
    for of in audit.test_sets if audit else ():
        for look in of.looks:
            low, high = look.interval or (None, None)
            yield {**look, "test_set": of.id, "low": low, "high": high}


_READERS: Mapping[str, Callable[[RecordedRun], Iterator[Line]]] = {
    "candidates": _candidates, "parameters": _parameters, "measures": _measures, "predictions": _predictions,
    "folds": lambda run: fold_lines(run.folder, run.candidates),
    "scores": _scores, "comparisons": lambda run: iter(run.details.pairs), "floor": _floor,
    "outer_folds": _outer_folds, "slices": _slices, "importance": _importance, "importance_folds": _importance_folds,
    "dependence": _dependence, "dependence_rows": _dependence_rows, "curve": _curve, "doubling": _doublings,
    "findings": lambda run: iter(run.outcome.findings), "looks": _looks,
}  # fmt: skip


# The tables of a run: their columns, what type these are, and what they hold. The page `docs/tables_of_a_run.md` has the same.
#
# A row says one thing, names of columns are the same in all tables, and `id` is that of a candidate. A type is `text`, `whole`,
# `number` or `truth`; every cell may be missing. A table of what a study did not compute has no rows.

Type = Literal["text", "whole", "number", "truth"]


@dataclass(frozen=True)
class Column:
    """A column: its type, and what it holds."""

    type: Type
    holds: str


@dataclass(frozen=True)
class TableKind:
    """A table: what a row of it is, and its columns by name."""

    row: str
    columns: Mapping[str, Column]


ID = Column("text", "candidate")
INTERVAL = {"low": Column("number", "lower end of the 95 % interval"), "high": Column("number", "its upper end")}
TESTED = {"p": Column("number", "p-value"), "adjusted": Column("number", "p-value after Holm's correction")}
VALUE = {
    "value": Column("number", "what the column is set to"),
    "level": Column("text", "the name of that value, where it has one"),
}
SHUFFLED = {
    "id": ID,
    "columns": Column("text", "what is shuffled; several columns that go together are joined by ` + `"),
    "kind": Column("text", "`column`, `together`, or `noise` for the column that was added"),
}

TABLES: Mapping[str, TableKind] = {
    "candidates": TableKind("a candidate", {
        "id": ID, "entry": Column("text", "entry of the space"), "learner": Column("text", "kind of its learner"),
        "status": Column("text", "`ok`, or why it has no score"), "rank": Column("whole", "1 is the best mean"),
        "winner": Column("truth", "whether it was chosen"),
        "told_apart": Column("truth", "whether the data tell it from the winner; missing for the winner"),
        "mean": Column("number", "of the study's measure over folds"), "se": Column("number", "its standard error"),
        "difference": Column("number", "mean less the winner's"),
        "difference_se": Column("number", "standard error of the difference"),
        "complexity": Column("number", "mean over folds, in `unit`"), "unit": Column("text", "what complexity counts"),
        "training_error": Column("number", "mean over folds"),
        "predict_1000_rows": Column("number", "seconds, measured once on the machine of the study"),
        "reason": Column("text", "why it has no score"),
    }),
    "parameters": TableKind("a setting of a candidate", {
        "id": ID, "parameter": Column("text", "dotted name"),
        "value": Column("text", "as `candidates.csv` writes it: `none`, `true`, a number, a word, JSON"),
    }),
    "folds": TableKind("a candidate on a fold", {
        "id": ID, "fold": Column("whole", "from 0"), "repeat": Column("whole", "from 0"),
        "analysis": Column("whole", "rows fitted on"), "assessment": Column("whole", "rows judged on"),
        "score": Column("number", "by the study's measure"),
    }),
    "measures": TableKind("a candidate by a measure", {
        "id": ID, "measure": Column("text", "name"), "chose": Column("truth", "whether it is the study's measure"),
        "mean": Column("number", "over folds"),
    }),
    "predictions": TableKind("a development row that a candidate predicted out of fold", {
        "id": ID, "row": Column("whole", "of the source, from 0"), "fold": Column("whole", "of the first repeat"),
        "truth": Column("text", "class"), "predicted": Column("text", "class"),
    }),
    "scores": TableKind("a class score out of fold", {
        "id": ID, "row": Column("whole", "of the source, from 0"), "class": Column("text", "class"),
        "score": Column("number", "0 to 1, those of a row add up to 1; or decision values"),
    }),
    "comparisons": TableKind("two candidates on the same folds", {
        "first": Column("text", "candidate"), "second": Column("text", "candidate"),
        "difference": Column("number", "mean of the second less the first"), **INTERVAL, **TESTED,
        "method": Column("text", "the test"),
    }),
    "floor": TableKind("a learner that looks at no column", {
        "learner": Column("text", "kind"), "candidate": Column("truth", "whether the space lists it"),
        "mean": Column("number", "over folds"), "se": Column("number", "its standard error"),
        "reason": Column("text", "why it has no score"),
    }),
    "outer_folds": TableKind("an outer fold of nested cross-validation", {
        "fold": Column("whole", "from 0"), "score": Column("number", "of the winner of that fold"),
        "winner": Column("text", "who it was"),
    }),
    "slices": TableKind("a slice of the rows", {
        "kind": Column("text", "`found` on one half of the rows and counted on the other, or `declared`"),
        "column": Column("text", "of a declared slice"), "slice": Column("text", "the condition"),
        "rows": Column("whole", "in the slice"), "wrong": Column("whole", "of them; of numbers: off by more than a tolerance"),
        "rate": Column("number", "wrong / rows"),
        **INTERVAL, **TESTED, "mae": Column("number", "of numbers: mean absolute error"),
    }),
    "importance": TableKind("what shuffling costs a candidate", {
        **SHUFFLED, "mean": Column("number", "over folds"), **INTERVAL,
        "above_noise": Column("truth", "whether it is more than the column of noise"),
    }),
    "importance_folds": TableKind("the same on a fold", {
        **SHUFFLED, "fold": Column("whole", "from 0"), "importance": Column("number", "mean over permutations"),
    }),
    "dependence": TableKind("a value of a column and a class", {
        "column": Column("text", "name"), **VALUE, "class": Column("text", "class; none of numbers"),
        "mean": Column("number", "class score of the final model, or what it predicts, mean over rows"),
    }),
    "dependence_rows": TableKind("a value of a column in a single row", {
        "column": Column("text", "name"), "line": Column("whole", "which of the rows, from 0"), **VALUE,
        "class": Column("text", "class; none of numbers"),
        "score": Column("number", "class score of the final model, or what it predicts"),
    }),
    "curve": TableKind("a candidate on a share of the rows", {
        "id": ID, "entry": Column("text", "entry of the space"), "share": Column("number", "of each fold's analysis rows"),
        "rows": Column("number", "that many, mean over folds"), "mean": Column("number", "over folds"), **INTERVAL,
    }),
    "doubling": TableKind("what the second half of the rows brought a candidate", {
        "id": ID, "entry": Column("text", "entry of the space"),
        "mean": Column("number", "score with all rows less that with half of them, over folds"), **INTERVAL,
    }),
    "findings": TableKind("a finding", {
        "code": Column("text", "see `modelsel explain`"), "severity": Column("text", "info to critical"),
        "message": Column("text", "what"), "do": Column("text", "what helps"),
    }),
    "looks": TableKind("a look at the test rows", {
        "test_set": Column("text", "id in the ledger"), "at": Column("text", "time, UTC"),
        "study": Column("text", "who looked"),
        "replay": Column("truth", "whether an earlier answer was given again"), "score": Column("number", "as released"),
        "low": Column("number", "lower end of the certified interval"), "high": Column("number", "its upper end"),
        "price": Column("number", "nats"),
    }),
}  # fmt: skip


# A run's tables as files: a CSV each with `datapackage.json` beside them, which names the types, or a Parquet file each.
#
# Frictionless Data's Table Schema says of every column of the CSV what it is; text that a spreadsheet would take for a formula
# gets an apostrophe in front there, as in candidates.csv. Parquet has types of its own, and keeps every text as it is.

FORMATS = ("csv", "parquet")
PACKAGE = "datapackage.json"
ARROW = {"text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "truth": pa.bool_()}
SCHEMA = {"text": "string", "whole": "integer", "number": "number", "truth": "boolean"}


def write_tables(made: Mapping[str, Columns], folder: Path, to: str) -> Path:
    """Write every table as `csv` or `parquet` into a folder, which is made where it is not there. Raises StoreError."""
    with storing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, columns in made.items():
        if to == "csv":
            write(folder / f"{name}.csv", csv_text(columns))
        else:
            write(folder / f"{name}.parquet", _parquet(arrow_table(name, columns)))
    if to == "csv":
        write(folder / PACKAGE, json_text(_package()))
    return folder


def arrow_table(name: str, columns: Columns) -> pa.Table:
    """A table with the types of its columns, what they hold in the metadata of each."""
    kinds = TABLES[name].columns
    fields = [pa.field(column, ARROW[of.type], metadata={"description": of.holds}) for column, of in kinds.items()]
    schema = pa.schema(fields, metadata={"description": f"a row: {TABLES[name].row}"})
    return pa.table([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def csv_text(columns: Columns) -> str:
    """LF line ends; a missing cell is empty, a truth value `true` or `false`."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in line] for line in zip(*columns.values(), strict=True))
    return out.getvalue()


def _cell(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    return repr(value) if isinstance(value, float) else safe(str(value))


def _parquet(table: pa.Table) -> bytes:
    out = pa.BufferOutputStream()
    parquet.write_table(table, out)
    return bytes(out.getvalue())


def _package() -> dict[str, object]:
    """Describe the CSV files in the form of Frictionless Data's packages."""
    return {
        "profile": "tabular-data-package",
        "resources": [
            {
                "name": name, "path": f"{name}.csv", "profile": "tabular-data-resource", "title": f"a row: {kind.row}",
                "schema": {"missingValues": [""], "fields": [
                    {"name": column, "type": SCHEMA[of.type], "description": of.holds} for column, of in kind.columns.items()
                ]},
            }
            for name, kind in TABLES.items()
        ],
    }  # fmt: skip
