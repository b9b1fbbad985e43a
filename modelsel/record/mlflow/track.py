"""The study's side of tracking: a finished folder is handed over, and waited for only so long.

Once the record is on disk, it is waited for `tracking.wait` seconds at most; all looks and questions before, together, for
PATIENCE. What is not written by then goes on being written by the process that it was handed over to; what refuses is reported,
and `modelsel sync` makes it whole. The choice never depends on it.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from modelsel.core.errors import ModelselError, Problem, StoreError
from modelsel.core.surroundings import Anchor
from modelsel.record.folder import RunFolder
from modelsel.record.mlflow.anchor import MlflowAnchor
from modelsel.record.mlflow.outbox import Answer, WriterProcess, is_shared, writer_for
from modelsel.record.mlflow.store import StoreSettings, TrackingStore, locate
from modelsel.record.mlflow.sync import Pending, note_pending, store_of, waiting

PATIENCE = 10.0  # seconds of a study before it is on record: looks and questions
SILENT = "the tracking store did not answer in time"


class TrackOptions(StoreSettings, Protocol):
    """The settings of the `tracking` group that the tracker reads."""

    @property
    def on_error(self) -> str: ...

    @property
    def wait(self) -> float: ...

    @property
    def writer(self) -> str: ...


@dataclass(frozen=True)
class Tracked:
    """The outcome of tracking: `recorded`, `going on` in the background, `failed` or `off`; `message` is for people."""

    state: str
    message: str = ""
    run_id: str | None = None


def left_for(store: TrackingStore, root: Path) -> Iterator[Pending]:
    """The runs below `root` that are not written into a store yet."""
    for left in waiting(root):
        with suppress(ModelselError):
            if store_of(RunFolder(left.folder)) == store:
                yield left


@dataclass(frozen=True)
class SweepRun:
    """A sweep's own run in MLflow, and the process that writes it."""

    run: str
    process: WriterProcess

    @classmethod
    def begin(cls, store: TrackingStore, **facts: object) -> "SweepRun | None":
        """Begin the run, or say on the log why the studies will stand by themselves."""
        process = writer_for(asdict(store))
        answer = process.ask({"sweep": "begin", "facts": facts}, PATIENCE)
        if answer is None or "done" not in answer:
            reason = SILENT if answer is None else answer["error"]
            logging.getLogger("modelsel").warning("the sweep has no run of its own in MLflow: %s", reason)
            process.kill()
            return None
        return cls(str(answer["done"]), process)

    def finish(self, folder: Path, best: Mapping[str, object], failed: bool) -> None:
        """Log the sweep's table and its best job, and end the run."""
        facts = {"run": self.run, "folder": str(folder), "best": best, "failed": failed}
        answer = self.process.ask({"sweep": "finish", "facts": facts}, PATIENCE)
        if answer is not None and "done" not in answer:
            logging.getLogger("modelsel").warning("the sweep's run in MLflow was not ended: %s", answer["error"])


class Tracker:
    """Tracking of a study, from its first second; raises ConfigurationError for an address that cannot be meant."""

    def __init__(self, tracking: TrackOptions, folder: RunFolder, patience: float = PATIENCE) -> None:
        """Find the store that the settings name, and start the process that writes to it."""
        self.tracking, self.folder, self.patience = tracking, folder, patience
        self.store = locate(tracking, folder.root)
        self.outbox = writer_for(asdict(self.store)) if self.store else None
        self.written = 0
        self.of = 0
        self.unheard: list[Mapping[str, object]] = []  # looks handed over to be witnessed, of which nothing was heard since

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        """MLflow as a witness of the ledger's looks, where there is tracking."""
        return (MlflowAnchor(self._ask_anchor, self.store.sqlite),) if self.outbox and self.store else ()

    def finish(self) -> Tracked:
        """Record the folder. Raises StoreError (exit 6) only with `tracking.on_error=fail`; otherwise a warning is logged."""
        if self.outbox is None:
            return Tracked("off")
        self._note()
        answer = self._wait_for_record()
        self._take_along()
        if not is_shared(self.outbox):
            self.outbox.close()
        tracked = self._judge(answer)
        if tracked.state == "failed" and self.tracking.on_error == "fail":
            raise StoreError(Problem("MSEL-632", tracked.message, "tracking"))
        if tracked.message:
            logging.getLogger("modelsel").warning(tracked.message)
        return tracked

    def _note(self, reason: str = "") -> None:
        """Note what is due. A full disk is said, and ends no study that is on record: `modelsel sync RUN` needs no note."""
        try:
            note_pending(self.folder.path, self.tracking.writer, reason, self.unheard)
        except StoreError as error:
            logging.getLogger("modelsel").warning("%s", error)

    def _wait_for_record(self) -> Answer | None:
        """The answer to the record's job; with `on_error=fail` as long as candidates arrive, else within `tracking.wait`."""
        assert self.outbox is not None
        job = {"record": str(self.folder.path.resolve()), "writer": self.tracking.writer}
        return self.ask(job) if self._strict else self.outbox.ask(job, self.tracking.wait, self._take_answer)

    @property
    def _strict(self) -> bool:
        return self.tracking.on_error == "fail"

    def _take_along(self) -> None:
        """Write what earlier studies left unwritten in this store, in the background."""
        assert self.outbox is not None
        assert self.store is not None
        for left in left_for(self.store, self.folder.root):
            if left.folder.resolve() == self.folder.path.resolve():
                continue
            if left.error:  # without one it is most likely being written just now, and then found done
                logging.getLogger("modelsel").warning("%s; it is tried again now", left.said)
            self.outbox.hand_over({"left": str(left.folder.resolve()), "writer": left.writer})

    def _ask_anchor(self, job: Mapping[str, Any]) -> Answer | None:
        """An anchor's answer. A look for the file beside the runs is handed over: MLflow may still be importing itself.

        Until its answer comes it stands in the note of what is due, and whoever writes the study writes it too.
        """
        if "witness" not in job or self._strict or self.store is None or self.store.sqlite is None:
            return self.ask(job)
        assert self.outbox is not None
        began = time.monotonic()
        answer = self.outbox.ask(job, min(self.patience, self.tracking.wait))
        self.patience = max(0.0, self.patience - (time.monotonic() - began))
        if answer is not None:
            return answer
        self.unheard.append(job["witness"])
        return {"done": "handed over"}

    def ask(self, job: Mapping[str, object]) -> Answer | None:
        """A job's answer while patience lasts; with `on_error=fail` every candidate written renews it."""
        if self.outbox is None:
            return {"error": "tracking is off"}
        began = time.monotonic()
        try:
            return self.outbox.ask(job, self.patience, self._take_answer)
        finally:
            self.patience = max(0.0, self.patience - (time.monotonic() - began))

    def _take_answer(self, answer: Answer) -> bool:
        self.written, self.of = answer["written"], answer["of"]
        return self._strict

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
        if answer is None and (self.written or self.store.sqlite or not self._strict):
            so_far = f" ({self.written} of {self.of} candidates so far)" if self.of else ""
            return Tracked("going on", f"MLflow is still being written{so_far}, in the background; {again}")
        self.outbox.kill()
        reason = self.folder.redactor.text(answer["error"] if answer else SILENT).removeprefix("MSEL-632: ")
        self._note(reason)
        return Tracked("failed", reason if again in reason else f"{reason}; {again}")
