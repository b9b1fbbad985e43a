"""A PostgreSQL store, on a real server that the tests start: created once by many, written by either writer the same."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelsel.record.mlflow import store as mlflow_store
from modelsel.record.mlflow.runs import KEY
from modelsel.record.mlflow.store import KNOWN
from modelsel.record.mlflow.sync import sync
from modelsel.record.mlflow.write import knows
from tests.extras import needs

psycopg = needs("psycopg")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server():
    path = Path(__file__).parents[1] / "ledger" / "postgresql.py"
    spec = importlib.util.spec_from_file_location("modelsel_tests_postgresql", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.Server() as started:
        yield started


def database(server, name):
    """A fresh database; its address as a person would write it."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.url.replace("/postgres", f"/{name}")


def runs_of(store):
    from mlflow import MlflowClient

    client = MlflowClient(store.uri)
    experiment = client.get_experiment_by_name("breast_cancer-quick")
    found = {}
    for run in client.search_runs([experiment.experiment_id], max_results=5000):
        whole = run.to_dictionary()
        for name in ("run_id", "run_uuid", "artifact_uri", "experiment_id"):
            whole["info"].pop(name, None)
        whole["data"]["tags"].pop("mlflow.parentRunId", None)
        whole.pop("outputs", None)
        assert run.data.tags[KEY] not in found
        found[run.data.tags[KEY]] = json.dumps(whole, sort_keys=True, default=str)
    return found


TABLES = ("runs", "tags", "params", "metrics", "latest_metrics", "experiments", "datasets", "inputs", "input_tags")
UNSTABLE = {"input_uuid", "dataset_uuid", "creation_time", "last_update_time", "source_id", "artifact_location"}


def tables_of(url):
    """The rows of MLflow's tables with run ids replaced by keys, in no order."""
    with psycopg.connect(url) as connection:
        key_of = dict(connection.execute("SELECT run_uuid, value FROM tags WHERE key = %s", (KEY,)).fetchall())
        return {table: sorted(_rows(connection, table, key_of)) for table in TABLES}


def _rows(connection, table, key_of):
    cursor = connection.execute(f"SELECT * FROM {table}")
    names = [column.name for column in cursor.description]
    for row in cursor.fetchall():
        text = json.dumps({n: v for n, v in zip(names, row, strict=True) if n not in UNSTABLE}, sort_keys=True, default=str)
        for run_id, key in key_of.items():
            text = text.replace(run_id, key)
        yield text


def test_both_writers_read_back_equal(folder, server):
    urls = [database(server, name) for name in ("bulk", "client")]
    one, two = (mlflow_store.at(url, folder.root) for url in urls)
    assert sync(folder, one).writer == "bulk"
    assert knows(one)
    assert sync(folder, two, "client").writer == "client"
    ours, theirs = runs_of(one), runs_of(two)
    assert len(ours) == len(folder.candidates()) + 1
    assert ours == theirs
    bulk, client = map(tables_of, urls)
    for table in TABLES:
        assert bulk[table] == client[table], table
    with psycopg.connect(urls[0]) as connection:
        assert {revision for (revision,) in connection.execute("SELECT version_num FROM alembic_version")} == KNOWN
    again = sync(folder, one)
    assert (again.written, again.found) == (0, len(folder.candidates()))


def test_concurrent_first_starts_all_succeed(server, tmp_path):
    url = database(server, "together")
    code = "import sys, os; from pathlib import Path; from modelsel.record.mlflow import store as m; m.quieten(os.environ); " \
           "m.prepare(m.at(sys.argv[1], Path('runs')))"  # fmt: skip
    started = [
        subprocess.Popen([sys.executable, "-c", code, url], stderr=subprocess.PIPE, cwd=tmp_path, env={**os.environ}, text=True)
        for _ in range(4)
    ]
    errors = [process.communicate(timeout=280)[1] for process in started]
    assert [process.returncode for process in started] == [0] * 4, "".join(errors)[-2000:]


def test_a_server_that_stops_is_said_and_made_whole_later(folder, server):
    from modelsel.core.errors import StoreError

    store = mlflow_store.at(database(server, "stopping"), folder.root)
    mlflow_store.prepare(store)
    server.stop("immediate")
    try:
        with pytest.raises(StoreError, match="modelsel sync"):
            sync(folder, store)
    finally:
        server.start()
    assert sync(folder, store).written == len(folder.candidates())
