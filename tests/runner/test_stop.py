"""What ends a run early: Ctrl-C, a deadline, a full disk, a hopeless first fold, wrong data; finished cells are kept."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from modelsel.core.errors import ConfigurationError, DataError, NoCandidateError
from modelsel.core.types import Candidate
from modelsel.learner.knn import Knn
from modelsel.learner.sklearn import Sklearn
from modelsel.planning.make import make
from modelsel.runner.evaluation.limits import CellLimits
from modelsel.runner.execution.executors import Pool, choose_pool
from modelsel.runner.journal import Journal
from modelsel.runner.run import NullProgress, run
from tests import doubles
from tests.doubles import Double, Wrong, candidates, spread
from tests.runner.studies import answer, study

HERE = str(Path(__file__).parents[2])
SLOW = """
import sys
from pathlib import Path
from modelsel.runner.execution.executors import Pool
from modelsel.runner.run import run
from tests.runner.studies import answer, study
from tests.doubles import spread
folder, kind, how = sys.argv[1:]
some = [candidate for group in range(12) for candidate in spread(3, group=group, seconds=0.15)]
more = {"deadline": 1.0} if how == "deadline" else {}
if how == "full":
    import resource
    most = 14_000 if kind == "processes" else 4_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
print("ready", flush=True)
results = study(Path(folder), some, pool=Pool(kind, 2), **more)
print(results.counts, answer(results))
"""


def started(folder, kind, how="plain"):
    script = folder / "slow.py"
    script.write_text(SLOW)
    command = [sys.executable, str(script), str(folder), kind, how]
    here = {**os.environ, "PYTHONPATH": HERE}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=here, start_new_session=True
    )
    assert process.stdout.readline().strip() == "ready"
    return process


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sequential", "threads", "processes"])
def test_an_interrupt_ends_the_run_and_keeps_the_finished_cells(tmp_path, kind):
    process = started(tmp_path, kind)
    while sum(path.stat().st_size for path in (tmp_path / "a").glob("*")) < 3_000:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=200)
    assert "KeyboardInterrupt" in said
    some = [candidate for group in range(12) for candidate in spread(3, group=group, seconds=0.15)]
    again = study(tmp_path, some, pool=Pool("threads", 2), name="again", older=[tmp_path / "a"])
    assert 0 < again.reused < 36


KERNEL = """
import sys
from pathlib import Path
from modelsel.core.types import Candidate
from modelsel.learner.knn import Knn
from modelsel.runner.execution.executors import Pool
from tests import doubles
from tests.runner.studies import study
folder, kind, workers = sys.argv[1:]
some, pool = [Candidate(Knn(k=3))], Pool(kind, int(workers))
study(Path(folder), some, pool=pool, name="warm")
print("ready", flush=True)
study(Path(folder), some, pool=pool, task=doubles.task(100_000))
print("finished")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "workers"), [("sequential", 1), ("threads", 1), ("threads", 2)])
def test_an_interrupt_while_a_kernel_runs_is_an_interrupt(tmp_path, kind, workers):
    """In threads the kernel ends there and then; in this very thread when it is done."""
    (tmp_path / "kernel.py").write_text(KERNEL)
    command = [sys.executable, str(tmp_path / "kernel.py"), str(tmp_path), kind, str(workers)]
    here = {**os.environ, "PYTHONPATH": HERE}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=here)
    assert process.stdout.readline().strip() == "ready"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=120)
    assert "finished" not in out
    assert "KeyboardInterrupt" in said.splitlines()[-1]
    assert not any(Path(tmp_path / "a").glob("*"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sequential", "threads", "processes"])
def test_a_deadline_ends_the_run_and_unfinished_candidates_are_skipped(tmp_path, kind):
    process = started(tmp_path, kind, "deadline")
    out, said = process.communicate(timeout=200)
    assert process.returncode == 0, said
    assert "'failed': 0" in out
    assert "'skipped': 0" not in out


@pytest.mark.slow
def test_before_a_deadline_batches_are_finished_one_after_the_other(tmp_path):
    """Eight batches of half a second: in file order nothing would be done before the last fold."""
    some = [candidate for group in range(8) for candidate in spread(1, group=group, seconds=0.25)]
    results = study(tmp_path, some, pool=Pool("sequential"), folds=4, deadline=4.0)
    assert 0 < results.counts["ok"] < 8
    assert results.counts["skipped"] == 8 - results.counts["ok"]


def test_a_deadline_outside_the_main_thread_is_refused(tmp_path):
    caught: list[BaseException] = []

    def alone() -> None:
        try:
            study(tmp_path, spread(2), deadline=5.0)
        except ConfigurationError as error:
            caught.append(error)

    thread = threading.Thread(target=alone)
    thread.start()
    thread.join()
    assert "MSEL-535" in str(caught[0])


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("sequential", marks=pytest.mark.slow), "threads", "processes"])
def test_a_full_disk_ends_the_run_with_one_clear_message_and_loses_nothing(tmp_path, kind):
    process = started(tmp_path, kind, "full")
    _, said = process.communicate(timeout=200)
    assert process.returncode == 1
    assert "MSEL-604: the journal cannot be written: File too large" in said
    some = [candidate for group in range(12) for candidate in spread(3, group=group, seconds=0.15)]
    again = study(tmp_path, some, pool=Pool("threads", 2), name="again", older=[tmp_path / "a"])
    assert again.reused > 0
    assert answer(again) == answer(study(tmp_path, some, pool=Pool("threads", 2), name="fresh"))


