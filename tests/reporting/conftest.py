"""Two studies to show: a small one whose numbers are written down, and a real one of some size."""

import importlib.util
import sys
from pathlib import Path

import pytest

from modelsel.record.folder import RunFolder


def _module(name: str, path: Path):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def small():
    """The module of the small study."""
    return _module("modelsel_tests_small", Path(__file__).with_name("_small.py"))


@pytest.fixture(scope="session")
def finished():
    return _module("modelsel_tests_study", Path(__file__).parents[1] / "record" / "_study.py").finished()


@pytest.fixture
def recorded(tmp_path):
    """A function: the folder of a recorded study."""

    def record(study) -> RunFolder:
        made = RunFolder.create(tmp_path / "runs", study.outcome.study)
        made.save(study)
        return made

    return record
