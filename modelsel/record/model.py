"""The final model as a folder: JSON and arrays, no pickle; an MLflow pyfunc, and usable without MLflow.

    model/MLmodel  requirements.txt  python_env.yaml  input_example.json  serving_input_example.json
    model/data/model.json    features, classes, learner and preparation steps as facts
    model/data/arrays.npz    their arrays, stored uncompressed
    model/data/lightgbm.txt, xgboost.json, catboost.cbm, fitted.skops   learner=estimator: as its library writes it, else skops
    model/data/estimator.skops   with tracking.allow_skops: a fitted scikit-learn estimator, for whoever trusts the file
    model/data/estimator.pickle  with tracking.allow_pickle: what no safe format takes, for whoever trusts the file
    model/data/SHA256SUMS    digests of all: `sha256sum -c SHA256SUMS`

The digests find accidents; against intent every kind's `restore` checks every index before anything is predicted. The
estimator is never read back here: what loads it decides which types it trusts (`skops.io.load`).
"""

import hashlib
import json
import math
import pickle
import platform
import zipfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import yaml  # type: ignore[import-untyped]
from numpy.typing import NDArray

from modelsel.core import stored
from modelsel.core.column_kind.base import kind_names
from modelsel.core.errors import DataError, Problem
from modelsel.core.reading import ColumnReading, TableReading
from modelsel.core.spec import class_of
from modelsel.core.system.installed import version_of
from modelsel.core.types import Description, Feature, Floats, Table, Task, positions, without_levels
from modelsel.dataset.reading import apply
from modelsel.dataset.spellings import BOOLEAN, codes
from modelsel.foreign.stored import FILES, SKOPS
from modelsel.learner.base import FittedModel
from modelsel.preparer.base import FittedPreparer
from modelsel.record.facts import FinalModel
from modelsel.record.files import npz, write_directory

FORMAT = 1
FACTS, ARRAYS, ESTIMATOR, SUMS = "model.json", "arrays.npz", "estimator.skops", "SHA256SUMS"
PICKLED = "estimator.pickle"
FILE = "learner/file:"  # arrays that are bytes of a file of its own: a library's native format
AGAIN = "run the study again, or take the folder from a copy"


@dataclass(frozen=True, eq=False)
class Predictor:
    """A model read back: raw columns in, classes or class scores out; columns are matched by name."""

    features: tuple[Feature, ...]
    classes: tuple[str, ...]
    steps: tuple[FittedPreparer, ...]
    model: FittedModel
    reading: TableReading | None = None  # None: it is made of arrays

    def __call__(self, raw: object) -> NDArray[np.str_ | np.float64]:
        return self.predict(self.table(raw))

    def table(self, raw: object) -> Table:
        """The rows of a table, or of columns by name, as the model wants them. Raises DataError with all their problems."""
        from modelsel.dataset.in_memory import columns  # pandas, which few studies need

        return apply(list(columns(raw, new_rows=True).values()), self.read_as, "new rows", "data").table

    @property
    def read_as(self) -> TableReading:
        """How rows are read: as the study's own were."""
        return TableReading.of(self.features) if self.reading is None else self.reading

    def predict(self, table: Table) -> NDArray[np.str_ | np.float64]:
        """The predicted class of each row, as text, or the predicted number.

        Raises DataError for a recipe that was not refitted.
        """
        if not self.classes:
            return np.asarray(self._fitted.predict(self.prepared(table)), np.float64)
        said: NDArray[np.str_] = np.array(self.classes, dtype=np.str_)[self._fitted.predict(self.prepared(table))]
        return said

    def labels(self, table: Table) -> NDArray[np.generic]:
        """The predicted class of each row as the target's column held it: bool, int, float or text. Raises as `predict`."""
        if not self.classes:
            return self.predict(table)
        from modelsel.dataset.labels import labels  # pandas, which few studies need

        told = None if self.reading is None else self.reading.target
        said: NDArray[np.generic] = labels(self.classes, told)[self._fitted.predict(self.prepared(table))]
        return said

    def scores(self, table: Table) -> Floats:
        """Class scores, rows × classes in the order of `classes`. Raises DataError for a recipe that was not refitted."""
        return self._fitted.scores(self.prepared(table))

    @property
    def is_recipe(self) -> bool:
        """True when only how to fit was kept (scikit-learn's models), so that `refit` has to come first."""
        return hasattr(self.model, "refit")

    @property
    def recipe(self) -> str:
        """The estimator that a recipe makes; empty for a model that was kept whole.

        For example `RandomForestClassifier (scikit-learn 1.9.1)`.
        """
        return str(self.model) if self.is_recipe else ""

    def refit(self, development: Task) -> "Predictor":
        """A recipe fitted again on the development rows. Raises DataError when they, or the versions, are others."""
        ready = development
        for step in self.steps:
            ready = step.apply(ready)
        try:
            return replace(self, model=self.model.refit(ready, positions(ready)))  # type: ignore[attr-defined]
        except ValueError as error:
            fix = "put back what the study ran with, or run it again"
            raise DataError(Problem("MSEL-621", f"the model cannot be fitted again: {error}", development.name, fix)) from error

    @property
    def _fitted(self) -> FittedModel:
        """Return the model; an error where only its recipe was kept."""
        if self.is_recipe:
            what = f"only the recipe of this {self.recipe} was kept, which needs the study's development rows"
            again = "`modelsel predict RUN FILE` fits it again where they are at hand"
            fix = f"{again}; in Python, modelsel.record.model's `refit`"
            raise DataError(Problem("MSEL-621", what, "model", fix))
        return self.model

    def prepared(self, table: Table) -> Table:
        for step in self.steps:
            table = step.apply(table)
        return table


