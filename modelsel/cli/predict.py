"""`modelsel predict RUN FILE`: predictions of a study's final model on new rows, columns matched by name.

In a file (`-o`) a class that a spreadsheet would run is written with an apostrophe in front; stdout has it as it is.
"""

import csv
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from modelsel.cli.arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK, ConfigurationError, Problem, StoreError

INHERITED = ("delimiter", "decimal", "encoding", "missing")  # a new file is read as the study's own was


def main(words: Sequence[str]) -> int:
    """Run `modelsel predict`: write a line of predictions for each row of a file."""
    parser = Arguments("predict")
    parser.add_argument("run", metavar="RUN", help=RUN_HELP)
    parser.add_argument("file", metavar="FILE", help="CSV, ARFF or Parquet; columns beside the model's are ignored")
    parser.add_argument("-o", "--output", metavar="OUT", help="default: stdout")
    parser.add_argument("--explain", action="store_true", help="a column more: the path of each row down the tree")
    parser.add_argument("--sets", metavar="SHARE", type=float, help="a column more: classes that cover this share of rows")
    parser.add_argument("--threshold", type=float, metavar="T", help="the second of two classes from this score on")
    args = parser.parse_args(words)
    from modelsel.record.folder import RunFolder

    found = predicted(RunFolder.open(args.run), Path(args.file), args.explain, args.sets)
    if args.threshold is not None:
        found = decided(found, args.threshold)
    _write(args.output, found)
    return OK


@dataclass(frozen=True)
class Predicted:
    """A label and class scores (in the order of `classes`) per row of a file."""

    classes: Sequence[str]
    labels: Sequence[str]
    scores: Sequence[Sequence[float]]
    ids: Mapping[str, Sequence[str]] = field(default_factory=dict)  # what identifies the rows, where the file has it
    more: Mapping[str, Sequence[str]] = field(default_factory=dict)  # columns asked for, by name


def predicted(folder: Any, path: Path, explain: bool = False, sets: float | None = None) -> Predicted:
    """Predictions of a run's final model for the rows of a file; what is noticed about them is said on stderr."""
    from modelsel.dataset.columns.settings import listed
    from modelsel.dataset.tables.prediction_rows import read_like
    from modelsel.record.refit import answered, ready

    if not path.is_file():
        raise ConfigurationError(
            Problem("MSEL-254", f"there is no file {str(path)!r}", "FILE", "give a CSV, ARFF or Parquet file")
        )
    predictor = ready(folder, partial(print, file=sys.stderr))
    dataset = folder.config()["dataset"]
    rows = read_like(path, predictor.features, ids=listed(dataset.get("id")), **inherited(path, dataset))
    for finding in rows.findings:
        print(f"{finding.code}: {finding.message}; {finding.do}", file=sys.stderr)
    _remember(folder, rows.table)
    more = {"path": paths(predictor, rows.table)} if explain else {}
    if sets is not None:
        more["set"] = in_sets(folder, rows.table, sets)
    said = answered(folder, predictor, rows.table, scores=True)
    assert said.scores is not None, "they were asked for"
    labels = [predictor.classes[place] for place in said.predicted[0].tolist()]
    return Predicted(predictor.classes, labels, said.scores[0].tolist(), rows.ids, more)


def _remember(folder: Any, table: Any) -> None:
    """Put it on record that these rows were predicted; what is noticed about that is said on stderr."""
    from modelsel.config.reopen import reopen
    from modelsel.guard.gate import Gate

    gate = Gate(reopen(folder.config(), "guard").guard, folder.root)
    gate.predicted(table, str(folder.path))
    for finding in gate.findings:
        print(f"{finding.code}: {finding.message}; {finding.do}", file=sys.stderr)


def decided(found: Predicted, threshold: float) -> Predicted:
    """Labels by another threshold of the second class's score. Raises ConfigurationError for one that cannot be."""
    ranks = any(not 0 <= score <= 1 for scores in found.scores for score in scores)  # decision values, no probabilities
    if len(found.classes) != 2 or not (ranks or 0 <= threshold <= 1):
        what = f"a threshold of {threshold:g} for {len(found.classes)} classes"
        raise ConfigurationError(Problem("MSEL-264", what, "--threshold", "it is between 0 and 1, and for two classes"))
    first, second = found.classes
    return replace(found, labels=[second if scores[1] >= threshold else first for scores in found.scores])


def in_sets(folder: Any, table: Any, share: float) -> list[str]:
    """The prediction set of each row: its classes, joined by a bar; what they promise is said on stderr."""
    from modelsel.explanation.prediction_sets import kept_folds, promise, sets_of

    kept = kept_folds(folder)
    inside = sets_of(kept, table, share)
    print(promise(kept, share), file=sys.stderr)
    return ["|".join(name for name, held in zip(kept[0][0].classes, row) if held) for row in inside.tolist()]


def paths(predictor: Any, table: Any) -> list[str]:
    """The path of each row down the model's tree, in words. Raises ConfigurationError for another model."""
    told = getattr(predictor.model, "paths", None)
    if told is None:
        fix = "the report's importance and dependence (explain.importance=true) tell of any model"
        raise ConfigurationError(Problem("MSEL-259", "a row has a path in a tree, and the model is none", "--explain", fix))
    return list(told(predictor.prepared(table)))


def inherited(path: Path, dataset: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the study's own file that hold for a new one of the same format.

    >>> inherited(Path("new.csv"), {"kind": "csv", "delimiter": ";", "target": "y"})
    {'delimiter': ';'}
    """
    if Path(str(dataset.get("path"))).suffix.lower() != path.suffix.lower() and dataset.get("kind") != path.suffix[1:].lower():
        return {}
    return {name: dataset[name] for name in INHERITED if name in dataset}


def _write(output: str | None, found: Predicted) -> None:
    """Ids, if there are any, prediction, scores."""
    try:
        with open(output, "w", newline="", encoding="utf-8") if output else nullcontext(sys.stdout) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow([*found.ids, "prediction", *(f"score_{name}" for name in found.classes), *found.more])
            texts = [*found.ids.values(), found.labels, *found.more.values()]
            for *words, scores in zip(*texts, found.scores, strict=True):
                said = [harmless(word) if output else word for word in words]
                before = len(found.ids) + 1
                writer.writerow([*said[:before], *scores, *said[before:]])
    except OSError as error:
        raise StoreError(
            Problem("MSEL-605", f"cannot be written ({error.strerror})", str(output), "choose another place")
        ) from error


# Cells of a CSV file that a spreadsheet would run as a formula are written so that it shows them instead.
#
# A cell that starts with = + - @, a tab or a carriage return gets an apostrophe in front, unless it is a number (CWE-1236). A
# program that reads the file sees the apostrophe too: it is written into files, never to stdout.

_RUN = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def harmless(cell: object) -> object:
    """The cell as a spreadsheet may open it.

    >>> [harmless(cell) for cell in ("=1+1", "-1.5", "+1e3", "-x", "yes", -0.25)]
    ["'=1+1", '-1.5', '+1e3', "'-x", 'yes', -0.25]
    """
    if not isinstance(cell, str) or not cell.startswith(_RUN) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"
