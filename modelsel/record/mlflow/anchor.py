"""MLflow as a witness of the ledger: each look leaves a small run whose params, which nobody can overwrite, hold the facts."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from modelsel.record.mlflow.store import TrackingStore

EXPERIMENT = "modelsel looks"
MARK = "modelsel.testset"


class MlflowAnchor:
    """core.protocols.Anchor; `ask` hands a job to the process that talks to MLflow and waits within the study's patience."""

    name = "mlflow"

    def __init__(self, ask: Callable[[Mapping[str, Any]], Mapping[str, Any] | None]) -> None:
        self.ask = ask

    def witness(self, facts: Mapping[str, str]) -> None:
        """Remember these facts. Raises OSError when the store does not take them in time."""
        answer = self.ask({"witness": dict(facts)})
        if answer is None or "done" not in answer:
            raise OSError(answer["error"] if answer else "the tracking store did not answer in time")

    def recall(self, testset: str) -> Iterable[Mapping[str, str]]:
        """All facts ever witnessed about a test set; empty where the store cannot be asked."""
        answer = self.ask({"recall": testset})
        return list(answer["done"]) if answer and "done" in answer else []


def write(store: TrackingStore, facts: Mapping[str, str]) -> str:
    """One run per look, named after it; returns its id."""
    import mlflow.entities as entities

    from modelsel.record.mlflow.client import Client

    client = Client(store)
    experiment = client.experiment(EXPERIMENT)
    name = f"look {facts.get('look', '?')} at {facts.get('testset', '?')}"
    run = client.api.create_run(experiment, tags={MARK: facts.get("testset", "")}, run_name=name)
    client.api.log_batch(run.info.run_id, params=[entities.Param(key, str(value)) for key, value in facts.items()])
    client.api.set_terminated(run.info.run_id)
    return str(run.info.run_id)


def read(store: TrackingStore, testset: str) -> list[dict[str, Any]]:
    """The facts of every run that witnessed a look at this test set."""
    from modelsel.record.mlflow.client import PAGE, Client

    client = Client(store)
    found = client.api.get_experiment_by_name(EXPERIMENT)
    if found is None:
        return []
    runs = client.api.search_runs([found.experiment_id], f"tags.`{MARK}` = '{testset}'", max_results=PAGE)
    return [dict(run.data.params) for run in runs]
