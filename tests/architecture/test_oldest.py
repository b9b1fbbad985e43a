"""The oldest versions that are tested are those that pyproject.toml allows, of what is needed and of what is optional."""

import os
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("dask", "postgresql", "onnx", "png", "skops", "exam", "lightgbm", "xgboost", "catboost", "imbalanced", "skrub")
TESTS = ("polars", "httpx", "xgboost-cpu")  # what the tests alone need, pinned to what goes with the others


def test_the_floors_are_the_versions_of_make_oldest() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = [*project["dependencies"], *(each for extra in SHIPPED for each in project["optional-dependencies"][extra])]
    floors = dict(re.match(r"([a-z0-9-]+)(?:\[\w+\])?>=([\d.]+)", each).groups() for each in declared)  # type: ignore[union-attr]
    lines = (ROOT / ".ci" / "oldest.txt").read_text("utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert pinned.keys() == {*floors, *TESTS}
    for name, version in floors.items():
        assert (pinned[name] + ".").startswith(version + "."), name


def test_a_job_of_its_own_tests_with_them() -> None:
    job = ROOT / ".ci" / "oldest"
    assert os.access(job, os.X_OK)
    assert "make oldest" in job.read_text("utf-8")
    assert "--constraint .ci/oldest.txt" in (ROOT / "Makefile").read_text("utf-8")
