"""`modelsel predict RUN FILE`: predictions of a study's final model on new rows, columns matched by name."""

import csv
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from modelsel.cli._arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK, ConfigurationError, Problem, StoreError

INHERITED = ("delimiter", "decimal", "encoding", "missing")  # a new file is read as the study's own was


def main(words: Sequence[str]) -> int:
    parser = Arguments("predict")
    parser.add_argument("run", metavar="RUN", help=RUN_HELP)
    parser.add_argument("file", metavar="FILE", help="CSV, ARFF or Parquet; columns beside the model's are ignored")
    parser.add_argument("-o", "--output", metavar="OUT", help="default: stdout")
    args = parser.parse_args(words)
    from modelsel.dataset._like import read_like
    from modelsel.record.folder import RunFolder
    from modelsel.record.refit import ready

    path, folder = Path(args.file), RunFolder.open(args.run)
    if not path.is_file():
        raise ConfigurationError(
            Problem("MSEL-254", f"there is no file {args.file!r}", "FILE", "give a CSV, ARFF or Parquet file")
        )
    predictor = ready(folder, partial(print, file=sys.stderr))
    rows = read_like(path, predictor.features, **inherited(path, folder.config()["dataset"]))
    for finding in rows.findings:
        print(f"{finding.message}; {finding.do}", file=sys.stderr)
    _write(args.output, predictor.classes, predictor.predict(rows.table).tolist(), predictor.scores(rows.table).tolist())
    return OK


def inherited(path: Path, dataset: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the study's own file that hold for a new one of the same format.

    >>> inherited(Path("new.csv"), {"kind": "csv", "delimiter": ";", "target": "y"})
    {'delimiter': ';'}
    """
    if Path(str(dataset.get("path"))).suffix.lower() != path.suffix.lower() and dataset.get("kind") != path.suffix[1:].lower():
        return {}
    return {name: dataset[name] for name in INHERITED if name in dataset}


def _write(output: str | None, classes: Sequence[str], predicted: Sequence[str], scores: Sequence[Sequence[float]]) -> None:
    try:
        with open(output, "w", newline="", encoding="utf-8") if output else nullcontext(sys.stdout) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["prediction", *(f"score_{name}" for name in classes)])
            writer.writerows([label, *row] for label, row in zip(predicted, scores, strict=True))
    except OSError as error:
        raise StoreError(
            Problem("MSEL-605", f"cannot be written ({error.strerror})", str(output), "choose another place")
        ) from error
