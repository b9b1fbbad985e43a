"""Marks that part the tests: cases that are `sampled` stay among the default tests in part, and none is lost."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = """
import pytest

@pytest.mark.sampled(3)
@pytest.mark.parametrize("letter", "ab")
@pytest.mark.parametrize("number", range(5))
def test_cases(number, letter):
    pass

@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", [1])
def test_one(number):
    pass
"""


@pytest.mark.parametrize(
    "words", [("-p", "no:randomly"), pytest.param((), marks=pytest.mark.slow)], ids=["in order", "shuffled"]
)
def test_cases_that_are_sampled_are_spread_evenly_and_none_is_lost(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8"), "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    sampled\n", "utf-8")
    (tmp_path / "test_cases.py").write_text(CASES, "utf-8")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not slow", *words]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120).stdout
    kept = {line.partition("::")[2] for line in said.splitlines() if "::" in line}
    assert kept == {"test_cases[0-a]", "test_cases[1-b]", "test_cases[3-a]", "test_one[1]"}
    assert "4/11 tests collected (7 deselected)" in said


@pytest.mark.slow
def test_a_test_that_there_is_no_time_for_is_not_begun_and_told(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8"), "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    sampled\n", "utf-8")
    (tmp_path / "test_cases.py").write_text("def test_red():\n    raise AssertionError\n", "utf-8")
    settings = {**os.environ, "MODELSEL_TESTS_UNTIL": "1"}
    command = [sys.executable, "-m", "pytest", "-n", "1"]
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    assert "1 tests were not run: no time was left to begin them" in done.stdout
    assert "1 of test_cases.py" in done.stdout


@pytest.mark.parametrize(
    ("changed", "nearest"),
    [
        ("modelsel/kernels/ahead.py", "tests/kernels/test_ahead.py"),
        ("tests/kernels/test_compiler.py", "tests/kernels/test_compiler.py"),
    ],
)
def test_the_slow_tests_nearest_to_a_change_come_first(changed: str, nearest: str) -> None:
    chosen = runpy.run_path(str(ROOT / ".ci" / "slow_tests.py"))
    slow = chosen["slow_files"]()
    assert chosen["touched"]([changed], slow)[0] == nearest
    assert all((ROOT / name).is_file() for name in slow)
