"""A study and a tracker that is dead, slow, silent or killed: it waits no longer than said, and nothing is lost."""

import http.server
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from itertools import count
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from mlflow import MlflowClient
from mlflow.entities import ViewType

from modelsel.core.errors import UNWRITABLE, StoreError
from modelsel.record.mlflow import outbox
from modelsel.record.mlflow import store as mlflow_store
from modelsel.record.mlflow.anchor import read_file
from modelsel.record.mlflow.sync import sync, waiting
from modelsel.record.mlflow.track import Tracker

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")  # files that nobody closed
BUSY = 1.5  # seconds that a busy machine may add to what is promised


def tracking(uri=None, kind="sqlite", on_error="warn", writer="auto", wait=120.0):
    return SimpleNamespace(kind=kind, uri=uri, uri_env=None, on_error=on_error, writer=writer, wait=wait)


def timed(tracker):
    began = time.monotonic()
    result = tracker.finish()
    return result, time.monotonic() - began


def test_off_starts_nothing(folder):
    tracker = Tracker(tracking(kind="off"), folder)
    assert tracker.outbox is None
    assert tracker.anchors == ()
    assert tracker.finish().state == "off"


@pytest.mark.slow
def test_a_study_is_recorded_by_another_process(folder, store):
    tracker = Tracker(tracking(), folder, patience=120)
    result = tracker.finish()
    assert result.state == "recorded", result.message
    assert json.loads((folder.path / "mlflow.json").read_text())["run_id"] == result.run_id
    assert "mlflow" not in {name.partition(".")[0] for name in vars(sys.modules["modelsel.record.mlflow.track"])}
    assert tracker.outbox.process.wait(30) == 0


@pytest.mark.slow
def test_looks_are_witnessed_and_recalled(folder, store):
    tracker = Tracker(tracking(), folder, patience=120)
    (anchor,) = tracker.anchors
    facts = {"testset": "5d0c2f", "look": "1", "spent": "0.0", "head": "a3:4:9f2c"}
    anchor.witness(facts)
    anchor.witness({**facts, "look": "2"})
    anchor.witness({**facts, "testset": "other"})
    assert sorted(f["look"] for f in anchor.recall("5d0c2f")) == ["1", "2"]
    assert facts in anchor.recall("5d0c2f")
    for testset in ("5d0c2f", "other", "none"):  # the file itself says what MLflow says
        assert read_file(store.sqlite, testset) == tracker.ask({"recall": testset})["done"]
    tracker.outbox.close()
    assert tracker.outbox.process.wait(30) == 0


@pytest.mark.slow
def test_a_file_that_mlflow_has_to_read_is_left_to_it(store, tmp_path):
    assert read_file(tmp_path / "nothing.db", "5d0c2f") == []
    (tmp_path / "other.db").write_bytes(b"no database" * 100)
    assert read_file(tmp_path / "other.db", "5d0c2f") is None
    with closing(sqlite3.connect(store.sqlite)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = 'of tomorrow'")
    assert read_file(store.sqlite, "5d0c2f") is None


@pytest.mark.slow
def test_a_process_started_ahead_is_the_next_studys_or_nobodys(folder, store):
    outbox.start_ahead()
    (ahead,) = outbox._AHEAD
    outbox.start_ahead()
    tracker = Tracker(tracking(), folder, patience=120)
    assert tracker.outbox.process is ahead
    assert tracker.finish().state == "recorded"
    outbox.start_ahead()
    (unused,) = outbox._AHEAD
    outbox.give_up()
    assert unused.poll() is not None
    assert not outbox._AHEAD


@pytest.mark.slow
def test_a_server_that_is_not_there_is_said_and_costs_little(folder):
    tracker = Tracker(tracking("http://127.0.0.1:9"), folder)
    result, _ = timed(tracker)
    assert result.state == "failed"
    assert "modelsel sync" in result.message
    assert tracker.outbox.process.poll() is not None, "the process was left behind"


@pytest.mark.slow
def test_a_server_that_accepts_and_never_answers_is_left(folder):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        tracker = Tracker(tracking(f"http://127.0.0.1:{silent.getsockname()[1]}", wait=1.0), folder)
        result, seconds = timed(tracker)
        assert result.state == "going on"
        assert seconds < 1 + BUSY
        assert tracker.outbox.process.wait(60) == 0, "the process gave the server up by itself"
    (left,) = waiting(folder.root)
    assert "does not answer" in left.error


@pytest.mark.slow
def test_all_waiting_of_a_study_counts_together(folder):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        tracker = Tracker(tracking(f"http://127.0.0.1:{silent.getsockname()[1]}", wait=1.0), folder, patience=2)
        (anchor,) = tracker.anchors
        began = time.monotonic()
        for _ in range(5):
            with pytest.raises(OSError, match="answer"):
                anchor.witness({"testset": "x"})
            assert list(anchor.recall("x")) == []
        assert tracker.finish().state == "going on"
        assert time.monotonic() - began < 2 + 1 + BUSY


@pytest.mark.slow
def test_with_on_error_fail_a_dead_server_is_exit_6(folder):
    with pytest.raises(StoreError, match="MSEL-632") as error:
        Tracker(tracking("http://127.0.0.1:9", on_error="fail"), folder, patience=60).finish()
    assert error.value.exit_code == UNWRITABLE


@pytest.mark.slow
def test_a_process_that_dies_is_noticed(folder, store):
    tracker = Tracker(tracking(), folder)
    tracker.outbox.kill()
    result, seconds = timed(tracker)
    assert result.state == "failed"
    assert "ended" in result.message
    assert seconds < BUSY


@pytest.mark.slow
def test_a_study_that_ends_early_leaves_no_process_behind(folder, store):
    tracker = Tracker(tracking(), folder)
    process = tracker.outbox.process
    del tracker
    assert process.wait(60) == 0


@pytest.fixture
def server(tmp_path, empty_store):
    """A real MLflow server on a store of its own."""
    shutil.copy(empty_store, tmp_path / "server.db")
    started = Server(tmp_path)
    started.start()
    yield started
    started.stop()


class Server:
    def __init__(self, place):
        self.place, self.process = place, None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"

    def start(self):
        command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", f"sqlite:///{self.place}/server.db",
                   "--artifacts-destination", str(self.place), "--port", str(self.port), "--workers", "1"]  # fmt: skip
        environment = {**os.environ, **mlflow_store.QUIET}
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
                                        start_new_session=True)  # fmt: skip
        for _ in range(600):
            try:
                with urlopen(f"{self.uri}/health", timeout=2) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server did not start")

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, 9)  # the group that was started here
            self.process.wait()


