"""Fixtures of the guard's tests."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Begun = Callable[..., tuple[Path, Any]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Begun:
    """`begun(start, *about)`: a folder in which `start(folder, *about)` was done, as that left it, and what it returned.

    It is done once, and the folder put back for each further test; at the same place, for a home knows its ledgers by place.
    """
    outcomes: dict[tuple[Any, ...], tuple[Path, Any]] = {}

    def folder_as_left(start: Callable[..., Any], *about: Any) -> tuple[Path, Any]:
        beginning = (start, *about)
        if beginning not in outcomes:
            folder = tmp_path_factory.mktemp("begun") / "work"
            folder.mkdir()
            outcomes[beginning] = folder, start(folder, *about)
            shutil.copytree(folder, folder.with_name("as_left"))
        folder, outcome = outcomes[beginning]
        shutil.rmtree(folder)
        shutil.copytree(folder.with_name("as_left"), folder)
        return folder, outcome

    return folder_as_left
