"""Dask: a local cluster, a scheduler elsewhere whose workers are other processes, and workers that are killed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.runner.execution.executors import Pool
from tests.doubles import Double, candidates, spread
from tests.runner.studies import answer, study

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow
HERE = str(Path(__file__).parents[2])
SOME = (*spread(7, noise=True), *spread(5, group=1, lean=1))


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """A scheduler and two workers, each a process of its own; the address and the workers' processes."""
    here = {**os.environ, "PYTHONPATH": HERE}
    folder = tmp_path_factory.mktemp("dask")
    place = folder / "scheduler.json"
    dask = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--no-dashboard",
        "--port",
        "0",
        "--scheduler-file",
        str(place),
    ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": here, "cwd": str(folder)}
    processes = [subprocess.Popen(dask, **quiet)]
    while not place.exists():
        time.sleep(0.1)
    worker = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        "--scheduler-file",
        str(place),
        "--nthreads",
        "1",
        "--no-dashboard",
    ]
    processes += [subprocess.Popen(worker, **quiet) for _ in range(2)]
    yield json.loads(place.read_text())["address"]
    for process in reversed(processes):  # workers first: without a scheduler they would look for it
        process.terminate()
        process.wait(30)


def test_a_local_cluster_gives_the_answer_of_one_process(tmp_path):
    assert answer(study(tmp_path, SOME, pool=Pool("dask", 2), name="two")) == answer(study(tmp_path, SOME, name="one"))


def test_a_scheduler_elsewhere_gives_the_answer_of_one_process(tmp_path, scheduler):
    far = study(tmp_path, SOME, pool=Pool("dask", 2, scheduler), name="far")
    assert answer(far) == answer(study(tmp_path, SOME, name="one"))


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
