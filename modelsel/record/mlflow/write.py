"""One pass over a study: the parent, its children by the fastest writer that is safe, then what belongs to the parent."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy
from mlflow.store.tracking.dbmodels.models import SqlExperiment, SqlLatestMetric, SqlMetric, SqlParam, SqlRun, SqlTag
from sqlalchemy import Connection, delete, insert, select, text

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.record.mlflow.client import Client
from modelsel.record.mlflow.runs import LoggedMetric, TrackedRun, TrackedStudy
from modelsel.record.mlflow.store import KNOWN, TrackingStore

ALREADY = "done already"  # in the writer's place: another folder of the very same study was recorded
Told = Callable[[int, int], None]


@dataclass(frozen=True)
class Written:
    """The parent's ids, candidates written now and found there, and by which writer."""

    run_id: str
    experiment_id: str
    written: int
    found: int
    writer: str


def write(runs: TrackedStudy, store: TrackingStore, writer: str, told: Told) -> Written:
    """Write what is missing. `writer` is auto (bulk where it is safe), bulk or client."""
    client = Client(store)
    experiment = runs.experiment_id or client.experiment(runs.experiment)
    if runs.below is not None:
        experiment = client.experiment_of(runs.below)
    if (already := client.already(experiment, runs.parent, runs.below)) is not None:
        told(len(runs.children), len(runs.children))
        return Written(already, experiment, 0, len(runs.children), ALREADY)
    parent, whole = client.parent(experiment, runs.parent, runs.below)
    there = client.children(experiment, parent)
    missing = [run for run in runs.children if not there.get(run.key, ("", False))[1]]
    done = len(runs.children) - len(missing)
    used = "bulk" if missing and writer != "client" and knows(store, strict=writer == "bulk") else "client"
    if used == "bulk":
        write_children(store, experiment, parent, missing, there)
        told(len(runs.children), len(runs.children))
    else:
        count = iter(range(done + 1, len(runs.children) + 1))
        client.write_children(experiment, parent, missing, there, lambda: told(next(count), len(runs.children)))
        if missing and not store.sql:
            client.children(experiment, parent)  # what was created twice just now
    if not whole:
        _finish(client, experiment, parent, runs)
    return Written(parent, experiment, len(missing), done, used)


def _finish(client: Client, experiment: str, parent: str, runs: TrackedStudy) -> None:
    """Write what belongs to the parent once all children are there."""
    client.renew(parent, runs.parent)
    client.log_data(parent, runs.data)
    model = client.model(experiment, parent, runs)
    if runs.test is not None:
        client.log_test(parent, runs.test, model, runs.data[-1], runs.parent.end)
    client.log_files(parent, runs)
    client.tell(parent, runs.parent)
    client.end(parent, runs.parent)


# Children straight into MLflow's tables: one transaction for a thousand runs.
#
# The tables are MLflow's own definitions (`mlflow.store.tracking.dbmodels.models`), and only a store whose Alembic revision is
# in KNOWN is written to: for those the tests read the rows back through MLflow and compare them field by field with what its
# client writes. Any other revision is left to the client.


DIALECTS = ("sqlite", "postgresql")  # of these the rows were compared
CHUNK = 500  # run ids in one IN (...)
Rows = list[dict[str, Any]]


def knows(store: TrackingStore, strict: bool = False) -> bool:
    """True when the store can be reached and its revision was tested; `strict` raises ConfigurationError instead of False."""
    revision = _revision(store) if store.uri.startswith(DIALECTS) else None
    if strict and revision not in KNOWN:
        why = f"the store's schema {revision} was not tested" if revision else "only SQLite and PostgreSQL are written directly"
        raise ConfigurationError(Problem("MSEL-633", f"tracking.writer=bulk: {why}", "tracking.writer", "use auto or client"))
    return revision in KNOWN


