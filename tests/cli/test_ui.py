"""`modelsel ui` serves the embedded store, to this machine, without telemetry; `modelsel sync` writes where the run belongs."""

import json
import signal
import socket
import subprocess
import sys
import time
from urllib.request import Request, urlopen

import pytest

from modelsel.api.commands.ui import LEASH
from modelsel.core.errors import BAD_CONFIGURATION, OK


def test_without_a_store_it_says_what_makes_one(modelsel):
    done = modelsel("ui")
    assert done.code == BAD_CONFIGURATION
    assert "MSEL-252: there is no store yet" in done.err
    assert "`modelsel run` makes one" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_pages_show_the_studies_of_the_store_and_end_with_the_command(modelsel, small, folder, how):
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
        server.send_signal(how)  # to this process alone
        assert server.wait(60) == (-how if how == signal.SIGKILL else 128 + how)
        assert _gone(theirs, patience=30 if how == signal.SIGKILL else 0)
    finally:
        server.kill()
        server.wait(30)


STARTER = """
import os, subprocess, sys
from modelsel.api.commands.ui import LEASH
words = [*LEASH, sys.executable, "-c", sys.argv[1]]
subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True).wait()
"""
STUBBORN = "import os, signal, time; {0}; os.fork(); os.write(1, b'%d\\n' % os.getpid()); time.sleep(600)"


@pytest.mark.slow
@pytest.mark.parametrize("stubborn", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_leashed_command_does_not_outlive_a_starter_that_is_killed(stubborn):
    """Neither does what it started, nor one that does not listen when it is asked to end."""
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)" if stubborn else "pass"
    words = [sys.executable, "-c", STARTER, STUBBORN.format(deaf)]
    starter = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    theirs = [int(starter.stdout.readline()) for _ in range(2)]
    leash = _children(starter.pid)
    assert set(theirs) < set(leash)
    starter.kill()
    starter.wait()
    starter.stdout.close()
    assert _gone(leash, patience=30)


def test_a_leashed_command_that_ends_by_itself_says_how():
    words = [*LEASH, sys.executable, "-c", "import sys; sys.exit(7)"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True) as leash:
        assert leash.wait(60) == 7


def _gone(processes: list[int], patience: float) -> bool:
    """None of them is left; those that nobody waits for any more are gone too (Linux)."""
    end = time.monotonic() + patience
    while left := [process for process in processes if _alive(process)]:
        if time.monotonic() > end:
            print("left:", left)
            return False
        time.sleep(0.1)
    return True


def _alive(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as facts:
            return facts.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


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


@pytest.mark.slow
def test_sync_writes_where_the_run_belongs(modelsel, small, folder):
    """The run's own tracking.uri counts, not the embedded store."""
    own = folder / "own.db"
    tracked = (*small, "tracking=sqlite", f"tracking.uri=sqlite:///{own}", "final_test=false", "name=own")
    assert modelsel("run", *tracked).code == OK
    done = modelsel("sync", "own")
    assert done.code == OK, done.err
    assert str(own) in done.out
    assert not (folder / "runs" / "mlflow.db").exists()


@pytest.mark.slow
def test_sync_of_a_study_without_tracking_goes_to_the_embedded_store(modelsel, small, folder):
    assert modelsel("run", *small, "final_test=false").code == OK
    assert " 0 found there" in modelsel("sync").out
    assert (folder / "runs" / "mlflow.db").exists()