def save(path: Path, final: FinalModel, version: str) -> Path:
    """Write the model folder whole. Raises StoreError."""

    def fill(folder: Path) -> None:
        data = folder / "data"
        data.mkdir()
        (data / FACTS).write_text(json.dumps(_facts(final, version), ensure_ascii=False), "utf-8")
        arrays = _arrays(final)
        (data / ARRAYS).write_bytes(npz({name: array for name, array in arrays.items() if not name.startswith(FILE)}))
        for name, array in arrays.items():
            if name.startswith(FILE):
                (data / name.removeprefix(FILE)).write_bytes(array.tobytes())
        if final.estimator is not None:
            _store(final.estimator, data / ESTIMATOR)
        if final.pickled is not None:
            write(final.pickled, data / PICKLED)
        (data / SUMS).write_text("".join(f"{_sum(one)}  {one.name}\n" for one in sorted(data.iterdir())))
        for name, text in flavor_files(final, version).items():
            (folder / name).write_text(text, "utf-8")

    return write_directory(path, fill)


def load(path: Path, plugins: tuple[str, ...] = ()) -> Predictor:
    """Read a model folder (or its `data`) back. Raises DataError where it is damaged or names what is not installed."""
    data = _data_of(path)
    facts = describe(path)
    with _naming(data / ARRAYS):
        arrays = read_arrays(data / ARRAYS)
    with _naming(data / FACTS):
        return _restore(facts, {**arrays, **_files(data, facts)}, plugins)


def describe(path: Path) -> dict[str, Any]:
    """The facts of a model folder, digests verified, nothing restored: what a recipe is refitted from."""
    data = _data_of(path)
    _verify(data)
    with _naming(data / FACTS):
        return stored.mapping(stored.text(data / FACTS, MOST_BYTES))


def target_of_model(path: Path) -> ColumnReading | None:
    """The type in which the target's labels were stored; None without a model, or one that does not record it."""
    facts = path / "data" / FACTS
    if not facts.exists():
        return None
    with _naming(facts):
        said = stored.mapping(stored.text(facts, MOST_BYTES)).get("reading", {}).get("target")
        return None if said is None else ColumnReading.restore(Feature.of_levels("target"), said)


def _data_of(path: Path) -> Path:
    return path if (path / FACTS).exists() else path / "data"


def _naming(path: Path) -> AbstractContextManager[None]:
    return stored.reading(path, AGAIN, "MSEL-620", DataError, f"the model: {path.name}")


def _restore(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[np.generic]], plugins: tuple[str, ...]) -> Predictor:
    """Rebuild the predictor from untrusted facts and arrays."""
    if facts["format"] != FORMAT:
        raise ValueError(f"format {facts['format']} was written by another version of modelsel")
    features = tuple(map(_feature, facts["features"]))
    classes = tuple(map(str, facts["classes"]))
    if len(classes) == 1 or len({f.name for f in features}) < len(features):  # a model of numbers has no classes
        raise ValueError("one class alone, or two features of one name")
    steps = tuple(_part("preparer", step, arrays, f"step{i}/", plugins) for i, step in enumerate(facts["steps"]))
    learner = _part("learner", facts["learner"], arrays, "learner/", plugins)
    return Predictor(features, classes, steps, learner, _reading(facts, features))


