"""The study's side of tracking: a finished folder is handed over, and waited for only so long.

All waiting of one study together is at most PATIENCE seconds. A store that is merely slow goes on being written in the
background; one that is dead or refuses is reported, and `modelsel sync` makes it whole. The choice never depends on it.
"""

import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from modelsel.core.errors import ModelselError, Problem, StoreError
from modelsel.core.surroundings import Anchor
from modelsel.record.folder import RunFolder
from modelsel.record.mlflow import pending
from modelsel.record.mlflow.anchor import MlflowAnchor
from modelsel.record.mlflow.outbox import Answer, WriterProcess
from modelsel.record.mlflow.store import StoreSettings, locate
from modelsel.record.mlflow.sync import store_of

PATIENCE = 10.0  # seconds
SILENT = "the tracking store did not answer in time"


class TrackOptions(StoreSettings, Protocol):
    """The settings of the `tracking` group that the tracker reads."""

    @property
    def on_error(self) -> str: ...

    @property
    def writer(self) -> str: ...


@dataclass(frozen=True)
class Tracked:
    """The outcome of tracking: `recorded`, `going on` in the background, `failed` or `off`; `message` is for people."""

    state: str
    message: str = ""
    run_id: str | None = None


class Tracker:
    """One study's tracking, from its first second; raises ConfigurationError for an address that cannot be meant."""

    def __init__(self, tracking: TrackOptions, folder: RunFolder, patience: float = PATIENCE) -> None:
        """Find the store that the settings name, and start the process that writes to it."""
        self.tracking, self.folder, self.patience = tracking, folder, patience
        self.store = locate(tracking, folder.root)
        self.outbox = WriterProcess(self.store) if self.store else None
        self.written = 0
        self.of = 0

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        """MLflow as a witness of the ledger's looks, where there is tracking."""
        return (MlflowAnchor(self.ask, self.store.sqlite),) if self.outbox and self.store else ()

    def finish(self) -> Tracked:
        """Record the folder. Raises StoreError (exit 6) only with `tracking.on_error=fail`; otherwise a warning is logged."""
        if self.outbox is None:
            return Tracked("off")
        pending.note(self.folder.path, self.tracking.writer)
        answer = self.ask({"record": str(self.folder.path.resolve()), "writer": self.tracking.writer})
        self._take_along()
        self.outbox.close()
        tracked = self._judge(answer)
        if tracked.state == "failed" and self.tracking.on_error == "fail":
            raise StoreError(Problem("MSEL-632", tracked.message, "tracking"))
        if tracked.message:
            logging.getLogger("modelsel").warning(tracked.message)
        return tracked

    def _take_along(self) -> None:
        """Write what earlier studies left unwritten in this store, in the background."""
        assert self.outbox is not None
        for left in pending.waiting(self.folder.root):
            if left.folder.resolve() == self.folder.path.resolve():
                continue
            with suppress(ModelselError):
                if store_of(RunFolder(left.folder)) == self.store:
                    logging.getLogger("modelsel").warning("%s; it is tried again now", left.said)
                    self.outbox.hand_over({"record": str(left.folder.resolve()), "writer": left.writer})

    def ask(self, job: Mapping[str, object]) -> Answer | None:
        """A job's answer while patience lasts; with `on_error=fail` every candidate written renews it."""
        if self.outbox is None:
            return {"error": "tracking is off"}
        began = time.monotonic()
        try:
            return self.outbox.ask(job, self.patience, self._told)
        finally:
            self.patience = max(0.0, self.patience - (time.monotonic() - began))

    def _told(self, answer: Answer) -> bool:
        self.written, self.of = answer["written"], answer["of"]
        return self.tracking.on_error == "fail"

    def _judge(self, answer: Answer | None) -> Tracked:
        """Turn the process's last answer into what the study reports."""
        assert self.store is not None
        assert self.outbox is not None
        again = f"`modelsel sync {self.folder.path.name}` writes what is missing"
        if answer is not None and "done" in answer:
            known = answer["done"]["run_id"]
            twice = answer["done"]["writer"] == "done already"
            said = f"done already: MLflow has this very study as run {known}, nothing was logged again" if twice else ""
            return Tracked("recorded", said, known)
        if answer is None and (self.written or self.store.sqlite):
            so_far = f" ({self.written} of {self.of} candidates so far)" if self.of else ""
            return Tracked("going on", f"MLflow is slow{so_far}: the rest follows in the background; {again}")
        self.outbox.kill()
        reason = self.folder.redactor.text(answer["error"] if answer else SILENT).removeprefix("MSEL-632: ")
        pending.note(self.folder.path, self.tracking.writer, reason)
        return Tracked("failed", reason if again in reason else f"{reason}; {again}")
