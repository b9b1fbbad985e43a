"""Twenty programs that peek are caught, 150 that do not raise nothing: sealed by one process, run by another."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import modelsel
from tests.extras import needs
from watch_tests.programs import CLEAN, PEEKING, TABLES

ROOT = Path(__file__).parents[3]


def process(*words: str) -> dict[str, list[str]]:
    """What the programs of a kind saw, in a process of its own."""
    paths = os.pathsep.join(map(str, [ROOT, *(ROOT / "packages").iterdir()]))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", "PYTHONPATH": paths}
    command = [sys.executable, "-m", "watch_tests.programs", *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


for library in ("lightgbm", "xgboost", "catboost"):  # some of the programs use them by themselves
    needs(library)


@pytest.mark.slow
def test_twenty_programs_that_peek_are_caught_by_another_process_and_audited_by_a_third(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(PEEKING) == 20
    process("seal", "peek", str(tmp_path))
    seen = process("run", "peek", str(tmp_path))
    assert {name: set(codes) for name, codes in seen.items()} == {name: codes for name, (_, codes, _) in PEEKING.items()}
    assert len(seen["a_sweep_over_depths"]) == 5  # one look for each model
    assert len(seen["a_threshold_put_on_by_hand"]) == 1  # one for a prediction, however many metrics
    assert seen["cross_validation_of_the_whole_file"] == ["G026"]  # one finding, and no look for each fold
    for name, (_, codes, _) in PEEKING.items():
        monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / name))
        report = modelsel.audit()
        assert {flag["code"] for flag in report["flags"]} & {"G017", "G025", "G026"} == codes, name
        looks = [look for one in report["test_sets"] for look in one["looks"]]
        assert len(looks) == seen[name].count("G017")
        assert all(look["outside"] and look["interval"] is None for look in looks)
    assert process("run", "peek", str(tmp_path))["a_sweep_over_depths"] == []  # the same predictions again are no new look


@pytest.mark.slow
def test_programs_that_do_not_peek_raise_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(CLEAN) * len(TABLES) == 150
    process("seal", "clean", str(tmp_path))
    seen = process("run", "clean", str(tmp_path))
    assert len(seen) == 150
    assert {name: codes for name, codes in seen.items() if codes} == {}
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "clean"))
    sets = modelsel.audit()["test_sets"]
    assert len(sets) == len(TABLES) - 1  # one is another's rows in single precision, under other names
    assert not any(one["looks"] for one in sets)