def _reading(facts: Mapping[str, Any], features: tuple[Feature, ...]) -> TableReading:
    """How rows are read; plainly by a model that was made before there was a reading."""
    if "reading" in facts:
        return TableReading.restore(features, facts["reading"])
    target = ColumnReading(Feature.of_levels("target"), type=str(facts.get("labels", "str")))
    return replace(TableReading.of(features), target=target)


def _feature(said: Mapping[str, Any]) -> Feature:
    """Read a column back; ValueError for one of no kind."""
    dates = bool(said.get("dates", False))
    if said["kind"] not in kind_names():
        raise ValueError(f"column {said['name']!r} is of no kind: {said['kind']!r}")
    return Feature(said["name"], said["kind"], tuple(said["levels"]), float(said["cost"]), dates, bool(said.get("text", False)))


def _files(data: Path, facts: Mapping[str, Any]) -> dict[str, NDArray[np.generic]]:
    """The file that the learner's own library wrote, where there is one."""
    name = facts["learner"]["facts"].get("stored")
    return {f"{FILE}{name}": np.frombuffer(stored.content(data / name, MOST_BYTES), np.uint8)} if name in FILES else {}


def _part(
    group: str, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[np.generic]], prefix: str, plugins: tuple[str, ...]
) -> Any:
    """Rebuild a step or the learner from its part of the arrays."""
    kind = str(facts["kind"])
    if kind.startswith("_"):
        raise ValueError(f"unknown {group} {kind!r}")
    own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    return class_of(group, kind, plugins).restore(Description(kind, facts["facts"], own))  # type: ignore[attr-defined]


def _facts(final: FinalModel, version: str) -> dict[str, object]:
    """Gather the facts of a final model."""
    return {
        "format": FORMAT,
        "modelsel": version,
        "features": [dict(vars(feature)) for feature in without_levels(final.features)],
        "classes": list(final.classes),
        "labels": _label_type(final),
        "reading": final.read_as.describe(),
        "steps": [{"kind": step.kind, "facts": dict(step.facts)} for step in final.steps],
        "learner": {"kind": final.learner.kind, "facts": dict(final.learner.facts)},
    }


def _label_type(final: FinalModel) -> str:
    """The type that table readers give the target's cells: bool, int, float, str or date."""
    return "str" if final.reading is None or final.reading.target is None else final.reading.target.type


def _arrays(final: FinalModel) -> dict[str, NDArray[np.generic]]:
    parts = [("learner/", final.learner), *((f"step{i}/", step) for i, step in enumerate(final.steps))]
    return {f"{prefix}{name}": np.asarray(array) for prefix, part in parts for name, array in part.arrays.items()}


def _store(estimator: object, path: Path) -> None:
    import skops.io

    skops.io.dump(estimator, path)


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _verify(data: Path) -> None:
    """Check the files against their recorded digests. Raises DataError, with the name of the file that differs."""
    with _naming(data / SUMS):
        lines = stored.text(data / SUMS).splitlines()
    optional = (ESTIMATOR, PICKLED, *FILES)
    there = [data / name for name in (FACTS, ARRAYS, *optional) if name not in optional or (data / name).exists()]
    for one in there:
        with _naming(one):
            if f"{stored.sum_of(stored.content(one, MOST_BYTES))}  {one.name}" not in lines:
                raise ValueError(f"its contents are not those that were written ({SUMS})")
    with _naming(data / SUMS):
        if len(lines) != len(there):
            raise ValueError("it is not the list of the files beside it")


# The one place that pickles a model: where the person allows it, for whoever trusts the file; nothing here reads it.


def write(made: object, path: Path) -> None:
    """Pickle a fitted estimator that no safe format takes."""
    path.write_bytes(pickle.dumps(made))


# Read arrays from an untrusted file: no pickle, no object, no compressed bomb, no shape larger than its bytes.
#
# NumPy's own reader allocates what a header claims before it looks at the data; this one compares first.

MOST_BYTES = 1 << 31
KINDS = "biufU"


