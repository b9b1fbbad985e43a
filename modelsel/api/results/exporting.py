"""The final model of a run for other systems, and its tables."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.core.errors import ConfigurationError, Problem

if TYPE_CHECKING:  # the help of the command comes without it
    from modelsel.learner.forests.model import ForestModel, NumberForestModel
    from modelsel.record.folder import RunFolder
    from modelsel.record.model import Predictor
    from modelsel.tree.node import PrunedView

FORMATS = ("onnx", "sql", "rules", "json", "dot")
TABLES = ("csv", "parquet")  # a folder with a file per table


def export_model(run: object, to: str, path: str | Path | None = None, table: str = "rows") -> str | bytes | Path:
    """Write the model of a run as one of the formats, or return what would be written; `csv` and `parquet` are its tables."""
    from modelsel.record.files import write
    from modelsel.record.folder import RunFolder

    if to in TABLES:
        return _tables(RunFolder.open(str(run)), to, path)
    if to not in FORMATS:
        fix = f"use one of {', '.join((*FORMATS, *TABLES))}"
        raise ConfigurationError(Problem("MSEL-810", f"{to!r} is no format", "to", fix))
    written = convert(RunFolder.open(str(run)), to, table)
    return written if path is None else write(Path(path), written)


def _tables(folder: "RunFolder", to: str, path: str | Path | None) -> Path:
    """Write the tables of a run to a folder, as CSV or Parquet."""

    from modelsel.record.tables import tables, write_tables

    if path is None:
        fix = "name their folder; outcome.tables() has them as data frames"
        raise ConfigurationError(Problem("MSEL-810", f"the {to} tables are several files", "path", fix))
    return write_tables(tables(folder), Path(path), to)


def convert(folder: "RunFolder", to: str, table: str = "rows") -> str | bytes:
    """The final model of a run's folder in one of the FORMATS."""
    from modelsel.record.model import load

    return _WRITERS[to](load(folder.model, tuple(folder.config().get("plugins") or ())), table)


def _onnx(predictor: "Predictor", _: str) -> bytes:
    from modelsel.record.export.onnx import onnx

    return onnx(predictor)


def _sql(predictor: "Predictor", table: str) -> str:
    from modelsel.record.export.sql import sql

    return sql(predictor, table)


def _rules(predictor: "Predictor", _: str) -> str:
    """The rules of a tree, or of the trees of a forest."""
    from modelsel.record.export.trees import forest_rules
    from modelsel.tree.rules import rules_text

    if (forest := _forest_of(predictor)) is not None:
        return forest_rules(forest, predictor.classes)
    return f"{rules_text(_tree_of(predictor))}\n"


def _dot(predictor: "Predictor", _: str) -> str:
    """The drawing of a tree, or of the trees of a forest."""
    from modelsel.record.export.trees import forest_dot
    from modelsel.tree.nested import to_dot

    if (forest := _forest_of(predictor)) is not None:
        return forest_dot(forest, predictor.classes)
    return f"{to_dot(_tree_of(predictor))}\n"


def _json(predictor: "Predictor", _: str) -> str:
    """A tree in the documented shape; another model as its kind restores it, arrays as lists."""
    from modelsel.learner.trees.model import NumberTreeModel, TreeModel
    from modelsel.tree.nested import to_dict

    if isinstance(predictor.model, TreeModel | NumberTreeModel):
        return json.dumps(to_dict(predictor.model.cut), ensure_ascii=False) + "\n"
    described = predictor.model.describe()
    arrays = {key: array.tolist() for key, array in described.arrays.items()}
    return json.dumps({"kind": described.kind, "facts": described.facts, "arrays": arrays}, ensure_ascii=False) + "\n"


def _forest_of(predictor: "Predictor") -> "ForestModel | NumberForestModel | None":
    """The final model where it is a forest, of classes or of numbers."""
    from modelsel.learner.forests.model import ForestModel, NumberForestModel

    return predictor.model if isinstance(predictor.model, ForestModel | NumberForestModel) else None


def _tree_of(predictor: "Predictor") -> "PrunedView":
    """Return the tree of the final model; other models are refused."""

    from modelsel.learner.forests.model import QuantileForestModel
    from modelsel.learner.transformed_target import TransformedModel
    from modelsel.learner.trees.model import NumberTreeModel, TreeModel
    from modelsel.record.export.trees import KEPT_ROWS

    if not isinstance(predictor.model, TreeModel | NumberTreeModel):
        what = f"{type(predictor.model).__name__} is no tree"
        if isinstance(predictor.model, QuantileForestModel):
            what = KEPT_ROWS
        if isinstance(predictor.model, TransformedModel):
            what = f"its leaves say the target as it was fitted (target.transform={predictor.model.name}), not in its own unit"
        raise ConfigurationError(Problem("MSEL-257", what, "--to", "json takes every model"))
    return predictor.model.cut


_WRITERS: Mapping[str, Callable[["Predictor", str], str | bytes]] = {
    "onnx": _onnx, "sql": _sql, "rules": _rules, "json": _json, "dot": _dot,
}  # fmt: skip
