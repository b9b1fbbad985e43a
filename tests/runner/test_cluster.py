"""Dask: a local cluster, a scheduler elsewhere whose workers are other processes, and workers that are killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.runner.execution import cluster as execution
from modelsel.runner.execution.executors import Pool
from tests.doubles import Double, candidates, spread
from tests.extras import needs
from tests.runner.studies import answer, study

needs("distributed")
pytestmark = pytest.mark.slow
HERE = str(Path(__file__).parents[2])
SOME = (*spread(7, noise=True), *spread(5, group=1, lean=1))


@contextmanager
def cluster(folder, workers=2, path=HERE):
    """A scheduler and workers, each a process of its own: the address, and the scheduler's process."""
    place = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": str(folder)}
    quiet["env"] = {**os.environ, "PYTHONPATH": str(path)}

    def started(name, *words):
        command = [sys.executable, "-m", f"distributed.cli.{name}", "--scheduler-file", str(place), "--no-dashboard", *words]
        return subprocess.Popen(command, **quiet)

    scheduler = started("dask_scheduler", "--port", "0")
    while not place.exists():
        time.sleep(0.1)
    processes = [scheduler, *(started("dask_worker", "--nthreads", "1") for _ in range(workers))]
    try:
        yield json.loads(place.read_text())["address"], scheduler
    finally:
        for process in reversed(processes):  # workers first: without a scheduler they would look for it
            process.terminate() if scheduler.poll() is None else process.kill()
            process.wait(30)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("dask")) as (address, _):
        yield address


def test_a_local_cluster_gives_the_answer_of_one_process(tmp_path):
    assert answer(study(tmp_path, SOME, pool=Pool("dask", 2), name="two")) == answer(study(tmp_path, SOME, name="one"))


def test_a_scheduler_elsewhere_gives_the_answer_of_one_process(tmp_path, scheduler):
    far = study(tmp_path, SOME, pool=Pool("dask", 2, scheduler), name="far")
    assert answer(far) == answer(study(tmp_path, SOME, name="one"))


