"""`exam=DIR`: a study on the development rows of an exam, which takes the place of a sealed test set."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from modelsel.core.errors import ConfigurationError, Problem

TERMS, CSV = "exam.json", ".csv"


def sitting(settings: Mapping[str, object]) -> Mapping[str, object]:
    """The settings with those that an exam brings: data set and split. ConfigurationError where no exam is there.

    >>> sitting({"exam": None, "seed": 1})
    {'exam': None, 'seed': 1}
    """
    folder = settings.get("exam")
    if folder is None:
        return settings
    path = Path(str(folder)) / TERMS
    try:
        terms = json.loads(path.read_text("utf-8"))
        task = {"task": terms["task"]} if "task" in terms and settings.get("task") == "auto" else {}
        return {**settings, "dataset": _dataset(Path(str(folder)), terms), "split": {"kind": "none"}, **task}
    except (OSError, ValueError, KeyError, TypeError) as error:
        fix = "name the folder that `modelsel exam create` wrote"
        raise ConfigurationError(Problem("MSEL-247", f"no exam is there ({type(error).__name__})", str(path), fix)) from error


def _dataset(folder: Path, terms: Mapping[str, Any]) -> dict[str, object]:
    """The development rows, with kinds and levels as the terms state them."""
    columns, name = terms["columns"], str(terms["files"]["development"]["name"])
    kinds = {one["name"]: _kind(one) for one in terms["features"]}
    roles = {"weights": columns["weight"], "unit" if terms.get("unit") else "groups": columns["group"]}
    if terms.get("measured_in"):
        roles["measured_in"] = terms["measured_in"]
    return {
        "kind": "csv" if name.endswith(CSV) else "parquet", "path": str(folder / name), "target": columns["target"],
        "features": {**kinds, columns["token"]: "ignore"}, **{role: column for role, column in roles.items() if column},
    }  # fmt: skip


def _kind(feature: Mapping[str, Any]) -> object:
    return {"ordered": list(feature["levels"])} if feature["kind"] == "ordered" else feature["kind"]
