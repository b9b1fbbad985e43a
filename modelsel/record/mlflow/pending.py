"""Notes of writes to MLflow that are still due: a file in the run's folder, made before the hand-over, removed once written.

The note outlives whoever was to write it, and keeps the last error; the next study takes along what is left.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from modelsel.record.files import write

NOTE = "outbox.json"


@dataclass(frozen=True)
class Pending:
    """A run that is not in its store yet, and what went wrong when it was last tried; empty: nobody heard of it again."""

    folder: Path
    writer: str
    error: str

    @property
    def said(self) -> str:
        return f"{self.folder} is not in MLflow yet" + (f": {self.error}" if self.error else "")


def note(folder: Path, writer: str, error: str = "") -> None:
    """Note that a write to MLflow is due, and what failed so far."""
    write(folder / NOTE, json.dumps({"writer": writer, "error": error}))


def clear(folder: Path) -> None:
    """Remove the note."""
    (folder / NOTE).unlink(missing_ok=True)


def waiting(root: Path) -> Iterator[Pending]:
    """Runs below `root`, oldest first. A note that cannot be read is passed over: `modelsel sync` needs none."""
    for path in sorted(root.glob(f"*/*/{NOTE}"), key=lambda one: one.parent.name):
        with suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(path.read_text("utf-8"))
            if not path.parent.parent.is_symlink():
                yield Pending(path.parent, str(found["writer"]), str(found["error"]))