def test_workers_are_waited_for_and_a_scheduler_without_any_is_said(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(execution, "TOLD_AFTER", 0.5)
    refused = pytest.raises(ConfigurationError, match=r"MSEL-537: the Dask scheduler at .* has had no workers for 2 s")
    with cluster(tmp_path, workers=0) as (address, _), refused:
        study(tmp_path, SOME, pool=Pool("dask", 2, address, wait=2.0), name="alone")
    assert "has no workers yet: waiting for them up to 2 s (pool.wait)" in capfd.readouterr().err


WITHOUT, OTHER = "raise ImportError('modelsel is not here')", "__version__ = '0.0.1'"


@pytest.mark.parametrize(("text", "said"), [(WITHOUT, "has none"), (OTHER, "has 0.0.1"), ("", "with other files")])
def test_workers_that_run_other_code_are_refused_before_the_first_cell(tmp_path, text, said):
    package = tmp_path / "elsewhere" / "modelsel"
    if text:
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(text)
    else:
        shutil.copytree(Path(HERE) / "modelsel", package, ignore=shutil.ignore_patterns("__pycache__"))
        with (package / "measure" / "error.py").open("a") as file:
            file.write("# of another day\n")
    with cluster(tmp_path, path=package.parent) as (address, _), pytest.raises(ConfigurationError, match="MSEL-538") as caught:
        study(tmp_path, SOME, pool=Pool("dask", 2, address), name="other")
    assert said in str(caught.value)
    assert not list(tmp_path.glob("other/**/*.seg*"))


@dataclass(frozen=True)
class Telling(Double):
    """Writes down which process fits, and where its rows lie."""

    def fit_path(self, task, rows, rng):
        with open(self.log, "a") as log:
            log.write(f"{os.getpid()} at {task.values.ctypes.data}\n")
        return super().fit_path(task, rows, rng)


def test_a_worker_gets_the_data_once_for_all_its_cells(tmp_path):
    log = tmp_path / "tasks"
    some = candidates(*(Telling(group=group, cut=0.1, log=str(log)) for group in range(20)))
    study(tmp_path, some, pool=Pool("dask", 2))
    told = [line.split() for line in log.read_text().splitlines() if len(line.split()) == 3]
    workers = {pid for pid, *_ in told}
    assert len(told) == 20 * 3
    assert str(os.getpid()) not in workers
    assert len(set(map(tuple, told))) == len(workers) == 2


def test_a_candidate_that_kills_its_worker_is_crashed_and_the_others_finish(tmp_path):
    some = (*spread(3), *candidates(Double(cut=9.5, deed="kill")))
    results = study(tmp_path, some, pool=Pool("dask", 2), folds=2)
    assert results.status == ("ok", "ok", "ok", "crashed")


def test_a_worker_that_is_killed_in_the_middle_loses_nothing(tmp_path, scheduler):
    import distributed

    some = [candidate for group in range(20) for candidate in spread(3, group=group, seconds=0.1)]
    with distributed.Client(scheduler, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        victim = next(iter(client.run(os.getpid).values()))
    threading.Timer(1.0, os.kill, (victim, signal.SIGKILL)).start()
    results = study(tmp_path, some, pool=Pool("dask", 2, scheduler), name="hurt")
    assert set(results.status) == {"ok"}
    assert answer(results) == answer(study(tmp_path, some, pool=Pool("threads", 2), name="whole"))


def test_work_that_could_not_be_sent_because_a_worker_died_just_then_is_sent_again(tmp_path, monkeypatch):
    import distributed

    whole, failures = distributed.Client.scatter, [distributed.comm.core.CommClosedError("Stream is closed")] * 2

    def scatter(client, *things, **more):
        if failures:
            raise failures.pop()
        return whole(client, *things, **more)

    monkeypatch.setattr(distributed.Client, "scatter", scatter)
    assert answer(study(tmp_path, SOME, pool=Pool("dask", 2), name="two")) == answer(study(tmp_path, SOME, name="one"))
    assert not failures


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, monkeypatch):
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), pytest.raises(ConfigurationError, match="MSEL-534"):
        study(tmp_path, SOME, pool=Pool("dask", 2, "tcp://127.0.0.1:9"))


def test_a_scheduler_that_goes_away_is_said_within_seconds_and_threads_go_on(tmp_path):
    """Dask alone looks for it for half a minute. Finished cells are found by the same study in threads."""
    log, died = tmp_path / "fits", []
    some = [candidate for group in range(25) for candidate in spread(2, group=group, seconds=0.2, log=str(log))]
    with cluster(tmp_path) as (address, scheduler):

        def kill():
            while not log.exists() or log.read_text().count("\n") < 8:
                time.sleep(0.1)
            died.append(time.monotonic())
            scheduler.kill()

        threading.Thread(target=kill, daemon=True).start()
        with pytest.raises(ConfigurationError, match="MSEL-536") as told:
            study(tmp_path, some, pool=Pool("dask", 2, address), name="lost")
        assert time.monotonic() - died[0] < 15.0
    assert f"the Dask scheduler at {address} went away" in str(told.value)
    found = study(tmp_path, some, pool=Pool("threads", 2), name="on", older=(tmp_path / "lost",))
    assert 0 < found.reused < 75
    assert answer(found) == answer(study(tmp_path, some, pool=Pool("threads", 2), name="whole"))


def test_a_scheduler_that_goes_away_before_any_worker_is_there_is_said_too(tmp_path):
    died = []
    with cluster(tmp_path, workers=0) as (address, scheduler):

        def kill():
            died.append(time.monotonic())
            scheduler.kill()

        threading.Timer(4.0, kill).start()
        with pytest.raises(ConfigurationError, match="MSEL-536"):
            study(tmp_path, SOME, pool=Pool("dask", 2, address), name="lost")
        assert time.monotonic() - died[0] < 20.0
