"""Write the files that make a model folder an MLflow pyfunc: MLmodel with signature and input example, and requirements.

Written as plain YAML so that a study without tracking need not import MLflow; the tests compare with what MLflow writes.
"""

import json
import math
import platform
from datetime import UTC, datetime

import yaml  # type: ignore[import-untyped]

from modelsel.core.system.installed import version_of
from modelsel.core.types import Feature
from modelsel.foreign.stored import SKOPS
from modelsel.record.study_record import FinalModel

LOADER = "modelsel.record.pyfunc"
TYPES = {"bool": "boolean", "int": "long", "float": "double", "str": "string", "date": "datetime"}  # of MLflow
NEEDED = ("mlflow", "numba", "numpy", "pandas", "pyarrow", "scipy")  # by what reads the model and predicts
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # a signature of thousands of columns is one long text
EXAMPLE, SERVING = "input_example.json", "serving_input_example.json"


def files(final: FinalModel, version: str, now: datetime | None = None) -> dict[str, str]:
    """File name to text, for everything beside `data/`."""
    example = {"columns": [feature.name for feature in final.features], "data": rows(final)}
    return {
        "MLmodel": yaml.dump(mlmodel(final, now or datetime.now(UTC)), Dumper=DUMPER, sort_keys=True, width=100),
        "requirements.txt": "".join(f"{line}\n" for line in (f"modelsel=={version}", *_needed_packages(), *_libraries(final))),
        "python_env.yaml": yaml.safe_dump(
            {"python": platform.python_version(), "build_dependencies": ["pip"], "dependencies": ["-r requirements.txt"]},
            sort_keys=False,
        ),
        EXAMPLE: json.dumps(example, allow_nan=False),
        SERVING: json.dumps({"dataframe_split": example}, indent=2, allow_nan=False),
    }


def _needed_packages() -> list[str]:
    """List the packages that reading the model and predicting import, as they are installed here."""
    return [f"{name}=={version_of(name)}" for name in NEEDED]


def _libraries(final: FinalModel) -> list[str]:
    """List the requirements that reading the stored estimator needs, beside modelsel."""
    facts = final.learner.facts
    if "stored" not in facts:
        return []
    name, _, own = str(facts["version"]).partition(" ")
    uses_skops = facts["stored"] == SKOPS or any(step.kind == "transform" for step in final.steps)
    return [f"{name}=={own}", *([f"skops>={version_of('skops')}"] if uses_skops else [])]


def mlmodel(final: FinalModel, now: datetime) -> dict[str, object]:
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
        "mlflow_version": version_of("mlflow"),
        "saved_input_example_info": {
            "artifact_path": EXAMPLE,
            "pandas_orient": "split",
            "serving_input_path": SERVING,
            "type": "dataframe",
        },
        "signature": signature(final),
        "utc_time_created": now.strftime("%Y-%m-%d %H:%M:%S.%f"),
    }


def signature(final: FinalModel) -> dict[str, str]:
    """MLflow's signature: columns by name, of the types that pandas reads from the training file; out comes the class.

    Where the source's types are not known, a column of numbers is `double`, any other `string`. `scores=true` gives scores.
    """
    inputs = [{"type": TYPES[_type(final, feature)], "name": feature.name, "required": True} for feature in final.features]
    return {
        "inputs": json.dumps(inputs, ensure_ascii=False),
        "outputs": json.dumps([{"type": TYPES[final.label_type if final.classes else "float"], "required": True}]),
        "params": json.dumps([{"name": "scores", "default": False, "shape": None, "type": "boolean"}]),
    }


def _type(final: FinalModel, feature: Feature) -> str:
    """The type of a feature's cells; texts that were read as numbers (decimal commas, words for missing) come as numbers."""
    found = final.types.get(feature.name) or ("float" if feature.kind == "numeric" else "str")
    return "float" if feature.kind == "numeric" and found == "str" and not feature.dates else found


def rows(final: FinalModel) -> list[list[float | str | None]]:
    """The example rows as the signature wants them, null where missing."""
    types = [_type(final, feature) for feature in final.features]
    return [
        [_as_cell(value, feature, kind) for value, feature, kind in zip(row, final.features, types)]
        for row in final.example.values.tolist()
    ]


def _as_cell(value: float, feature: Feature, kind: str) -> float | str | None:
    """A value as a cell of its column: `rain`, 3, 3.5, True, or a date as text."""
    cell = raw(value, feature)
    if cell is None or (kind == "str" and not feature.dates):
        return cell
    if feature.dates:
        return feature.number(value)
    if kind == "bool":
        return str(cell).lower() == "true"
    return int(cell) if kind == "int" else float(cell) if kind == "float" else cell


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
