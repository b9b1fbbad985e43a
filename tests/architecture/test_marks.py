"""Marks that part the tests: cases that are `sampled` stay among the default tests in part, and none is lost."""

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
