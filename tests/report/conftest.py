"""The study that the report tests show, as a fixture."""

import importlib.util
import sys
from pathlib import Path

import pytest

from modelsel.record.folder import RunFolder


def _study():
    if "modelsel_tests_study" not in sys.modules:
        spec = importlib.util.spec_from_file_location("modelsel_tests_study", Path(__file__).parents[1] / "record" / "_study.py")
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
