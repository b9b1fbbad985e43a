"""Asked to end while cells are computed: 130, one line, no process of ours and no copy of the data left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

LEARNER = """
import time
from dataclasses import dataclass
from modelsel.core.spec import number, whole
from modelsel.learner.majority import Majority

@dataclass(frozen=True)
class Slow(Majority):
    kind = "slow"
    label: int = whole(0)
    seconds: float = number(0.3)

    def fit_key(self):
        return {"kind": "slow", "label": self.label}

    def fit(self, task, rows, rng):
        time.sleep(self.seconds)
        return super().fit(task, rows, rng)
"""
SPACE = ("learner=slow", "learner.sweep={label: 'range(0, 40)'}")
PATIENCE = 25.0  # seconds that a busy machine may take


@pytest.fixture(autouse=True)
def _heard():
    """Signals that the tests' own starter ignores (nohup, a background job) would be ignored by a study too."""
    ignored = [one for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if signal.getsignal(one) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def place(tmp_path):
    """An installed distribution with the learner; a folder for temporary files that is empty but for ours."""
    facts = tmp_path / "installed" / "slow-0.1.dist-info"
    facts.mkdir(parents=True)
    (facts.parent / "slow_learner.py").write_text(LEARNER)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 0.1\n")
    (facts / "entry_points.txt").write_text("[modelsel.learner]\nslow = slow_learner:Slow\n")
    (tmp_path / "temporary").mkdir()
    return tmp_path


def _started(place: Path, pool: str) -> "subprocess.Popen[str]":
    """A study in the midst of its cells."""
    path = os.pathsep.join((str(place / "installed"), os.environ.get("PYTHONPATH", ""), str(Path(__file__).parents[2])))
    words = ("run", "dataset=wine", *SPACE, "plugins=[slow]", f"pool={pool}", "pool.n_jobs=2", "final_test=false")
    process = subprocess.Popen(
        [sys.executable, "-m", "modelsel", *words], cwd=place, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(place / "temporary"), "MODELSEL_HOME": str(place / "home")},
    )  # fmt: skip
    end = time.monotonic() + 60
    while not _bytes(place):
        assert time.monotonic() < end, process.communicate()[1]
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    return process


def _bytes(place: Path) -> int:
    return sum(path.stat().st_size for path in place.glob("runs/*/*/journal/*"))


def _left(place: Path, family: list[psutil.Process]) -> tuple[list[str], list[str]]:
    """Processes of the study that still run, and files that it left where temporary ones lie."""
    _, alive = psutil.wait_procs(family, PATIENCE)
    words = [" ".join(one.cmdline()) for one in alive if one.is_running()]
    return words, sorted(str(path) for path in (place / "temporary").rglob("modelsel-*"))


POOLS = ["processes", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("threads", "sequential", "dask"))]


@pytest.mark.slow
@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_one_signal_ends_the_study_with_130_and_leaves_nothing_behind(place, pool, number):
    process = _started(place, pool)
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)  # to the study alone
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, said
    assert said.splitlines()[-1] == "interrupted; the same command goes on where it stopped"
    assert "Traceback" not in said
    assert _left(place, family) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("pool", POOLS)
def test_ctrl_c_twice_ends_at_once_with_130_and_leaves_no_worker(place, pool):
    process = _started(place, pool)
    family = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it: to all of the group
    time.sleep(0.05)
    began = time.monotonic()
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, said
    assert time.monotonic() - began < 10
    assert pool == "dask" or "Traceback" not in said  # its processes, interrupted too, say so themselves
    assert _left(place, family) == ([], [])
