"""Recording a thousand candidates: MLflow's tables in one transaction against MLflow's client API, on the same WAL file.

The client is used as fast as it goes: create_run with all tags, one log_batch, set_terminated. Each run has 15 params, 15 tags
and 36 metrics. Both are read back through MLflow and compared field by field.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common.timing import Row, side_by_side
from modelsel.record.mlflow import store as mlflow_store
from modelsel.record.mlflow.runs import KEY, SAME, STATE, LoggedMetric, TrackedRun, TrackedStudy
from modelsel.record.mlflow.store import TrackingStore

CANDIDATES, SAMPLE, TURNS = 1000, 200, 5
NOW = 1_767_225_600_000


def rows() -> Iterator[Row]:
    """One row: ours is the bulk writer, theirs the client on a fifth of the candidates."""
    from modelsel.record.mlflow.write import write

    mlflow_store.quieten(os.environ)
    with tempfile.TemporaryDirectory() as place:
        store = mlflow_store.embedded_store(Path(place))
        mlflow_store.prepare(store)
        counts = {"bulk": [SAMPLE, *[CANDIDATES] * (TURNS + 1)], "client": [SAMPLE] * (TURNS + 1)}
        studies = {writer: iter([study(f"{writer}-{i}", n) for i, n in enumerate(ns)]) for writer, ns in counts.items()}

        def record(writer: str) -> str:
            done = write(next(studies[writer]), store, writer, lambda _done, _all: None)
            assert done.writer == writer
            assert done.written in (SAMPLE, CANDIDATES)
            return done.run_id

        assert read(store, record("bulk")) == read(store, record("client"))
        yield side_by_side(
            f"record {CANDIDATES:,} candidates",
            "MlflowClient: create_run, log_batch, set_terminated, same WAL file",
            lambda: record("bulk"),
            lambda: record("client"),
            equal="every field of every run, read back by MLflow",
            turns=TURNS,
            goal=15,
            share=SAMPLE / CANDIDATES,
            note=f"theirs measured on {SAMPLE} candidates and scaled; both include the parent's own calls",
        )


def study(name: str, count: int) -> TrackedStudy:
    """A parent and `count` children as a study leaves them."""
    return TrackedStudy(
        experiment="benchmark", below=None, parent=run(name, 0), children=tuple(run(f"{name}/{i}", i) for i in range(count)),
        data=(), test=None, artifacts=(), model=None, title="",
    )  # fmt: skip


def run(key: str, i: int) -> TrackedRun:
    return TrackedRun(
        key=key,
        name=f"cart {i:08x}",
        status="FINISHED",
        start=NOW,
        end=NOW + 1000,
        params={f"parameter.{j}": str(i * j) for j in range(15)},
        tags={KEY: key, SAME: key, STATE: "whole", "modelsel.index": str(i), **{f"tag.{j}": "some words" for j in range(11)}},
        metrics=(
            *(LoggedMetric("cv/error_fold", (i + step) / 1e4, step) for step in range(30)),
            *(LoggedMetric(f"cv/metric_{j}", i / 1e3) for j in range(6)),
        ),
    )


def read(store: TrackingStore, parent: str) -> list[str]:
    """The children of a parent as MLflow reads them, without what is of one writing only."""
    from mlflow import MlflowClient

    client = MlflowClient(store.uri)
    experiment = client.get_experiment_by_name("benchmark")
    found = client.search_runs([experiment.experiment_id], f"tags.`mlflow.parentRunId` = '{parent}'", max_results=5000)
    return sorted(_text(client, run) for run in found)


def _text(client: object, run: object) -> str:
    whole = run.to_dictionary()  # type: ignore[attr-defined]
    for name in ("run_id", "run_uuid", "artifact_uri"):
        whole["info"].pop(name, None)
    for name in (KEY, SAME, "mlflow.parentRunId"):
        whole["data"]["tags"].pop(name)
    history = client.get_metric_history(run.info.run_id, "cv/error_fold")  # type: ignore[attr-defined]
    folds = sorted((metric.step, metric.value, metric.timestamp) for metric in history)
    return json.dumps([whole, folds], sort_keys=True, default=str)
