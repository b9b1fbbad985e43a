"""Where the project stands, the folder of data beside it, which only some machines have, and folders for a while."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
MEMORY = Path("/dev/shm")


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder that is removed afterwards: in memory where the system has such a place, since nobody waits for a disk."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Path(folder)
