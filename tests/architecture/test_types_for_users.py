"""Types reach who installs the package: a small program is checked against the wheel, away from this tree."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import numpy as np
import pandas as pd

import modelsel
from modelsel.core.types import Floats, Integers, Table, Task
from modelsel.learner.base import BaseLearner, FittedModel


class Shares(FittedModel):
    def scores(self, table: Table) -> Floats:
        return np.full((len(table), 2), 0.5)


class Constant(BaseLearner):
    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Shares:
        return Shares()


def best(frame: pd.DataFrame) -> str:
    outcome = modelsel.run(frame, target="y", space=["trees", "knn"], final_test=False)
    return outcome.methods() + modelsel.open_run("latest").study


wrong: int = best(pd.DataFrame())
modelsel.rnu(pd.DataFrame())
"""
WRONG = sorted(number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.startswith(("wrong", "modelsel.rnu")))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the wheel, and beside it what this environment holds."""
    place = tmp_path_factory.mktemp("user")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"MODELSEL_WHEEL": "pure"}
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "-q", "-w", str(place)]
    built = subprocess.run(command, capture_output=True, text=True, env=clean, cwd=place)
    if built.returncode:
        pytest.skip(f"no wheel can be built here: {built.stderr[-300:]}")
    (wheel,) = place.glob("modelsel-*.whl")
    venv.create(place / "env", with_pip=False)
    site = next((place / "env").rglob("site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    others = site.parent / "others"
    others.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():  # all but this package, which may be installed from its tree
        if "modelsel" not in path.name and path.suffix != ".pth":
            (others / path.name).symlink_to(path)
    (site / "others.pth").write_text(f"{others}\n")
    (place / "program.py").write_text(PROGRAM)
    return place


@pytest.mark.slow
def test_mypy_reads_the_types_of_the_wheel(installed: Path) -> None:
    mypy = Path(sys.executable).with_name("mypy")
    if not mypy.exists():
        pytest.skip("mypy is not installed (make check installs it)")
    python = installed / "env" / "bin" / "python"
    assert _lines_complained_of([mypy, "--strict", "--python-executable", python, "program.py"], installed) == WRONG


@pytest.mark.slow
def test_pyright_reads_the_types_of_the_wheel(installed: Path) -> None:
    checker = next((found for name in ("pyright", "basedpyright") if (found := shutil.which(name))), None)
    if checker is None:
        pytest.skip("pyright is not installed")
    python = installed / "env" / "bin" / "python"
    assert _lines_complained_of([checker, "--level", "error", "--pythonpath", python, "program.py"], installed) == WRONG


def _lines_complained_of(command: list[str | Path], folder: Path) -> list[int]:
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=clean)
    found = sorted({int(line) for line in re.findall(r"program\.py:(\d+)(?::\d+)?[: -]+error", done.stdout)})
    assert found, done.stdout + done.stderr
    return found
