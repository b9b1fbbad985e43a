"""The tables of a run: their columns, what type these are, and what they hold. The page `docs/tables_of_a_run.md` has the same.

A row says one thing, names of columns are the same in all tables, and `id` is that of a candidate. A type is `text`, `whole`,
`number` or `truth`; every cell may be missing. A table of what a study did not compute has no rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

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
        "score": Column("number", "0 to 1; the scores of a row add up to 1"),
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
        "rows": Column("whole", "in the slice"), "wrong": Column("whole", "of them"), "rate": Column("number", "wrong / rows"),
        **INTERVAL, **TESTED,
    }),
    "importance": TableKind("what shuffling costs a candidate", {
        **SHUFFLED, "mean": Column("number", "over folds"), **INTERVAL,
        "above_noise": Column("truth", "whether it is more than the column of noise"),
    }),
    "importance_folds": TableKind("the same on a fold", {
        **SHUFFLED, "fold": Column("whole", "from 0"), "importance": Column("number", "mean over permutations"),
    }),
    "dependence": TableKind("a value of a column and a class", {
        "column": Column("text", "name"), **VALUE, "class": Column("text", "class"),
        "mean": Column("number", "class score of the final model, mean over rows"),
    }),
    "dependence_rows": TableKind("a value of a column in a single row", {
        "column": Column("text", "name"), "line": Column("whole", "which of the rows, from 0"), **VALUE,
        "class": Column("text", "class"), "score": Column("number", "class score of the final model"),
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
