"""A study beside a tracker that never answers: ten seconds at most, the same choice, nothing lost."""

import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

from modelsel.record.mlflow import store as mlflow_store
from modelsel.record.mlflow.sync import waiting
from modelsel.record.mlflow.track import PATIENCE

SMALL = ("dataset=wine", "space=[cart,naive_bayes,majority]", "scheme.folds=3", "pool=sequential", "name=beside")
KEPT = (*SMALL, "tracking=sqlite")
BUSY = 3.0  # seconds that a busy machine may add to two runs of a study


@pytest.mark.slow
def test_a_tracker_that_never_answers_costs_eleven_seconds_in_all_and_is_made_whole_later(modelsel: Any) -> None:
    """Looks are witnessed there, for ten seconds in all; the record waits a second, and is handed over."""
    began = time.monotonic()
    alone = modelsel("run", *SMALL, "tracking=off")
    seconds = time.monotonic() - began
    assert alone.code == 0, alone.err
    known = alone.outcome.winner
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tracking.uri=http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        beside = modelsel("run", *SMALL, "tracking=server", address)
        waited = time.monotonic() - began - seconds
    assert beside.code == 0, beside.err
    assert waited < PATIENCE + 1 + BUSY
    log = Path("runs/latest/study.log").read_text()
    assert "MLflow is still being written, in the background" in log
    assert "`modelsel sync" in log
    assert beside.outcome.winner == known
    store = Path("later.db").resolve()
    for found in (0, beside.outcome.candidates["distinct"]):
        made_whole = modelsel("sync", "latest", "--uri", f"sqlite:///{store}")
        assert made_whole.code == 0, made_whole.err
        assert f"{found} found there" in made_whole.out


def test_an_address_that_cannot_be_meant_is_refused_before_anything_is_computed(modelsel: Any) -> None:
    refused = modelsel("run", *SMALL, "tracking=server", "tracking.uri=htp://tracking.example")
    assert (refused.code, "MSEL-636" in refused.err) == (2, True)
    assert "'htp://tracking.example' is not an address of a tracking store" in refused.err
    assert not list(Path("runs").glob("beside/*"))


def parents(store: Path) -> set[str]:
    """Names of finished studies in an MLflow store, without the looks that it witnesses."""
    of = "SELECT name FROM runs WHERE status = 'FINISHED' AND name NOT LIKE 'look %' AND run_uuid NOT IN "
    try:
        with sqlite3.connect(store) as connection:
            found = connection.execute(f"{of} (SELECT run_uuid FROM tags WHERE key = 'mlflow.parentRunId')").fetchall()
    except sqlite3.OperationalError:  # its tables are being made, in the background
        return set()
    return {name for (name,) in found}


def settled(store: Path) -> set[str]:
    """The studies in the store once nothing waits to be written any more, or a minute and a half has passed."""
    until = time.monotonic() + 90
    while list(waiting(Path("runs"))) and time.monotonic() < until:
        time.sleep(0.5)
    assert list(waiting(Path("runs"))) == []
    return parents(store)


@pytest.mark.slow
def test_a_store_that_is_locked_gets_the_study_in_the_end(modelsel: Any) -> None:
    """Somebody writes for half a minute: the study ends as it would, and stands in the store once the lock is gone."""
    assert modelsel("run", *KEPT).code == 0
    store = Path("runs/mlflow.db").resolve()
    assert len(settled(store)) == 1
    lock = sqlite3.connect(store, isolation_level=None, check_same_thread=False)
    lock.execute("BEGIN EXCLUSIVE")
    release = threading.Timer(30.0, lock.rollback)
    release.start()
    began = time.monotonic()
    beside = modelsel("run", *KEPT, "seed=1")
    assert beside.code == 0, beside.err
    assert time.monotonic() - began < 30.0
    release.join()
    lock.close()
    assert modelsel("run", *KEPT, "seed=2").code == 0
    assert len(settled(store)) == 3


@pytest.mark.slow
def test_a_lock_that_outlasts_the_writer_is_said_by_doctor_and_the_next_study(modelsel: Any, monkeypatch: Any) -> None:
    """What went wrong is kept beside the run, with the reason; the next study says it, and takes the run along."""
    assert modelsel("run", *KEPT).code == 0
    store = Path("runs/mlflow.db").resolve()
    assert len(settled(store)) == 1
    lock = sqlite3.connect(store, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(mlflow_store, "WAIT", 1)
    assert modelsel("run", *KEPT, "seed=1").code == 0
    until = time.monotonic() + 90
    while not any(left.error for left in waiting(Path("runs"))) and time.monotonic() < until:
        time.sleep(0.5)
    (left,) = [one for one in waiting(Path("runs")) if one.error]
    assert "database is locked" in left.error
    assert "database is locked" in modelsel("doctor").out
    lock.rollback()
    lock.close()
    assert modelsel("run", *KEPT, "seed=2").code == 0
    log = Path("runs/latest/study.log").read_text()
    assert "it is tried again now" in log
    assert "database is locked" in log
    assert len(settled(store)) == 3


def statuses(store: Path) -> Counter[tuple[str, str]]:
    """Runs by kind and status, without the looks that the store witnesses."""
    kind = "EXISTS (SELECT 1 FROM tags WHERE tags.run_uuid = runs.run_uuid AND tags.key = 'mlflow.parentRunId')"
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=1.0) as connection:
            rows = connection.execute(f"SELECT {kind}, status FROM runs WHERE name NOT LIKE 'look %'").fetchall()
    except sqlite3.OperationalError:  # its tables are being made
        return Counter()
    return Counter(("candidate" if below else "study", status) for below, status in rows)


@pytest.mark.slow
def test_a_study_killed_while_it_is_tracked_is_adopted_and_a_whole_one_is_logged_once(modelsel: Any) -> None:
    """kill -9 to the study and to whoever writes for it, once the first candidate stands in MLflow."""
    asked = (*KEPT, "space=[cart,knn,naive_bayes]", "tracking.writer=client", "tracking.wait=120")
    store = Path("runs/mlflow.db").resolve()
    path = os.pathsep.join((str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")))
    command = [sys.executable, "-m", "modelsel", "run", *asked]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not any(kind == "candidate" for kind, _ in statuses(store)):
            time.sleep(0.05)
        for one in [*psutil.Process(process.pid).children(recursive=True), process]:
            one.kill()
    left = statuses(store)
    assert left["study", "RUNNING"] == 1
    done = modelsel("run", *asked)
    assert done.code == 0, done.err
    settled(store)
    whole = {("study", "FINISHED"): 1, ("candidate", "FINISHED"): done.outcome.candidates["distinct"]}
    assert 0 < left.total() - 1 < whole["candidate", "FINISHED"], "it was killed half-way"
    assert statuses(store) == whole
    again = modelsel("run", *asked)
    assert again.code == 0, again.err
    assert "done already: MLflow has this very study" in Path("runs/latest/study.log").read_text()
    settled(store)
    assert statuses(store) == whole
