"""The core built without the packages beside it: a wheel of its own passes the core's tests where no satellite is installed.

The wheel is made as decision 42 says a split would be: from this tree, without `packages`, their lines and entry points.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.extras import needs

needs("hatchling")
ROOT = Path(__file__).resolve().parents[2]
BUILD = "from hatchling.build import build_wheel; print(build_wheel('dist'))"
ROOMS = (  # that satellites ask, or that ask them; what reads the repository's own files has no place there
    "cli/test_dispatch.py",
    "cli/test_run.py",
    "config/test_compose.py",
    "config/test_options.py",
    "config/test_search.py",
    "core",
    "certificates",
    "guard/access",
    "record/test_folder.py",
)
BESIDE = re.compile(r"^\[project\.entry-points[^\n]*\n(?:[^\[\n][^\n]*\n|\n)*", re.MULTILINE)
WITHOUT = ("-p", "no:cacheprovider", "-p", "no:modelsel")  # the plugin that the project, installed beside it, still names
GONE = "import importlib.util as u; print(*[u.find_spec(name) for name in ('modelsel_exam', 'modelsel_watch')])"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A Python in which the core's wheel stands beside everything else that is installed here, and a folder of its tests."""
    place = tmp_path_factory.mktemp("alone")
    source, tests = place / "source", place / "tests_of_core"
    take(source, "modelsel", "conf", "docs", "hatch_build.py", "README.md", "LICENSE")
    take(tests, "tests", "conf", "docs", "benchmarks", "conftest.py", "pyproject.toml")
    project = BESIDE.sub("", (ROOT / "pyproject.toml").read_text("utf-8"))
    project = re.sub(r', "packages/[^"]*"', "", project)
    assert "modelsel_exam." not in project.partition("[tool.ruff]")[0]
    (source / "pyproject.toml").write_text(project, "utf-8")
    words = [sys.executable, "-c", BUILD]
    done = subprocess.run(words, cwd=source, env={**os.environ, "MODELSEL_WHEEL": "pure"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = (source / "dist").glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    (packages,) = (place / "venv").glob("lib/python*/site-packages")
    ZipFile(wheel).extractall(packages)
    (packages / "others.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n")  # whose own .pth files are not read
    return place / "venv" / "bin" / "python", tests


def take(folder: Path, *names: str) -> None:
    """Copy files and folders of the tree."""
    folder.mkdir()
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)


def run(python: Path, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([python, *words], cwd=folder, env=settings, capture_output=True, text=True)


@pytest.mark.slow
def test_no_satellite_is_there_and_what_is_absent_says_what_installs_it(alone: tuple[Path, Path]) -> None:
    assert run(*alone, "-c", GONE).stdout.split() == ["None", "None"]
    done = run(*alone, "-m", "modelsel", "exam", "status", "place")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2, "MSEL-260: exam is not installed, modelsel exam; pip install 'modelsel[exam]'",
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_the_tests_of_a_room_of_the_core_pass(alone: tuple[Path, Path], room: str) -> None:
    done = run(*alone, "-m", "pytest", "-n", "0", "-q", f"tests/{room}", "-m", "not slow", *WITHOUT)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
