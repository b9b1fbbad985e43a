"""Ray and Spark, where they are installed: the answer of one process, here and at an address; and whose error an error is."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.runner.execution import cluster, dask_pool
from modelsel.runner.execution.executors import Pool
from tests.doubles import Double, candidates, spread
from tests.extras import needs
from tests.runner.studies import answer, study

pytestmark = pytest.mark.slow
HERE = Path(__file__).parents[2]
WITHOUT, OTHER = "raise ImportError('modelsel is not here')", "__version__ = '0.0.1'"
SOME = (*spread(7, noise=True), *spread(5, group=1, lean=1))


@dataclass(frozen=True)
class Unusable(Double):
    """Finds the data unusable."""

    kind = "unusable"

    def fit_path(self, task, rows, rng):
        raise DataError(Problem("MSEL-309", "a column is empty", "column x", "leave it out"))


@pytest.fixture(params=["ray", "joblibspark"], ids=["ray", "spark"])
def pool(request, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # of a cluster that listens on the loopback alone; asked at the import
    needs(request.param)
    return Pool({"joblibspark": "spark"}.get(request.param, request.param), 2)


def test_the_answer_is_that_of_one_process(tmp_path, pool):
    assert answer(study(tmp_path, SOME, pool=pool, name="far")) == answer(study(tmp_path, SOME, name="one"))


def test_a_single_worker_is_not_the_parent(tmp_path, pool):
    some = (*spread(3), *candidates(Double(cut=9.5, deed="kill")))
    results = study(tmp_path, some, pool=Pool(pool.kind, 1), folds=2)
    assert results.status == ("ok", "ok", "ok", "crashed")


def test_a_failure_inside_a_cell_is_a_record(tmp_path, pool):
    results = study(tmp_path, (*spread(3), *candidates(Double(cut=9.5, deed="raise"))), pool=pool, folds=2)
    assert results.status == ("ok", "ok", "ok", "error")
    assert "asked to raise" in results.reasons[3]


def test_data_that_cannot_be_used_end_the_study_as_what_they_are(tmp_path, pool):
    with pytest.raises(DataError, match="MSEL-309"):
        study(tmp_path, candidates(Unusable()), pool=pool, folds=2)


# Clusters that run already, started by their own commands: who is there is asked before the first cell.

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@contextmanager
def ray_there(path: Path, cpus: int = 2) -> Iterator[str]:
    """A Ray cluster of one node, whose workers find the package in a folder."""
    command = Path(sys.executable).with_name("ray")
    port = free_port()
    words = ["--head", "--port", str(port), "--num-cpus", str(cpus), "--include-dashboard=false", "--disable-usage-stats"]
    subprocess.run([command, "start", *words], env=finding(path), check=True, **QUIET)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        subprocess.run([command, "stop", "--force"], check=True, **QUIET)


@contextmanager
def spark_there(path: Path, workers: int = 1) -> Iterator[str]:
    """A Spark master, and workers whose Python finds the package in a folder."""
    pyspark = import_module("pyspark")
    command, port = Path(pyspark.__path__[0], "bin", "spark-class"), free_port()
    address, deploy = f"spark://127.0.0.1:{port}", "org.apache.spark.deploy"
    master = [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    worker = [f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--cores", "2", "--memory", "1g", "--webui-port", "0", address]
    work = tempfile.mkdtemp(prefix="spark-work-")
    environment = finding(path) | {"PYSPARK_PYTHON": sys.executable, "SPARK_WORKER_DIR": work}
    started = [subprocess.Popen([command, *words], env=environment, **QUIET) for words in (master, *[worker] * workers)]
    await_port(port)
    try:
        yield address
    finally:
        session = import_module("pyspark.sql").SparkSession.getActiveSession()
        if session is not None:
            session.stop()
        for process in reversed(started):
            process.terminate()
            process.wait(30)
        shutil.rmtree(work)


THERE = {"ray": ray_there, "spark": spark_there}


def finding(path: Path) -> dict[str, str]:
    """The environment of workers that find the package in a folder."""
    return {**os.environ, "PYTHONPATH": str(path), "SPARK_LOCAL_IP": "127.0.0.1"}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def await_port(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    raise TimeoutError(port)


def test_a_cluster_at_an_address_gives_the_answer_of_one_process(tmp_path, pool):
    with THERE[pool.kind](HERE) as address:
        far = study(tmp_path, SOME, pool=replace(pool, scheduler=address), name="far")
    assert answer(far) == answer(study(tmp_path, SOME, name="one"))


@pytest.mark.parametrize(("text", "said"), [(WITHOUT, "has none"), (OTHER, "has 0.0.1")], ids=["none", "another"])
def test_workers_that_run_other_code_are_refused_before_the_first_cell(tmp_path, pool, text, said, monkeypatch):
    monkeypatch.chdir(tmp_path)  # Ray lets workers look where the command was given
    package = tmp_path / "elsewhere" / "modelsel"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(text)
    with THERE[pool.kind](package.parent) as address, pytest.raises(ConfigurationError, match="MSEL-538") as caught:
        study(tmp_path, SOME, pool=replace(pool, scheduler=address), name="other")
    assert said in str(caught.value)


def test_a_cluster_without_workers_is_waited_for_and_said(tmp_path, pool, monkeypatch, capfd):
    monkeypatch.setattr(cluster, "TOLD_AFTER", 0.5)
    refused = pytest.raises(
        ConfigurationError, match=r"MSEL-537: the (Ray cluster|Spark master) at .* has had no workers for 2 s"
    )
    with THERE[pool.kind](HERE, 0) as address, refused:
        study(tmp_path, SOME, pool=replace(pool, scheduler=address, wait=2.0), name="alone")
    assert "has no workers yet: waiting for them up to 2 s (pool.wait)" in capfd.readouterr().err


def test_an_address_at_which_nobody_answers_is_said(tmp_path, pool):
    address = f"{'spark://' if pool.kind == 'spark' else ''}127.0.0.1:{free_port()}"
    with pytest.raises(ConfigurationError, match=f"MSEL-534: no .* answers at {address}"):
        study(tmp_path, SOME, pool=replace(pool, scheduler=address), name="nobody")


def test_a_session_of_another_master_is_not_taken_for_the_one_that_is_named(tmp_path):
    needs("joblibspark")
    session = (
        import_module("pyspark.sql").SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    )
    with (
        closing(SimpleNamespace(close=session.stop)),
        pytest.raises(ConfigurationError, match=r"MSEL-534: .* of local\[1\] already"),
    ):
        study(tmp_path, SOME, pool=Pool("spark", 2, "spark://127.0.0.1:7077"), name="other")


# Whose error it is: what goes wrong beside a cluster that still runs is told as it is.


@pytest.mark.parametrize(
    ("status", "problem", "told"),
    [
        ("running", ValueError("a bug"), ValueError),
        ("closed", ValueError("no comm"), ConfigurationError),
        ("running", dask_pool.SchedulerGone(), ConfigurationError),
    ],
)
def test_a_scheduler_is_said_to_be_gone_only_where_it_is(
    status: str, problem: Exception, told: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("joblib.register_parallel_backend", lambda name, backend: None)
    monkeypatch.setattr(dask_pool, "_dask_backend", lambda: object)
    monkeypatch.setattr(dask_pool, "_client", lambda *_: nullcontext(SimpleNamespace(status=status)))
    with pytest.raises(told) as error, dask_pool.dask_cluster(ModuleType("distributed"), None, 1, None):
        raise problem
    assert ("MSEL-536" in str(error.value)) == (told is ConfigurationError)
