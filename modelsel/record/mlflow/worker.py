"""The process that talks to MLflow, so that the study never does: jobs come in as JSON lines, answers go out as JSON lines.

It starts with the study, imports MLflow and opens the store while cells are computed, and ends with its input. A person's
tracking address, active runs and logging stay untouched, and a store that hangs can be left behind.
"""

import gc
import json
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any, TextIO

from modelsel.core.errors import ModelselError
from modelsel.record.folder import RunFolder
from modelsel.record.mlflow import anchor
from modelsel.record.mlflow import store as mlflow_store
from modelsel.record.mlflow.store import TrackingStore
from modelsel.record.mlflow.sync import note_failure, pending_of, sync
from modelsel.record.redact import Redactor


def main(jobs: TextIO, answers: TextIO) -> None:
    """The first line names the store; each further one is a job: warm, record, left, sweep, witness or recall."""
    _import()
    first = jobs.readline()
    if not first:  # started ahead, and nobody had anything to record
        return
    store = TrackingStore(**json.loads(first))
    redactor = Redactor.of(store.uri)

    number: int | None = None

    def answer(**facts: object) -> None:
        with suppress(OSError):  # nobody listens any more: the study has ended, and what it handed over is still written
            answers.write(json.dumps({"job": number, **redactor.data(facts)}) + "\n")
            answers.flush()

    for line in jobs:
        job = json.loads(line)
        number = job.get("job")
        try:
            answer(done=_do(job, store, redactor, answer))
        except ModelselError as error:
            answer(error=str(error))
        except Exception as error:  # the study must hear of it, whatever it was
            answer(error=f"{type(error).__name__}: {error}")


def _import() -> None:
    """Import MLflow with the garbage collector paused, which spares a third of the time."""
    mlflow_store.quieten(os.environ)
    gc.disable()
    with suppress(Exception):  # the first job meets it again, and its answer says so
        import mlflow.store.tracking.sqlalchemy_store  # noqa: F401
    gc.freeze()
    gc.enable()


def _do(job: Mapping[str, Any], store: TrackingStore, redactor: Redactor, answer: Any) -> object:
    """Do one job: warm up, write or read an anchor, or record a run."""
    if "warm" in job:
        mlflow_store.prepare(store)
        return "warm"
    if "witness" in job:
        return anchor.write(store, job["witness"])
    if "recall" in job:
        return anchor.read_witnessed(store, job["recall"])
    if "sweep" in job:
        from modelsel.record.mlflow import sweeps

        return getattr(sweeps, str(job["sweep"]))(store, **job["facts"])
    if "left" in job and pending_of(Path(job["left"])) is None:
        return "done meanwhile"
    folder = RunFolder(Path(job.get("record") or job["left"]), redactor)
    try:
        return vars(sync(folder, store, job["writer"], lambda written, of: answer(written=written, of=of)))
    except ModelselError as error:
        note_failure(folder.path, job["writer"], redactor.text(str(error)))  # whoever comes next says it, and tries again
        raise


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):  # libraries print; answers alone go to the pipe
        main(sys.stdin, sys.__stdout__)  # type: ignore[arg-type]
