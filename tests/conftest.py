"""Where data sets and other tools' answers lie."""

from pathlib import Path

import pytest

collect_ignore = ["mutation"]  # a command of its own (`make mutate`)

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
