"""MLflow as a witness of the ledger: each look leaves a small run whose params, which nobody can overwrite, hold the facts."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from modelsel.record.mlflow.store import KNOWN, TrackingStore

EXPERIMENT = "modelsel looks"
MARK = "modelsel.testset"
STORED = """
SELECT params.run_uuid, params.key, params.value FROM runs
JOIN experiments ON experiments.experiment_id = runs.experiment_id
JOIN tags ON tags.run_uuid = runs.run_uuid
JOIN params ON params.run_uuid = runs.run_uuid
WHERE experiments.name = ? AND runs.lifecycle_stage = 'active' AND tags.key = ? AND tags.value = ?
ORDER BY runs.start_time DESC, runs.run_uuid
"""


class MlflowAnchor:
    """The anchor in MLflow: `ask` hands a job to the process that talks to MLflow and waits within the study's patience."""

    name = "mlflow"

    def __init__(self, ask: Callable[[Mapping[str, object]], Mapping[str, Any] | None], file: Path | None = None) -> None:
        self.ask, self.file = ask, file

    def witness(self, facts: Mapping[str, str]) -> None:
        """Remember these facts. Raises OSError when the store does not take them in time."""
        answer = self.ask({"witness": dict(facts)})
        if answer is None or "done" not in answer:
            raise OSError(answer["error"] if answer else "the tracking store did not answer in time")

    def recall(self, testset: str) -> Iterable[Mapping[str, str]]:
        """All facts ever witnessed about a test set; empty where the store cannot be asked.

        A file of known tables is read here and now: the process that talks to MLflow is still importing it.
        """
        if self.file is not None and (known := read_file(self.file, testset)) is not None:
            return known
        answer = self.ask({"recall": testset})
        return list(answer["done"]) if answer and "done" in answer else []


def read_file(file: Path, testset: str) -> list[dict[str, str]] | None:
    """Read what `read` would say of a test set off an SQLite store's own tables; None where those are not known."""
    if not file.exists():
        return []
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            if {version for (version,) in connection.execute("SELECT version_num FROM alembic_version")} - KNOWN:
                return None
            found: dict[str, dict[str, str]] = {}
            for run, name, value in connection.execute(STORED, (EXPERIMENT, MARK, testset)):
                found.setdefault(run, {})[name] = value
            return list(found.values())
    except sqlite3.Error:  # locked, half made, no MLflow store: MLflow itself will say
        return None


def write(store: TrackingStore, facts: Mapping[str, str]) -> str:
    """Write a run for a look, named after it; return its id."""
    import mlflow.entities as entities

    from modelsel.record.mlflow.client import Client

    client = Client(store)
    experiment = client.experiment(EXPERIMENT)
    name = f"look {facts.get('look', '?')} at {facts.get('testset', '?')}"
    run = client.api.create_run(experiment, tags={MARK: facts.get("testset", "")}, run_name=name)
    client.api.log_batch(run.info.run_id, params=[entities.Param(key, str(value)) for key, value in facts.items()])
    client.api.set_terminated(run.info.run_id)
    return str(run.info.run_id)


def write_once(store: TrackingStore, facts: Mapping[str, str]) -> None:
    """Write a look that was handed over, unless it was written meanwhile."""
    if dict(facts) not in read_witnessed(store, str(facts.get("testset", ""))):
        write(store, facts)


def read_witnessed(store: TrackingStore, testset: str) -> list[dict[str, object]]:
    """The facts of every run that witnessed a look at this test set."""
    from modelsel.record.mlflow.client import PAGE, Client

    client = Client(store)
    found = client.api.get_experiment_by_name(EXPERIMENT)
    if found is None:
        return []
    runs = client.api.search_runs([found.experiment_id], f"tags.`{MARK}` = '{testset}'", max_results=PAGE)
    return [dict(run.data.params) for run in runs]
