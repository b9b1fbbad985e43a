"""The pytest plugin: what a run of tests adds to the ledger fails it, and is named beside its test."""

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["pytester"]
PACKAGE = Path(__file__).resolve().parents[1]

PROGRAM = """
import modelsel
import numpy as np
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

X, y = load_wine(return_X_y=True, as_frame=True)

def test_peeks():
    assert GaussianNB().fit(X[1::3], y[1::3]).score(X[::3], y[::3]) > 0.5

def test_does_not():
    assert GaussianNB().fit(X[1::3], y[1::3]).score(X[2::3], y[2::3]) > 0.5
"""
OPTIONS = ("-p", "modelsel_watch.pytest_plugin", "-p", "no:randomly", "-p", "no:xdist", "-W", "ignore")


@pytest.fixture
def plugged(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pytest.RunResult]:
    """Run the program's tests, whose rows another process has sealed."""
    from sklearn.datasets import load_wine

    import modelsel as package

    monkeypatch.setenv("MODELSEL_HOME", str(pytester.path / "home"))
    X, y = load_wine(return_X_y=True, as_frame=True)
    package.watch(X[::3], y[::3], name="wine")
    pytester.makepyfile(test_model=PROGRAM)
    loaded = any(plugin.name == "modelsel" for plugin in _entry_points())
    return lambda *words: pytester.runpytest_inprocess(*(OPTIONS[2:] if loaded else OPTIONS), *words)


def _entry_points() -> Any:
    from importlib.metadata import entry_points

    return entry_points(group="pytest11")


@pytest.mark.slow
def test_the_plugin_fails_where_a_finding_is_new_and_names_the_test(plugged: Callable[..., pytest.RunResult]) -> None:
    assert plugged().ret == 0  # without the flag nothing is watched, and nothing is on record
    found = plugged("--modelsel", "--modelsel-fail-on", "critical")
    assert found.ret == 0
    found.stdout.fnmatch_lines(["*modelsel: 1 new, 0 from critical on*", "G017 (high): accuracy*", "    in *::test_peeks"])
    assert plugged("--modelsel").ret == 0  # what was found before is not new


def test_the_plugin_ends_with_failure_at_the_first_time(plugged: Callable[..., pytest.RunResult]) -> None:
    found = plugged("--modelsel")
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    found.assert_outcomes(passed=2)
    found.stdout.fnmatch_lines(["*modelsel: 1 new, 1 from high on*"])
    found.stdout.no_fnmatch_line("    in *::test_does_not")


def test_the_plugin_is_an_entry_point_and_loads_nothing_without_its_flag() -> None:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"modelsel": "modelsel_watch.pytest_plugin"}
    code = (
        "import pytest, sys; before = set(sys.modules); import modelsel_watch.pytest_plugin; "
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('modelsel')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"argparse", "gettext", "shutil"}
