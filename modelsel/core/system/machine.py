"""Differences between systems in processes and memory, through psutil; and the things that a system cannot do, in words."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from math import log10
from pathlib import Path

import psutil


def cores() -> int:
    """Cores that this process may use: fewer than the machine has where it was confined to some.

    >>> cores() >= 1
    True
    """
    try:
        return len(psutil.Process().cpu_affinity() or ()) or psutil.cpu_count() or 1
    except AttributeError:  # macOS cannot confine a process
        return psutil.cpu_count() or 1


def memory() -> int:
    """Bytes of memory that this process may come to hold: those of the machine, or of its control group where it has fewer.

    >>> memory() > 0
    True
    """
    limits = (Path("/sys/fs/cgroup", name) for name in ("memory.max", "memory/memory.limit_in_bytes"))
    said = (path.read_text("ascii").strip() for path in limits if path.is_file())
    return min([int(psutil.virtual_memory().total), *(int(limit) for limit in said if limit.isdigit())])


def no_memory_limit() -> str:
    """Say why memory cannot be limited here; empty where it can. Linux alone refuses what a process asks for beyond it."""
    if sys.platform.startswith("linux") and find_spec("resource") is not None:
        return ""
    return "this system cannot confine the memory of a process"


@contextmanager
def limit_memory(budget: int) -> Iterator[None]:
    """Limit the address space that this process may ask for beyond what it holds; MemoryError beyond it. Linux alone."""
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (int(psutil.Process().memory_info().vms) + budget, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def end_children(of: int, patience: float) -> None:
    """Ask all that a process started, and what those started, to end; make them after `patience` seconds."""
    try:
        family = psutil.Process(of).children(recursive=True)
    except psutil.NoSuchProcess:
        return
    for act in (psutil.Process.terminate, psutil.Process.kill):
        for member in family:
            with suppress(psutil.NoSuchProcess):
                act(member)
        _, family = psutil.wait_procs(family, patience)


def kill_children() -> None:
    """End all that this process started, at once; but for the process that puts away what dead ones leave behind."""
    for member in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if not any("resource_tracker" in word for word in member.cmdline()):
                member.kill()


# Copies of the numbers in a study with a sealed test, the data among them. Measured with naive Bayes, two folds, on 3·10⁵ × 10
# and × 40, 10⁶ × 10 and 10⁷ × 10 numbers: 8.6, 8.1, 7.8, 7.7 beside the data.
COPIES = 9


def affordable(columns: int, there: float) -> int:
    """Rows of so many columns whose study a machine of so many bytes holds: nine copies of the numbers, in round numbers.

    >>> affordable(20, 8e9)
    5500000
    """
    rows = there / (COPIES * 8 * columns)
    unit = int(10 ** max(int(log10(rows)) - 1, 0))
    return int(rows // unit) * unit
