"""Where data sets and other tools' answers lie."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import lookalikes

collect_ignore = ["mutation"]  # a command of its own (`make mutate`)

settings.register_profile("drawn", deadline=None)  # other examples each time: `--hypothesis-profile drawn`
settings.register_profile("same", deadline=None, derandomize=True)  # nothing fails by chance, nor for a busy machine
settings.load_profile("same")

SHARED = Path(__file__).resolve().parents[2] / "shared"
FIGURES = Path(__file__).parent / "figures"


def is_here(name: str) -> bool:
    """Say whether a table is at hand: beside the checkout, or made from what comes with the tests."""
    return any(path.is_file() for path in (SHARED / "data" / f"{name}.csv", FIGURES / "data" / f"{name}.json"))


def about(cases: Iterable[str]) -> list[Any]:
    """Cases for `parametrize`, each about the table that its first word names; none is about no table."""
    marked = [pytest.param(case, marks=pytest.mark.about(case.split()[0])) for case in sorted(cases)]
    return marked or [pytest.param("", marks=pytest.mark.about("no table"))]


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what reads the large collection, and leave out tests about tables that only it has: they cannot come along."""
    for item in items:
        reads = {"shared", "reference", "reference_task", "table"} & set(getattr(item, "fixturenames", ()))
        if reads or item.get_closest_marker("about"):
            item.add_marker("beside")
    away = {item for item in items for mark in item.iter_markers("about") if not is_here(mark.args[0])}
    if away:
        config.hook.pytest_deselected(items=list(away))
        items[:] = [item for item in items if item not in away]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data sets and other tools' answers beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("../shared (data sets and reference answers) is not there")
    return SHARED


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`table("vote")`: the collected file beside the checkout, else a table made in its likeness."""
    folder = tmp_path_factory.mktemp("tables")

    def path(name: str) -> Path:
        collected = SHARED / "data" / f"{name}.csv"
        return collected if collected.is_file() else lookalikes.write(name, folder)

    return path


@pytest.fixture(scope="session")
def reference() -> Path:
    """Other tools' answers: the large collection beside the checkout, else the figures that come with the tests."""
    return SHARED / "reference" if SHARED.is_dir() else FIGURES


@pytest.fixture(scope="session")
def enough() -> Callable[[int, int], bool]:
    """`enough(compared, 120)`: more cases were met than so many; with the tables that come along, at least one."""
    return lambda cases, least: cases > (least if SHARED.is_dir() else 0)
