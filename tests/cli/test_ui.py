"""`modelsel ui` serves the embedded store, to this machine, without telemetry; `modelsel sync` writes where the run belongs."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from urllib.request import Request, urlopen

import pytest

from modelsel.core.errors import BAD_CONFIGURATION, OK


def test_without_a_store_it_says_what_makes_one(modelsel):
    done = modelsel("ui")
    assert done.code == BAD_CONFIGURATION
    assert "MSEL-252: there is no store yet" in done.err
    assert "`modelsel run` makes one" in done.err


@pytest.mark.slow
def test_the_pages_show_the_studies_of_the_store(modelsel, small, folder):
    assert modelsel("run", *small, "tracking=sqlite", "final_test=false", "name=shown").code == OK
    assert modelsel("sync", "shown").code == OK  # on a busy machine the study is still being written
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "modelsel", "ui", "--port", str(port)], start_new_session=True)
    try:
        page = _answer(Request(f"http://127.0.0.1:{port}/"))
        assert b"<title>MLflow</title>" in page
        body = json.dumps({"max_results": 10}).encode()
        ask = Request(f"http://127.0.0.1:{port}/api/2.0/mlflow/experiments/search", body, {"content-type": "application/json"})
        assert "shown" in {one["name"] for one in json.loads(_answer(ask))["experiments"]}
        assert _environment(server.pid)["MLFLOW_DISABLE_TELEMETRY"] == "true"
        theirs = _children(server.pid)
        assert theirs
        server.terminate()  # this process alone is asked
        assert server.wait(60) == 128 + signal.SIGTERM
        assert not [child for child in theirs if os.path.exists(f"/proc/{child}")]
    finally:
        server.kill()
        server.wait(30)


def _children(parent: int) -> list[int]:
    """All processes below one (Linux)."""
    with open(f"/proc/{parent}/task/{parent}/children") as children:
        own = [int(child) for child in children.read().split()]
    return [*own, *(below for child in own for below in _children(child))]


def _answer(request: Request, patience: float = 300) -> bytes:
    end = time.monotonic() + patience
    while True:
        try:
            with urlopen(request, timeout=30) as answer:
                return answer.read()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def _environment(parent: int) -> dict[str, str]:
    """Variables of the server process that the command started (Linux)."""
    with open(f"/proc/{parent}/task/{parent}/children") as children:
        child = children.read().split()[0]
    with open(f"/proc/{child}/environ") as environment:
        return dict(word.split("=", 1) for word in environment.read().split("\0") if "=" in word)


def test_sync_writes_where_the_run_belongs(modelsel, small, folder):
    """The run's own tracking.uri counts, not the embedded store."""
    own = folder / "own.db"
    tracked = (*small, "tracking=sqlite", f"tracking.uri=sqlite:///{own}", "final_test=false", "name=own")
    assert modelsel("run", *tracked).code == OK
    done = modelsel("sync", "own")
    assert done.code == OK, done.err
    assert str(own) in done.out
    assert not (folder / "runs" / "mlflow.db").exists()


def test_sync_of_a_study_without_tracking_goes_to_the_embedded_store(modelsel, small, folder):
    assert modelsel("run", *small, "final_test=false").code == OK
    assert " 0 found there" in modelsel("sync").out
    assert (folder / "runs" / "mlflow.db").exists()