def read_arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    """All arrays of an .npz. Raises ValueError where it is not exactly what `files.npz` writes."""
    try:
        with zipfile.ZipFile(BytesIO(stored.content(path, MOST_BYTES))) as archive:
            return {_name(info): _array(archive.read(info)) for info in archive.infolist() if _plain(info)}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, KeyError, OverflowError) as error:
        raise ValueError(f"{path.name} is not an archive of arrays: {error}") from error


def _plain(info: zipfile.ZipInfo) -> bool:
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise ValueError(f"{info.filename} is compressed")
    return True


def _name(info: zipfile.ZipInfo) -> str:
    """Return the name of an array in an archive; other members are refused."""
    name, dot, kind = info.filename.rpartition(".")
    if not dot or kind != "npy":
        raise ValueError(f"{info.filename} is not an array")
    return name


def _array(content: bytes) -> NDArray[np.generic]:
    """Read one array after checking its type, and its shape against its bytes."""
    stream = BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array of another format version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in KINDS or dtype.hasobject:
        raise ValueError(f"an array of type {dtype}")
    body = memoryview(content)[stream.tell() :]
    if any(side < 0 for side in shape) or prod(shape) * dtype.itemsize != len(body):
        raise ValueError(f"an array of shape {shape} in {len(body)} bytes")
    if not dtype.itemsize:
        return np.zeros(shape, dtype)
    return np.frombuffer(body, dtype).reshape(shape, order="F" if fortran else "C")


# The files that make a model folder an MLflow pyfunc: MLmodel with signature and input example, and requirements.
#
# Written as plain YAML so that a study without tracking need not import MLflow; the tests compare with what MLflow writes.


LOADER = "modelsel.record.pyfunc"
TYPES = {"bool": "boolean", "int": "long", "float": "double", "str": "string", "date": "datetime"}  # of MLflow
NEEDED = ("mlflow", "numba", "numpy", "pandas", "pyarrow", "scipy")  # by what reads the model and predicts
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # a signature of thousands of columns is one long text
EXAMPLE, SERVING = "input_example.json", "serving_input_example.json"


def flavor_files(final: FinalModel, version: str) -> dict[str, str]:
    """File name to text, for everything beside `data/`."""
    example = {"columns": [feature.name for feature in final.features], "data": example_rows(final)}
    return {
        "MLmodel": yaml.dump(mlmodel(final, datetime.now(UTC)), Dumper=DUMPER, sort_keys=True, width=100),
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
    inputs = [{"type": TYPES[_type(one)], "name": one.name, "required": True} for one in final.read_as.columns]
    return {
        "inputs": json.dumps(inputs, ensure_ascii=False),
        "outputs": json.dumps([{"type": TYPES[_label_type(final) if final.classes else "float"], "required": True}]),
        "params": json.dumps([{"name": "scores", "default": False, "shape": None, "type": "boolean"}]),
    }


def _type(column: ColumnReading) -> str:
    """The type of a feature's cells; texts that were read as numbers (decimal commas, words for missing) come as numbers."""
    feature, found = column.feature, column.type or ("float" if column.feature.is_number else "str")
    return "float" if feature.is_number and found == "str" and not (feature.dates or feature.of.writes_its_own) else found


def example_rows(final: FinalModel) -> list[list[float | str | None]]:
    """The example rows as the signature wants them, null where missing."""
    types = [_type(column) for column in final.read_as.columns]
    return [
        [_as_cell(value, feature, kind) for value, feature, kind in zip(row, final.features, types)]
        for row in final.example.values.tolist()
    ]


def _as_cell(value: float, feature: Feature, kind: str) -> float | str | None:
    """A value as a cell of its column: `rain`, 3, 3.5, True, or a date as text."""
    cell = raw(value, feature)
    if cell is None:
        return None
    if feature.dates or (kind == "str" and feature.of.writes_its_own):
        return feature.number(value)
    if kind == "str":
        return cell
    if kind == "bool":
        return codes(BOOLEAN)[str(cell)] == 1
    return int(cell) if kind == "int" else float(cell) if kind == "float" else cell


def raw(value: float, feature: Feature) -> float | str | None:
    """Return the raw value behind a number of the table: a number, a level, None where missing.

    >>> raw(1.0, Feature("sky", "nominal", ("sunny", "rain"))), raw(math.nan, Feature("t", "numeric"))
    ('rain', None)
    """
    if math.isnan(value):
        return None
    if feature.is_number:
        return value
    return feature.levels[int(value)] if value < len(feature.levels) else None
