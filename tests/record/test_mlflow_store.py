"""The embedded store: explicit, made whole by any number of first starters, alive after a kill at any moment."""

import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.record.mlflow import store as mlflow_store
from modelsel.record.mlflow.store import TrackingStore, at, embedded_store, locate, quieten

START = """
import os, sys
from pathlib import Path
from modelsel.record.mlflow import store as mlflow_store
from modelsel.record.mlflow.client import Client
mlflow_store.quieten(os.environ)
store = mlflow_store.embedded_store(Path(sys.argv[1]))
mlflow_store.prepare(store)
client = Client(store)
run = client.api.create_run(client.experiment("together"), run_name=sys.argv[2])
client.api.set_terminated(run.info.run_id)
"""


def settings(kind="sqlite", uri=None, uri_env=None):
    return SimpleNamespace(kind=kind, uri=uri, uri_env=uri_env)


def start(root: Path, name: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", START, str(root), name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def test_the_address_is_absolute_whatever_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert locate(settings(), Path("runs"), {}).sqlite == tmp_path.resolve() / "runs" / "mlflow.db"
    assert locate(settings(), Path("runs"), {}).artifacts == (tmp_path.resolve() / "runs" / "mlartifacts").as_uri()
    assert at("sqlite:///mine.db", Path("runs")).sqlite == tmp_path / "mine.db"


def test_the_persons_own_address_wins_over_the_embedded_store():
    theirs = {"MLFLOW_TRACKING_URI": "http://theirs:5000", "OTHER": "http://other:5000"}
    assert locate(settings(), Path("runs"), theirs) == TrackingStore("http://theirs:5000")
    assert locate(settings(uri_env="OTHER"), Path("runs"), theirs) == TrackingStore("http://other:5000")
    assert locate(settings(uri="http://said:5000"), Path("runs"), theirs) == TrackingStore("http://said:5000")
    assert locate(settings(kind="off"), Path("runs"), theirs) is None


@pytest.mark.parametrize("wrong", [settings(uri="./mlruns"), settings(uri="file:///tmp/mlruns"), settings(uri_env="NOT_SET")])
def test_an_address_that_cannot_be_meant_is_refused_with_the_fix(wrong):
    with pytest.raises(ConfigurationError, match=r"tracking\.uri") as error:
        locate(wrong, Path("runs"), {})
    assert error.value.problems[0].fix


def test_postgresql_gets_the_driver_that_is_installed_and_a_limit_on_waiting():
    assert at("postgresql://me:x@db/y", Path("runs")).uri == "postgresql+psycopg://me:x@db/y?connect_timeout=3"
    assert (
        at("postgres://db/y?sslmode=require", Path("runs")).uri == "postgresql+psycopg://db/y?connect_timeout=3&sslmode=require"
    )


def test_the_persons_own_patience_is_kept_and_telemetry_is_off():
    variables = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "77"}
    quieten(variables)
    assert variables["MLFLOW_HTTP_REQUEST_TIMEOUT"] == "77"
    assert variables["MLFLOW_DISABLE_TELEMETRY"] == "true"


def test_a_new_store_is_in_wal_mode_with_its_artifacts_beside_it(empty_store):
    with sqlite3.connect(empty_store) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        (place,) = connection.execute("SELECT artifact_location FROM experiments WHERE experiment_id = 0").fetchone()
    assert place.startswith((empty_store.parent / "mlartifacts").as_uri())
    assert sorted(path.name for path in empty_store.parent.iterdir() if "part" in path.name) == []


@pytest.mark.slow
@pytest.mark.parametrize("count", [8, pytest.param(32, marks=pytest.mark.soak)])
def test_concurrent_first_starts_all_succeed(count, tmp_path):
    started = [start(tmp_path / "runs", str(i)) for i in range(count)]
    errors = [process.communicate(timeout=280)[1] for process in started]
    assert [process.returncode for process in started] == [0] * count, next(e for e in errors if e)[-2000:]
    with sqlite3.connect(tmp_path / "runs" / "mlflow.db") as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT name) FROM runs").fetchone() == (count, count)
        assert connection.execute("SELECT count(*) FROM experiments WHERE name = 'together'").fetchone() == (1,)


@pytest.mark.slow
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("kills", [4, pytest.param(100, marks=pytest.mark.soak)])
def test_a_kill_during_creation_bricks_nothing(kills, tmp_path):
    rng = np.random.default_rng(kills)
    killed = 0
    for turn in range(kills):
        root = tmp_path / f"runs{turn}"
        process = start(root, "first")
        while process.poll() is None and not list(root.glob(".mlflow.db.part")):
            time.sleep(0.01)
        time.sleep(float(rng.uniform(0, 1.2)))
        killed += process.poll() is None
        process.kill()
        process.communicate()
    for turn in range(0, kills, max(1, kills // 8)):  # a later opener finds it usable
        process = start(tmp_path / f"runs{turn}", "second")
        assert process.wait(timeout=120) == 0, process.stderr.read()[-2000:]
        assert not list((tmp_path / f"runs{turn}").glob("*.part*"))
        process.stderr.close()
    assert killed


def test_a_database_that_is_there_is_left_alone(tmp_path):
    store = embedded_store(tmp_path)
    store.sqlite.write_bytes(b"someone else's")
    mlflow_store.prepare(store)
    assert store.sqlite.read_bytes() == b"someone else's"


@pytest.mark.parametrize(("told", "asked"), [("connection timeout expired", mlflow_store.TRIES), ("connection refused", 1)])
def test_a_slow_database_is_asked_again_and_one_that_refuses_is_not(told: str, asked: int) -> None:
    from sqlalchemy.exc import OperationalError

    calls = []

    def connect() -> None:
        calls.append(1)
        raise OperationalError("connect", {}, Exception(told))

    with pytest.raises(OperationalError, match=told):
        mlflow_store._connect(SimpleNamespace(connect=connect))
    assert len(calls) == asked
