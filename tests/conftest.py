"""What all tests share: a home of their own, no MLflow settings of the person, the reference folder where it is there."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_HOME = tempfile.TemporaryDirectory(prefix="modelsel-tests-")
_DATA = tempfile.TemporaryDirectory(prefix="modelsel-nobody-")
os.environ["XDG_DATA_HOME"] = _DATA.name
os.environ["MODELSEL_HOME"] = _HOME.name  # before anything asks for the ledger; worker processes inherit it
for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
    del os.environ[name]

SHARED = Path(__file__).resolve().parents[2] / "shared"
FIGURES = Path(__file__).parent / "figures"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data sets and other tools' answers beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("../shared (data sets and reference answers) is not there")
    return SHARED


@pytest.fixture(scope="session")
def reference() -> Path:
    """Other tools' answers: the large collection beside the checkout, else the figures that come with the tests."""
    return SHARED / "reference" if SHARED.is_dir() else FIGURES


@pytest.fixture(scope="session", autouse=True)
def _the_persons_own_ledger_is_left_alone() -> Iterator[None]:
    """The platform's data folder, where a person's ledger would be, is an empty one, and stays empty."""
    yield
    assert not list(Path(_DATA.name).rglob("*"))
