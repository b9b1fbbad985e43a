"""Writing runs through MLflow's client API: create_run, one log_batch, set_terminated; explicit run ids, no active run.

Every run carries `modelsel.key`, set in the very call that creates it, so that whoever comes later finds what is there and
writes only what is missing, and where a server was asked twice keeps one. A parent is ended last: while children are missing
it says RUNNING.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import mlflow.entities as entities
from filelock import FileLock, Timeout
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from modelsel.record.mlflow.runs import CHANGED, KEY, LONGEST_TAG, SAME, STATE, DataSet, LoggedMetric, TrackedRun, TrackedStudy
from modelsel.record.mlflow.store import TrackingStore

METRICS, PARAMS, PAGE = 1000, 100, 1000
PARENT = "mlflow.parentRunId"
VIEW = {"mlflow.experimentKind": "custom_model_development"}  # opens in the view of runs and metrics, not in that of prompts
THREADS = 4  # against a server; an SQL store is written by one
MODEL = "model"  # as `mlflow.sklearn.log_model(..., name="model")` has it: people load `runs:/ID/model`
ENDED = ("FINISHED", "FAILED", "KILLED")
Item = TypeVar("Item")


class Client:
    """A store as the recorder sees it."""

    def __init__(self, store: TrackingStore) -> None:
        self.store = store
        self.api = MlflowClient(tracking_uri=store.uri, registry_uri=store.uri)

    def experiment(self, name: str) -> str:
        """The experiment's id, made if need be; another process may be faster."""
        found = self.api.get_experiment_by_name(name)
        if found is None:
            try:
                place = f"{self.store.artifacts}/{name}" if self.store.artifacts else None
                return str(self.api.create_experiment(name, place, VIEW))
            except MlflowException:
                found = self.api.get_experiment_by_name(name)
                if found is None:
                    raise
        if found.lifecycle_stage == "deleted":
            self.api.restore_experiment(found.experiment_id)
        for tag, value in VIEW.items():
            if tag not in found.tags:
                self.api.set_experiment_tag(found.experiment_id, tag, value)
        return str(found.experiment_id)

    def experiment_of(self, run_id: str) -> str:
        """The experiment in which a run stands; MlflowException where the store has no such run."""
        return str(self.api.get_run(run_id).info.experiment_id)

    def parent(self, experiment: str, run: TrackedRun, below: str | None = None) -> tuple[str, bool]:
        """The parent's id, created RUNNING if need be (under the run `below`), and whether it tells of this state already."""
        found = self._search(experiment, KEY, run.key)
        if not found:
            made = self._create(experiment, run, {PARENT: below} if below else {})
            found = [] if self.store.sql else self._search(experiment, KEY, run.key)
            if len(found) < 2:
                return made, False
        kept = found[0] if len(found) == 1 else self._only_parent(experiment, found)
        told = kept.data.tags.get(STATE) == run.tags[STATE]
        return kept.info.run_id, told and kept.info.status in ENDED

    def already(self, experiment: str, run: TrackedRun, below: str | None = None) -> str | None:
        """The run of another folder that tells of the very same study; one that was abandoned half-way becomes this run's.

        Under another run it is one of the same place.
        """
        if self._search(experiment, KEY, run.key):
            return None
        same = [one for one in self._search(experiment, SAME, run.tags[SAME]) if one.data.tags.get(PARENT) == below]
        for one in same:
            if one.info.status in ENDED:
                return str(one.info.run_id)
        for one in same:
            if _is_abandoned(Path(one.data.tags.get("modelsel.folder", ""))):
                self._adopt(experiment, one.info.run_id, run)
                break
        return None

    def _adopt(self, experiment: str, run_id: str, run: TrackedRun) -> None:
        """Take over the parent run that an unfinished pass left, with its children."""
        for child in self._search(experiment, PARENT, run_id):
            if KEY in child.data.tags:
                candidate = child.data.tags[KEY].rpartition("/")[2]
                self.api.set_tag(child.info.run_id, KEY, f"{run.key}/{candidate}")
        self.api.set_tag(run_id, "mlflow.runName", run.name)
        self.api.set_tag(run_id, KEY, run.key)

    def children(self, experiment: str, parent: str) -> dict[str, tuple[str, bool]]:
        """Key to (run id, ended) of the children that are there, each once."""
        found: dict[str, list[object]] = {}
        for run in self._search(experiment, PARENT, parent):
            if KEY in run.data.tags:  # a person may have nested others here
                found.setdefault(run.data.tags[KEY], []).append(run)
        return {key: self._only(runs) for key, runs in found.items()}

    def _search(self, experiment: str, tag: str, value: str) -> list[Any]:
        """Find all runs with a tag, page by page."""
        found: list[object] = []
        token: str | None = None
        while True:
            page = self.api.search_runs([experiment], f"tags.`{tag}` = '{value}'", max_results=PAGE, page_token=token)
            found += page
            token = page.token
            if not token:
                return found

    def _only(self, runs: Sequence[Any]) -> tuple[str, bool]:
        """One of several runs of a key: a server that answers too late is asked again, and then has created two."""
        kept, *others = sorted(runs, key=lambda run: (run.info.status not in ENDED, run.info.run_id))
        for run in others:
            self._put_away(run.info.run_id)
        return kept.info.run_id, kept.info.status in ENDED

    def _only_parent(self, experiment: str, runs: Sequence[Any]) -> Any:
        """The one that has children; the others are put away, and what hangs on them."""
        below = {run.info.run_id: self._search(experiment, PARENT, run.info.run_id) for run in runs}
        kept, *others = sorted(runs, key=lambda run: (-len(below[run.info.run_id]), run.info.run_id))
        for run in others:
            for one in (*below[run.info.run_id], run):
                self._put_away(one.info.run_id)
        return kept

    def _put_away(self, run_id: str) -> None:
        """Move runs to MLflow's deleted ones, which no page shows and `mlflow gc` removes."""
        self.api.set_terminated(run_id, "KILLED")
        self.api.delete_run(run_id)

    def write_children(
        self,
        experiment: str,
        parent: str,
        runs: Sequence[TrackedRun],
        there: Mapping[str, tuple[str, bool]],
        told: Callable[[], None],
    ) -> None:
        """Create what is missing, complete what was broken off; `told` is called after each."""

        def one(run: TrackedRun) -> None:
            run_id = there[run.key][0] if run.key in there else self._create(experiment, run, {PARENT: parent})
            self.complete(run_id, run)
            told()

        if self.store.sql:
            for run in runs:
                one(run)
            return
        with ThreadPoolExecutor(THREADS) as pool:
            try:
                list(pool.map(one, runs))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def complete(self, run_id: str, run: TrackedRun, end: bool = True) -> None:
        """Params and metrics of a run, then its end."""
        metrics = [entities.Metric(m.name, m.value, run.end, m.step) for m in run.metrics]
        params = [entities.Param(name, value) for name, value in run.params.items()]
        for some_metrics, some_params in _batches(metrics, params):
            self.api.log_batch(run_id, metrics=some_metrics, params=some_params)
        if end:
            self.end(run_id, run)

    def renew(self, run_id: str, run: TrackedRun) -> None:
        """Complete a run that may tell of an earlier look; its params stay, as MLflow never changes them.

        What a later look says otherwise stands in the tag CHANGED.
        """
        there = self.api.get_run(run_id).data.params
        changed = {name: value for name, value in run.params.items() if there.get(name, value) != value}
        self.complete(run_id, replace(run, params={name: run.params[name] for name in run.params.keys() - there}), end=False)
        if changed:
            self.api.set_tag(run_id, CHANGED, json.dumps(changed, sort_keys=True)[:LONGEST_TAG])

    def end(self, run_id: str, run: TrackedRun) -> None:
        self.api.set_terminated(run_id, run.status, run.end)

    def log_data(self, run_id: str, data: Sequence[DataSet]) -> None:
        """Development rows and, where they were looked at, test rows as inputs of the run."""
        inputs = [
            entities.DatasetInput(
                entities.Dataset(one.name, one.digest, "local", json.dumps({"uri": one.source})),
                [entities.InputTag("mlflow.data.context", one.context)],
            )
            for one in data
        ]
        self.api.log_inputs(run_id, inputs)

    def log_test(self, run_id: str, test: LoggedMetric, model: str | None, data: DataSet, when: int) -> None:
        """The released answer, linked to the model and to the rows it was measured on; another one is a next step."""
        said = sorted(self.api.get_metric_history(run_id, test.name), key=lambda metric: metric.step)
        if said and said[-1].value == test.value:
            return
        linked: dict[str, object] = (
            {"model_id": model, "dataset_name": data.name, "dataset_digest": data.digest} if model else {}
        )
        self.api.log_metric(run_id, test.name, test.value, timestamp=when, step=len(said), **linked)

    def tell(self, run_id: str, run: TrackedRun) -> None:
        """Note and state of the record, as they are now."""
        self.api.log_batch(run_id, tags=[entities.RunTag(name, value) for name, value in run.tags.items()])

    def log_files(self, run_id: str, runs: TrackedStudy) -> None:
        """Report, outcome, configuration and the table of candidates."""
        for path in runs.artifacts:
            self.api.log_artifact(run_id, str(path))

    def model(self, experiment: str, run_id: str, runs: TrackedStudy) -> str | None:
        """The final model as a LoggedModel of the parent (`runs:/ID/model`): found again by its source run, never twice."""
        if runs.model is None:
            return None
        found = self.api.search_logged_models([experiment], f"source_run_id = '{run_id}'", max_results=1)
        if found and found[0].status == entities.LoggedModelStatus.READY:
            return str(found[0].model_id)
        made = found[0] if found else self._new_model(experiment, run_id, runs)
        self.api.log_model_artifacts(made.model_id, str(runs.model))
        self.api.finalize_logged_model(made.model_id, entities.LoggedModelStatus.READY)
        self.api.log_outputs(run_id, [entities.LoggedModelOutput(made.model_id, 0)])
        return str(made.model_id)

    def _new_model(self, experiment: str, run_id: str, runs: TrackedStudy) -> Any:
        params = dict(islice(runs.parent.params.items(), PARAMS))
        tags = {"modelsel.title": runs.title}
        return self.api.create_logged_model(experiment, MODEL, run_id, tags, params, model_type="classifier")

    def _create(self, experiment: str, run: TrackedRun, tags: Mapping[str, str]) -> str:
        made = self.api.create_run(experiment, run.start, {**run.tags, **tags}, run.name)
        return str(made.info.run_id)


def _is_abandoned(folder: Path) -> bool:
    """Say whether the process that recorded a folder has ended; False for another machine, where that is unknown."""
    if not folder.is_dir():
        return False
    try:
        with FileLock(folder / ".mlflow.lock", timeout=0):
            return True
    except Timeout:
        return False


def _batches(metrics: list[object], params: list[object]) -> Iterator[tuple[list[object], list[object]]]:
    """Yield as few batches as MLflow's limits allow: 1,000 metrics and 100 params a call, 1,000 entities together."""
    rest = iter(_chunks(params, PARAMS))
    for some in _chunks(metrics, METRICS - PARAMS) or [[]]:
        yield some, next(rest, [])
    for some in rest:
        yield [], some


def _chunks(items: Sequence[Item], size: int) -> list[list[Item]]:
    return [list(items[i : i + size]) for i in range(0, len(items), size)]
