"""MLflow's own server on the loopback, behind a door that asks for a name and a password: MLflow's environment opens it."""

import base64
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
BASIC = "Basic " + base64.b64encode(b"me:secret").decode()
OPENED = {
    "name and password": ({"MLFLOW_TRACKING_USERNAME": "me", "MLFLOW_TRACKING_PASSWORD": "secret"}, BASIC),
    "token": ({"MLFLOW_TRACKING_TOKEN": "t0ken"}, "Bearer t0ken"),
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real server."""
    place, port = tmp_path_factory.mktemp("server"), free_port()
    stores = ("--backend-store-uri", f"sqlite:///{place / 'store.db'}", "--artifacts-destination", str(place / "files"))
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1", *stores]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")}
    server = subprocess.Popen(command, cwd=place, env=clean, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/health", timeout=1)
            break
        except OSError:
            assert server.poll() is None
            time.sleep(0.2)
    yield address
    server.terminate()
    server.wait()


@pytest.fixture
def door(behind: str) -> Iterator[tuple[str, set[str]]]:
    """An address that lets through who is known there, and which credentials it was shown."""
    shown: set[str] = set()

    class Door(BaseHTTPRequestHandler):
        def handle_one(self) -> None:
            said = self.headers.get("Authorization", "")
            shown.add(said)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if said not in {expected for _, expected in OPENED.values()}:
                return self.answer(401, b"who are you?")
            asked = urllib.request.Request(f"{behind}{self.path}", body or None, method=self.command)
            asked.add_header("Content-Type", self.headers.get("Content-Type", "application/json"))
            try:
                with urllib.request.urlopen(asked) as found:
                    self.answer(found.status, found.read())
            except urllib.error.HTTPError as error:
                self.answer(error.code, error.read())

        def answer(self, code: int, body: bytes) -> None:
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", shown
    server.shutdown()


def run(folder: Path, address: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")}
    environment = {**clean, "MODELSEL_HOME": str(folder / "home"), "MLFLOW_TRACKING_URI": address, **variables}
    command = [sys.executable, "-m", "modelsel", "run", "dataset=play_tennis", "space=[majority,naive_bayes]", "scheme=kfold",
               "scheme.folds=3", "tracking.on_error=fail", "name=behind_a_door"]  # fmt: skip
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("how", list(OPENED))
def test_credentials_of_mlflow_s_environment_reach_the_server(
    how: str, door: tuple[str, set[str]], behind: str, tmp_path: Path
) -> None:
    import mlflow

    address, shown = door
    variables, expected = OPENED[how]
    experiment = f"opened by {how}"
    done = run(tmp_path, address, {**variables, "MLFLOW_EXPERIMENT_NAME": experiment})
    assert done.returncode == 0, done.stderr
    assert shown == {expected}
    client = mlflow.MlflowClient(behind)
    found = client.get_experiment_by_name(experiment)
    assert found is not None
    runs = client.search_runs([found.experiment_id])
    assert sum("mlflow.parentRunId" not in run.data.tags for run in runs) == 1  # the study; its candidates stand below


def test_without_them_it_is_said_and_exit_6(door: tuple[str, set[str]], tmp_path: Path) -> None:
    done = run(tmp_path, door[0], {})
    assert done.returncode == 6, done.stderr
    assert "MSEL-632" in done.stderr


def test_the_run_of_the_environment_is_the_parent(behind: str, tmp_path: Path) -> None:
    import mlflow

    client = mlflow.MlflowClient(behind)
    experiment = client.create_experiment("project")
    parent = client.create_run(experiment).info.run_id
    done = run(tmp_path, behind, {"MLFLOW_RUN_ID": parent})
    assert done.returncode == 0, done.stderr
    below = client.search_runs([experiment], f"tags.`mlflow.parentRunId` = '{parent}'")
    assert len(below) == 1
