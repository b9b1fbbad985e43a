"""A fitted model in another form: asked of the model itself, or refused."""

import json

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.exports.shipped import Shipped
from modelsel.learner.base import ability

ABILITIES = {"onnx": "to_onnx", "sql": "to_sql", "rules": "rules", "dot": "to_dot"}
REFUSALS = {
    "onnx": ("MSEL-255", "take --to sql, or a tree with missing=node_mode"),
    "sql": ("MSEL-255", "take --to json, or a tree without these settings"),
    **dict.fromkeys(("rules", "dot"), ("MSEL-257", "json takes every model")),
}


def write_model(shipped: Shipped, to: str, table: str) -> str | bytes:
    """The model as it can write itself: sql, onnx, rules, dot; as json every model.

    Raises ConfigurationError for what it cannot, and says what takes its place.
    """
    if to == "json":
        return _json(shipped)
    name, (code, fix) = ABILITIES[to], REFUSALS[to]
    write = ability(shipped.model, name)
    if write is None:
        where = f"--to {to}" if code == "MSEL-255" else "--to"
        raise ConfigurationError(Problem(code, f"{type(shipped.model).__name__} is not a tree", where, fix))
    made: str | bytes = write(shipped, table) if to == "sql" else write(shipped)
    return made


def _json(shipped: Shipped) -> str:
    """A tree in the documented shape; another model as its kind restores it, arrays as lists."""
    structure = ability(shipped.model, "structure")
    if structure is not None:
        return json.dumps(structure(shipped), ensure_ascii=False) + "\n"
    described = shipped.model.describe()
    arrays = {key: array.tolist() for key, array in described.arrays.items()}
    return json.dumps({"kind": described.kind, "facts": described.facts, "arrays": arrays}, ensure_ascii=False) + "\n"
