"""`modelsel export RUN --to FORMAT`: the final model for other systems, or the tables of the run."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from modelsel.cli.arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK, ConfigurationError, Problem, StoreError

FORMATS = ("onnx", "sql", "rules", "json", "dot")
TABLES = ("csv", "parquet")  # a folder with a file per table


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
    written = exported(RunFolder.open(args.run), args.to, args.table)
    if args.output is None and isinstance(written, bytes):
        raise ConfigurationError(Problem("MSEL-251", "is no text", f"--to {args.to}", f"name the file: -o model.{args.to}"))
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


def exported(folder: Any, to: str, table: str = "rows") -> str | bytes:
    """The final model of a run's folder in one of the FORMATS."""
    from modelsel.record.model import load

    return _WRITERS[to](load(folder.model, tuple(folder.config().get("plugins") or ())), table)


def _onnx(predictor: Any, _: str) -> bytes:
    from modelsel.record.export.onnx import onnx

    return onnx(predictor)


def _sql(predictor: Any, table: str) -> str:
    from modelsel.record.export.sql import sql

    return sql(predictor, table)


def _rules(predictor: Any, _: str) -> str:
    from modelsel.tree.export.rules import rules_text

    return f"{rules_text(_cut(predictor))}\n"


def _dot(predictor: Any, _: str) -> str:
    from modelsel.tree.export.nested import to_dot

    return f"{to_dot(_cut(predictor))}\n"


def _json(predictor: Any, _: str) -> str:
    """A tree in the documented shape; another model as its kind restores it, arrays as lists."""
    from modelsel.learner.trees.model import TreeModel
    from modelsel.tree.export.nested import to_dict

    if isinstance(predictor.model, TreeModel):
        return json.dumps(to_dict(predictor.model.cut), ensure_ascii=False) + "\n"
    described = predictor.model.describe()
    arrays = {key: array.tolist() for key, array in described.arrays.items()}
    return json.dumps({"kind": described.kind, "facts": described.facts, "arrays": arrays}, ensure_ascii=False) + "\n"


def _cut(predictor: Any) -> Any:
    """Return the tree of the final model; other models are refused."""

    from modelsel.learner.trees.model import TreeModel

    if not isinstance(predictor.model, TreeModel):
        what = f"{type(predictor.model).__name__} is no tree"
        raise ConfigurationError(Problem("MSEL-257", what, "--to", "json takes every model"))
    return predictor.model.cut


_WRITERS: Mapping[str, Callable[[Any, str], str | bytes]] = {
    "onnx": _onnx, "sql": _sql, "rules": _rules, "json": _json, "dot": _dot,
}  # fmt: skip