def write_children(
    store: TrackingStore, experiment: str, parent: str, runs: Sequence[TrackedRun], there: Mapping[str, tuple[str, bool]]
) -> None:
    """Insert the runs as children of `parent`; runs in `there` that were broken off are written anew under their ids."""
    placed = [(run, there[run.key][0] if run.key in there else uuid.uuid4().hex) for run in runs]
    with _transaction(store) as connection:
        place = connection.scalar(select(SqlExperiment.artifact_location).where(SqlExperiment.experiment_id == int(experiment)))
        _clear(connection, [run_id for run, run_id in placed if run.key in there])
        _insert(connection, SqlRun, [_run(run, run_id, experiment, str(place)) for run, run_id in placed])
        _insert(connection, SqlTag, [row for run, run_id in placed for row in _tags(run, run_id, parent)])
        _insert(connection, SqlParam, [row for run, run_id in placed for row in _rows_of_values(run.params, run_id)])
        _insert(connection, SqlMetric, [_metric(m, run, i) for run, i in placed for m in dict.fromkeys(run.metrics)])
        _insert(connection, SqlLatestMetric, [_metric(m, run, i) for run, i in placed for m in latest(run.metrics)])


def latest(metrics: Iterable[LoggedMetric]) -> list[LoggedMetric]:
    """The value that MLflow shows per name: the largest (step, value), all being of one time.

    >>> latest([LoggedMetric("fold", 0.1, 0), LoggedMetric("fold", 0.3, 1), LoggedMetric("fold", 0.2, 1)])
    [LoggedMetric(name='fold', value=0.3, step=1)]
    """
    best: dict[str, LoggedMetric] = {}
    for metric in metrics:
        held = best.get(metric.name)
        if held is None or (metric.step, metric.value) > (held.step, held.value):
            best[metric.name] = metric
    return list(best.values())


def _run(run: TrackedRun, run_id: str, experiment: str, place: str) -> dict[str, object]:
    """Fill a row of MLflow's table of runs."""
    return {
        "run_uuid": run_id,
        "name": run.name,
        "source_type": "UNKNOWN",
        "source_name": "",
        "entry_point_name": "",
        "user_id": run.tags.get("mlflow.user", "unknown"),
        "status": run.status,
        "start_time": run.start,
        "end_time": run.end,
        "deleted_time": None,
        "source_version": "",
        "lifecycle_stage": "active",
        "artifact_uri": f"{place.rstrip('/')}/{run_id}/artifacts",
        "experiment_id": int(experiment),
    }


def _tags(run: TrackedRun, run_id: str, parent: str) -> Rows:
    return _rows_of_values({**run.tags, "mlflow.parentRunId": parent, "mlflow.runName": run.name}, run_id)


def _rows_of_values(values: Mapping[str, str], run_id: str) -> Rows:
    return [{"key": key, "value": value, "run_uuid": run_id} for key, value in values.items()]


def _metric(metric: LoggedMetric, run: TrackedRun, run_id: str) -> dict[str, object]:
    """Fill a row of MLflow's table of metrics."""
    return {
        "key": metric.name,
        "value": metric.value,
        "timestamp": run.end,
        "step": metric.step,
        "is_nan": False,
        "run_uuid": run_id,
    }


def _insert(connection: Connection, table: Any, rows: Rows) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _clear(connection: Connection, ids: Sequence[str]) -> None:
    for start in range(0, len(ids), CHUNK):
        for table in (SqlLatestMetric, SqlMetric, SqlParam, SqlTag, SqlRun):
            connection.execute(delete(table).where(table.run_uuid.in_(ids[start : start + CHUNK])))


@contextmanager
def _transaction(store: TrackingStore) -> Iterator[Connection]:
    """All rows or none; SQLite takes the write lock at the start, so that it waits for others instead of failing half-way."""
    engine = sqlalchemy.create_engine(store.uri)
    try:
        with engine.connect() as connection:
            if store.sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            connection.commit()
    finally:
        engine.dispose()


def _revision(store: TrackingStore) -> str | None:
    """Read the revision of MLflow's schema; None where it cannot be told."""
    engine = sqlalchemy.create_engine(store.uri)
    try:
        with engine.connect() as connection:
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
            return str(found[0]) if len(found) == 1 else None
    finally:
        engine.dispose()
