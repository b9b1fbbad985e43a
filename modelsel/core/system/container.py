"""Say whether what is written to a folder outlives this machine, as far as the machine tells."""

import os
from pathlib import Path

MARKS = ("/.dockerenv", "/run/.containerenv")  # files that Docker and Podman make
VARIABLES = ("KUBERNETES_SERVICE_HOST", "container")


def in_container() -> bool:
    """Say whether this process runs in a container."""
    return any(Path(mark).exists() for mark in MARKS) or any(name in os.environ for name in VARIABLES)


def is_lost_afterwards(folder: Path) -> bool:
    """Say whether a folder is part of a container's own layer, and not of a volume: then it goes when the container goes."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    return in_container() and there.stat().st_dev == Path("/").stat().st_dev
