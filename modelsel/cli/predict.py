"""`modelsel predict RUN FILE`: predictions of a study's final model on new rows, columns matched by name.

In a file (`-o`) a class that a spreadsheet would run is written with an apostrophe in front; stdout has it as it is.
"""

import csv
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.cli.arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK
from modelsel.core.system.disk import writing

if TYPE_CHECKING:  # help comes without it
    from modelsel.api.commands.model import Predictions


def main(words: Sequence[str]) -> int:
    """Run `modelsel predict`: write a line of predictions for each row of a file."""
    parser = Arguments("predict")
    parser.add_argument("run", metavar="RUN", help=RUN_HELP)
    parser.add_argument("file", metavar="FILE", help="CSV, ARFF or Parquet; columns beside the model's are ignored")
    parser.add_argument("-o", "--output", metavar="OUT", help="default: stdout")
    parser.add_argument("--explain", action="store_true", help="a column more: the path of each row down the tree")
    parser.add_argument("--sets", metavar="SHARE", type=float, help="a column more: classes that cover this share of rows")
    parser.add_argument("--interval", metavar="SHARE", type=float, help="of numbers: intervals that cover this share")
    parser.add_argument(
        "--quantiles", metavar="Q,Q", type=shares, default=(), help="of a forest of numbers that keeps its rows: .1,.9"
    )
    parser.add_argument("--threshold", type=float, metavar="T", help="the second of two classes from this score on")
    args = parser.parse_args(words)
    from modelsel.api.commands.model import Beside, at_threshold, predict_file
    from modelsel.record.folder import RunFolder

    beside = Beside(args.explain, args.sets, args.interval, args.quantiles)
    found = predict_file(RunFolder.open(args.run), Path(args.file), beside)
    if args.threshold is not None:
        found = at_threshold(found, args.threshold)
    _write(args.output, found)
    return OK


def shares(words: str) -> tuple[float, ...]:
    """Read numbers with commas between them. Raises ValueError for other words.

    >>> shares(".1,.9")
    (0.1, 0.9)
    """
    return tuple(float(word) for word in words.split(","))


def _write(output: str | None, found: "Predictions") -> None:
    """Ids, if there are any, prediction, scores."""
    with writing(output or "standard output"):  # noqa: SIM117  a name is judged before the file is opened
        with open(output, "w", newline="", encoding="utf-8") if output else nullcontext(sys.stdout) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow([*found.ids, "prediction", *(f"score_{name}" for name in found.classes), *found.more])
            texts = [*found.ids.values(), found.labels, *found.more.values()]
            for *words, scores in zip(*texts, found.scores, strict=True):
                said = [harmless(word) if output else word for word in words]
                before = len(found.ids) + 1
                writer.writerow([*said[:before], *scores, *said[before:]])


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
