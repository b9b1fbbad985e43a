"""Notes of writes to MLflow that are still due: a file in the run's folder, made before the hand-over, removed once written.

The note outlives whoever was to write it, and keeps the last error; the next study, `modelsel sync` and `modelsel ui` take
along what is left. Looks at test rows that the store has not yet confirmed to have witnessed stand in it too.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
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
    looks: tuple[Mapping[str, str], ...] = ()  # that the store was to witness, and was not heard of since

    @property
    def said(self) -> str:
        return f"{self.folder} is not in MLflow yet" + (f": {self.error}" if self.error else "")


def note(folder: Path, writer: str, error: str = "", looks: Sequence[Mapping[str, object]] = ()) -> None:
    """Note that a write to MLflow is due, what failed so far, and which looks are still to be witnessed."""
    write(folder / NOTE, json.dumps({"writer": writer, "error": error, "looks": list(looks)}))


def note_failure(folder: Path, writer: str, error: str) -> None:
    """Note what went wrong; the looks that are due stay."""
    there = of(folder)
    note(folder, writer, error, there.looks if there else ())


def of(folder: Path) -> Pending | None:
    """The note of a run; None where nothing is due, or where the note cannot be read: `modelsel sync` needs none."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads((folder / NOTE).read_text("utf-8"))
        return Pending(folder, str(found["writer"]), str(found["error"]), tuple(map(dict, found.get("looks", ()))))
    return None


def clear(folder: Path) -> None:
    """Remove the note."""
    (folder / NOTE).unlink(missing_ok=True)


def waiting(root: Path) -> Iterator[Pending]:
    """Runs below `root`, oldest first. A note that cannot be read is passed over."""
    for path in sorted(root.glob(f"*/*/{NOTE}"), key=lambda one: one.parent.name):
        if not path.parent.parent.is_symlink() and (found := of(path.parent)) is not None:
            yield found
