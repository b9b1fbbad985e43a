"""`modelsel export RUN --to FORMAT`: the final model for other systems, or the tables of the run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from modelsel.api.results.exporting import FORMATS, TABLES, convert
from modelsel.cli.arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK, ConfigurationError, Problem, StoreError


def main(words: Sequence[str]) -> int:
    """Run `modelsel export`: write the final model, or the tables of the run."""
    parser = Arguments(
        "export",
        "sql, rules and dot are of trees, onnx of trees and forests; json is of every model. onnx is a file: it needs -o. "
        "csv and parquet are the tables of the run (candidates, folds, measures, predictions, ...): -o names their folder.",
    )
    known = (*FORMATS, *TABLES)
    parser.add_argument("run", metavar="RUN", help=RUN_HELP)
    parser.add_argument("--to", metavar="FORMAT", choices=known, required=True, help=", ".join(known))
    parser.add_argument("--table", default="rows", help="for sql: the table to predict (default: rows)")
    parser.add_argument("-o", "--output", metavar="OUT", help="default: stdout")
    args = parser.parse_args(words)
    from modelsel.record.folder import RunFolder

    if args.to in TABLES:
        return _tables(RunFolder.open(args.run), args.to, args.output)
    written = convert(RunFolder.open(args.run), args.to, args.table)
    if args.output is None and isinstance(written, bytes):
        raise ConfigurationError(Problem("MSEL-251", "is not a text", f"--to {args.to}", f"name the file: -o model.{args.to}"))
    if args.output is None:
        print(written, end="")
        return OK
    try:
        Path(args.output).write_bytes(written if isinstance(written, bytes) else written.encode())
    except OSError as error:
        raise StoreError(
            Problem("MSEL-605", f"cannot be written ({error.strerror})", args.output, "choose another place")
        ) from error
    return OK


def _tables(folder: Any, to: str, output: str | None) -> int:
    """Write the run's tables into a folder."""

    from modelsel.record.tables import tables, write_tables

    if output is None:
        raise ConfigurationError(Problem("MSEL-251", "are several files", f"--to {to}", f"name their folder: -o tables/{to}"))
    made = tables(folder)
    print(f"{len(made)} tables in {write_tables(made, Path(output), to)}")
    return OK
