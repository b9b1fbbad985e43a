"""The study that the recorder's tests record, as a fixture."""

import importlib.util
import sys
from pathlib import Path

import pytest

from modelsel.record.folder import RunFolder


def _study():
    if "modelsel_tests_study" not in sys.modules:
        spec = importlib.util.spec_from_file_location("modelsel_tests_study", Path(__file__).with_name("_study.py"))
        sys.modules["modelsel_tests_study"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["modelsel_tests_study"]


@pytest.fixture(scope="session")
def study():
    """The module that builds the study."""
    return _study()


@pytest.fixture(scope="session")
def finished(study):
    return study.finished()


@pytest.fixture
def folder(finished, tmp_path) -> RunFolder:
    """A recorded run in a `runs/` of its own."""
    made = RunFolder.create(tmp_path / "runs", finished.outcome.study)
    made.save(finished)
    return made


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory) -> Path:
    """An MLflow database without runs, made once."""
    from modelsel.record.mlflow import store as mlflow_store

    store = mlflow_store.embedded_store(tmp_path_factory.mktemp("store"))
    mlflow_store.prepare(store)
    return store.sqlite


@pytest.fixture
def store(folder, empty_store):
    """The embedded store of the recorded run's `runs/`."""
    import shutil

    from modelsel.record.mlflow import store as mlflow_store

    made = mlflow_store.embedded_store(folder.root)
    shutil.copy(empty_store, made.sqlite)
    return made
