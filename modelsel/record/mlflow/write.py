"""One pass over a study: the parent, its children by the fastest writer that is safe, then what belongs to the parent."""

from collections.abc import Callable
from dataclasses import dataclass

from modelsel.record.mlflow import bulk
from modelsel.record.mlflow.client import Client
from modelsel.record.mlflow.runs import TrackedStudy
from modelsel.record.mlflow.store import TrackingStore

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
    experiment = client.experiment(runs.experiment) if runs.below is None else client.experiment_of(runs.below)
    if (already := client.already(experiment, runs.parent)) is not None:
        told(len(runs.children), len(runs.children))
        return Written(already, experiment, 0, len(runs.children), ALREADY)
    parent, whole = client.parent(experiment, runs.parent, runs.below)
    there = client.children(experiment, parent)
    missing = [run for run in runs.children if not there.get(run.key, ("", False))[1]]
    done = len(runs.children) - len(missing)
    used = "bulk" if missing and writer != "client" and bulk.knows(store, strict=writer == "bulk") else "client"
    if used == "bulk":
        bulk.write_children(store, experiment, parent, missing, there)
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