def test_a_first_fold_on_which_everybody_fails_ends_the_study(tmp_path):
    with pytest.raises(NoCandidateError, match=r"MSEL-704.*asked to raise \(fold 0\) \(4 of 4\)"):
        study(tmp_path, candidates(*(Double(cut=cut, deed="raise") for cut in range(4))))


class Unusable(Double):
    kind = "unusable"

    def fit_path(self, task, rows, rng):
        raise DataError(*[])


def test_wrong_data_end_the_study(tmp_path):
    with pytest.raises(DataError):
        study(tmp_path, candidates(Unusable()))


def test_a_limit_that_nobody_can_hold_is_refused_before_anything_is_run(tmp_path):
    for kind in ("threads", "sequential"):
        with pytest.raises(ConfigurationError, match=r"MSEL-532.*cannot be stopped, limit; use pool=processes"):
            study(tmp_path, spread(2), pool=Pool(kind), limits=CellLimits(seconds=1))
    assert choose_pool(Pool("auto"), CellLimits(seconds=1)).kind == "processes"
    assert choose_pool(Pool("auto"), CellLimits(), [Candidate(Sklearn("DummyClassifier"))]).kind == "processes"
    assert choose_pool(Pool("auto"), CellLimits(), [Candidate(Knn())]).kind == "threads"
    assert choose_pool(Pool("auto"), CellLimits(), spread(1)).kind == "processes", "not our own code"


def test_an_unknown_pool_and_a_pool_that_is_not_installed_are_named(tmp_path):
    with pytest.raises(ConfigurationError, match="MSEL-531: unknown pool 'theads'"):
        study(tmp_path, spread(2), pool=Pool("theads"))
    with pytest.raises(ConfigurationError, match="MSEL-533: pool=ray needs a package"):
        study(tmp_path, spread(2), pool=Pool("ray"))


def test_a_plan_of_other_rows_is_refused(tmp_path):
    task, other = doubles.task(), doubles.task(seed=5)
    plan = make(spread(3), task, doubles.folds(task))
    with Journal(tmp_path / "a") as journal, pytest.raises(ConfigurationError, match="MSEL-521"):
        run(plan, other, doubles.folds(other), Wrong(), Pool("sequential"), journal)


class Heard(NullProgress):
    def __init__(self):
        self.said, self.cells, self.done, self.best = [], 0, 0, []

    def start(self, cells, candidates):
        self.cells = cells

    def advance(self, cells=1, best=None, failures=0):
        self.done += cells
        self.best.append(best)

    def say(self, message):
        self.said.append(message)


def test_the_progress_hears_of_every_cell_and_of_what_was_found(tmp_path):
    first, second = Heard(), Heard()
    study(tmp_path, spread(3), progress=first)
    study(tmp_path, (*spread(3), *spread(3, group=1)), name="b", older=[tmp_path / "a"], progress=second)
    assert (first.cells, first.done, first.said) == (3, 3, [])
    assert (second.cells, second.done) == (6, 6)
    assert second.said == ["3 of 6 cells were found in a journal", "3 to compute: not computed before"]


def test_limits_of_the_process_are_put_back(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_AS)
    with CellLimits(memory=1 << 30).enforce():
        assert resource.getrlimit(resource.RLIMIT_AS) != before
    assert resource.getrlimit(resource.RLIMIT_AS) == before