@pytest.mark.slow
def test_a_real_server_gets_everything_once(folder, server):
    done = sync(folder, mlflow_store.at(server.uri, folder.root))
    assert done.writer == "client"
    again = sync(folder, mlflow_store.at(server.uri, folder.root))
    assert (again.run_id, again.written, again.found) == (done.run_id, 0, done.written)
    _whole(folder, server)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.soak)])
def test_a_server_killed_mid_run_is_made_whole(folder, server, kills):
    for turn in range(kills):
        stop = threading.Timer(0.2 + turn * 2.0 / kills, server.stop)
        stop.start()
        with suppress(StoreError):
            sync(folder, mlflow_store.at(server.uri, folder.root))
        stop.join()
        server.start()
    sync(folder, mlflow_store.at(server.uri, folder.root))
    _whole(folder, server)


def _whole(folder, server):
    """Every candidate once, nothing RUNNING, the model READY."""
    found = _runs(folder, server)
    keys = [run.data.tags["modelsel.key"] for run in found]
    assert len(keys) == len(set(keys)) == len(folder.candidates()) + 1
    assert {run.info.status for run in found} <= {"FINISHED", "FAILED"}
    by_id = {key.rpartition("/")[2]: run for key, run in zip(keys, found)}
    for row in folder.candidates():
        assert by_id[row.id].data.params["entry"] == row.entry
        if row.mean == row.mean:
            assert by_id[row.id].data.metrics["cv/error"] == row.mean


def _runs(folder, server, which=ViewType.ACTIVE_ONLY):
    client = MlflowClient(server.uri)
    experiment = client.get_experiment_by_name(folder.outcome().study)
    return client.search_runs([experiment.experiment_id], run_view_type=which, max_results=5000)


class Late(http.server.BaseHTTPRequestHandler):
    """Hands every call on to a server, and sometimes gives its answer to the creation of a run when nobody waits any more."""

    to, calls = "", iter(())

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Request(self.to + self.path, body or None, {"Content-Type": "application/json"}, method=self.command)
        try:
            with urlopen(asked, timeout=30) as answer:
                code, said = answer.status, answer.read()
        except HTTPError as refusal:
            code, said = refusal.code, refusal.read()
        if self.path.endswith("/runs/create") and next(self.calls) % 6 == 0:
            time.sleep(2.0)
        with suppress(OSError):
            self.send_response(code)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

    do_GET = do_PUT = do_PATCH = do_POST

    def log_message(self, *_args):
        return None


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_answers_that_come_too_late_make_no_second_run(folder, server, monkeypatch):
    """A run whose creation was answered too late is there; it is neither created again nor left RUNNING."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    late = type("LateHere", (Late,), {"to": server.uri, "calls": count()})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), late) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        for _ in range(100):
            try:
                sync(folder, mlflow_store.at(f"http://127.0.0.1:{proxy.server_address[1]}", folder.root))
                break
            except StoreError:
                continue
        proxy.shutdown()
    _whole(folder, server)
    put_away = _runs(folder, server, ViewType.DELETED_ONLY)
    assert put_away, "no answer came too late"
    assert {run.info.status for run in put_away} == {"KILLED"}


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers every call after two seconds: alive, and no use."""

    def do_GET(self):
        time.sleep(2)
        self.send_response(500)
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_args):
        return None


@pytest.mark.slow
def test_a_slow_server_is_not_waited_for(folder):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow) as slow:
        threading.Thread(target=slow.serve_forever, daemon=True).start()
        tracker = Tracker(tracking(f"http://127.0.0.1:{slow.server_address[1]}", wait=1.0), folder)
        result, seconds = timed(tracker)
        slow.shutdown()
    assert result.state == "going on"
    assert seconds < 1 + BUSY


@pytest.mark.slow
def test_what_was_handed_over_is_written_although_nobody_listens_any_more(tmp_path):
    """The study ends while MLflow is imported: its side of the pipe is closed, and the job is done all the same."""
    import json
    import subprocess
    import sys

    words = [sys.executable, "-m", "modelsel.record.mlflow.worker"]
    store = tmp_path / "mlflow.db"
    jobs = [{"uri": f"sqlite:///{store}", "artifacts": ""}, {"nonsense": 1}, {"warm": True}]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as worker:
        assert worker.stdout is not None
        worker.stdout.close()
        worker.communicate("".join(json.dumps(job) + "\n" for job in jobs), timeout=240)
    assert store.exists(), "the second job was done after the answer to the first had nowhere to go"
