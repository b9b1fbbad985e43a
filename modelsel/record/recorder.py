"""The study's side of tracking: hand a finished folder to the process that talks to MLflow, and wait for it only so long.

All waiting of one study together is at most `patience` seconds. A store that is merely slow goes on being written in the
background; one that is dead or refuses is reported, and `modelsel sync` makes it whole.
"""

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Protocol, Self

from modelsel.core.errors import Problem, StoreError
from modelsel.record.mlflow_store import Settings, Store, locate
from modelsel.record.redact import Redactor

PATIENCE = 10.0


class Tracking(Settings, Protocol):
    """What the `tracking` group of the configuration says."""

    @property
    def on_error(self) -> str: ...

    @property
    def writer(self) -> str: ...


@dataclass(frozen=True)
class Tracked:
    """How recording went: `recorded`, `going on` in the background, `failed` or `off`; `message` is for people."""

    state: str
    message: str = ""
    run_id: str | None = None
    seconds: float = 0.0


class Recorder:
    """Starts with the study, so that MLflow is imported and the store made while cells are computed.

    >>> from types import SimpleNamespace
    >>> with Recorder(SimpleNamespace(kind="off"), Path("runs")) as recorder:
    ...     recorder.record(Path("runs/x")).state
    'off'
    """

    def __init__(self, tracking: Tracking, root: Path, patience: float = PATIENCE) -> None:
        self.tracking = tracking
        self.store: Store | None = locate(tracking, root)
        self.left = patience
        self.broken = ""
        self.jobs = 0  # asked so far: a late answer to a job that was given up is not the answer to the next
        self.redactor = Redactor.of(self.store.uri if self.store else None)
        self.process: subprocess.Popen[str] | None = None
        self.answers: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def __enter__(self) -> Self:
        if self.store is not None:
            self._start(self.store)
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the worker's input: it ends when its last job is done."""
        if self.process is not None and self.process.stdin is not None:
            _close(self.process.stdin)

    def record(self, folder: Path) -> Tracked:
        """Record a finished folder. Raises StoreError (exit 6) only with `tracking.on_error=fail`."""
        if self.store is None:
            return Tracked("off")
        began, progress = time.monotonic(), {"written": 0, "of": 0}
        job = {"record": str(folder.resolve()), "writer": self.tracking.writer}
        answer = self._ask(job, progress, endless=self.tracking.on_error == "fail")
        return self._judge(answer, progress, folder, time.monotonic() - began)

    def witness(self, facts: Mapping[str, str]) -> None:
        """Keep facts of the ledger in the store. Raises OSError when the store does not answer in time."""
        answer = self._ask({"witness": dict(facts)}, {}) if self.store else {"error": "tracking is off"}
        if answer is None or "error" in answer:
            raise OSError(answer["error"] if answer else "the tracking store did not answer in time")

    def recall(self, testset: str) -> list[dict[str, str]]:
        """Facts that were kept about a test set; empty when the store does not answer in time."""
        answer = self._ask({"recall": testset}, {}) if self.store else None
        return list(answer["done"]) if answer and "done" in answer else []

    def _start(self, store: Store) -> None:
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "modelsel.record.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
        except OSError as error:
            self.broken = f"the recording process did not start: {error.strerror}"
            return
        threading.Thread(target=self._listen, args=(self.process.stdout,), daemon=True).start()
        self._send(asdict(store))
        self._send({"warm": True})

    def _listen(self, stream: IO[str]) -> None:
        for line in stream:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def _send(self, job: Mapping[str, Any]) -> None:
        stream = self.process.stdin if self.process else None
        try:
            if stream is not None:
                stream.write(json.dumps(job) + "\n")
                stream.flush()
        except (OSError, ValueError):
            self.broken = self.broken or "the recording process ended"

    def _ask(self, job: Mapping[str, Any], progress: dict[str, int], endless: bool = False) -> dict[str, Any] | None:
        """The answer to a job, or None when time ran out. Progress renews nothing unless `endless`."""
        if not self.broken:
            self.jobs += 1
            self._send({**job, "job": self.jobs})
        began = time.monotonic()
        try:
            while not self.broken:
                answer = self.answers.get(timeout=max(0.0, PATIENCE if endless else self.left - (time.monotonic() - began)))
                if answer is None:
                    self.broken = "the recording process ended"
                elif answer.get("job") == self.jobs:
                    if "written" not in answer:
                        return answer
                    progress.update(answer)
            return {"error": self.broken}
        except queue.Empty:
            return None
        finally:
            self.left -= time.monotonic() - began

    def _judge(self, answer: dict[str, Any] | None, progress: Mapping[str, int], folder: Path, seconds: float) -> Tracked:
        if answer is not None and "done" in answer:
            return Tracked("recorded", "", answer["done"]["run_id"], seconds)
        again = f"`modelsel sync {folder.name}` writes what is missing"
        if answer is None and progress["written"]:
            so_far = f"{progress['written']} of {progress['of']} candidates so far"
            return Tracked("going on", f"MLflow is slow: {so_far}, the rest follows in the background ({again})", None, seconds)
        self._end()
        reason = answer["error"] if answer else "the tracking store did not answer in time"
        reason = self.redactor.text(reason)
        if self.tracking.on_error == "fail":
            raise StoreError(Problem("MSEL-632", reason, "tracking", again))
        return Tracked("failed", reason if again in reason else f"{reason}; {again}", None, seconds)

    def _end(self) -> None:
        """Stop the process that was started here; what it wrote so far is found again by key."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def _close(stream: IO[str]) -> None:
    try:
        stream.close()
    except OSError:
        return
