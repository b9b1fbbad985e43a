"""Write the files that make a model folder an MLflow pyfunc: MLmodel with signature and input example, and requirements.

Written as plain YAML so that a study without tracking need not import MLflow; the tests compare with what MLflow writes.
"""

import json
import math
import platform
from datetime import UTC, datetime
from importlib.metadata import version as installed
from typing import Any

import yaml  # type: ignore[import-untyped]

from modelsel.core.types import Feature
from modelsel.foreign.stored import SKOPS
from modelsel.record.content.study_record import FinalModel

LOADER = "modelsel.record.pyfunc"
EXAMPLE, SERVING = "input_example.json", "serving_input_example.json"


def files(final: FinalModel, version: str, now: datetime | None = None) -> dict[str, str]:
    """File name to text, for everything beside `data/`."""
    example = {"columns": [feature.name for feature in final.features], "data": rows(final)}
    return {
        "MLmodel": yaml.safe_dump(mlmodel(final, now or datetime.now(UTC)), sort_keys=True, width=100),
        "requirements.txt": "".join(f"{line}\n" for line in (f"modelsel=={version}", *_libraries(final))),
        "python_env.yaml": yaml.safe_dump(
            {"python": platform.python_version(), "build_dependencies": ["pip"], "dependencies": ["-r requirements.txt"]},
            sort_keys=False,
        ),
        EXAMPLE: json.dumps(example, allow_nan=False),
        SERVING: json.dumps({"dataframe_split": example}, indent=2, allow_nan=False),
    }


def _libraries(final: FinalModel) -> list[str]:
    """List the requirements that reading the stored estimator needs, beside modelsel."""
    facts = final.learner.facts
    if "stored" not in facts:
        return []
    name, _, own = str(facts["version"]).partition(" ")
    uses_skops = facts["stored"] == SKOPS or any(step.kind == "transform" for step in final.steps)
    return [f"{name}=={own}", *([f"skops>={installed('skops')}"] if uses_skops else [])]


def mlmodel(final: FinalModel, now: datetime) -> dict[str, Any]:
    """The MLmodel file: flavor `python_function` with our loader, never `python_model`, which is a pickle."""
    return {
        "flavors": {
            "python_function": {
                "data": "data",
                "env": {"virtualenv": "python_env.yaml"},
                "loader_module": LOADER,
                "python_version": platform.python_version(),
            }
        },
        "mlflow_version": installed("mlflow"),
        "saved_input_example_info": {
            "artifact_path": EXAMPLE,
            "pandas_orient": "split",
            "serving_input_path": SERVING,
            "type": "dataframe",
        },
        "signature": signature(final.features),
        "utc_time_created": now.strftime("%Y-%m-%d %H:%M:%S.%f"),
    }


def signature(features: tuple[Feature, ...]) -> dict[str, str]:
    """MLflow's signature: columns by name; out comes the class, or class scores with `scores=true`.

    pandas reads one and the same column as whole numbers, fractions, truth values or text, as its cells happen to be, and
    MLflow refuses whole numbers where fractions are declared: so only levels that can be nothing but text are strings.
    """
    inputs = [
        {"type": "string" if _only_text(feature) else "any", "name": feature.name, "required": True} for feature in features
    ]
    return {
        "inputs": json.dumps(inputs, ensure_ascii=False),
        "outputs": json.dumps([{"type": "string", "required": True}]),
        "params": json.dumps([{"name": "scores", "default": False, "shape": None, "type": "boolean"}]),
    }


def _only_text(feature: Feature) -> bool:
    """Say whether no table reader can take these levels for numbers or truth values.

    >>> _only_text(Feature("sky", "nominal", ("sunny", "rain"))), _only_text(Feature("code", "nominal", ("1", "True")))
    (True, False)
    """
    return feature.kind != "numeric" and not any(like_a_value(level) for level in feature.levels)


def like_a_value(text: str) -> bool:
    """Say whether a text reads as a number or a truth value."""
    try:
        float(text)
    except ValueError:
        return text.strip().lower() in ("true", "false")
    return True


def rows(final: FinalModel) -> list[list[float | str | None]]:
    """The example rows as raw values: numbers, levels, null where missing."""
    return [[raw(value, feature) for value, feature in zip(row, final.features)] for row in final.example.values.tolist()]


def raw(value: float, feature: Feature) -> float | str | None:
    """Return the raw value behind a number of the table: a number, a level, None where missing.

    >>> raw(1.0, Feature("sky", "nominal", ("sunny", "rain"))), raw(math.nan, Feature("t", "numeric"))
    ('rain', None)
    """
    if math.isnan(value):
        return None
    if feature.kind == "numeric":
        return value
    return feature.levels[int(value)] if value < len(feature.levels) else None
