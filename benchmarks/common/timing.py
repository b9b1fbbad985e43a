"""Side-by-side timing: ours and theirs take turns in one process, and the median of the ratios is what is reported.

A ratio of one pair (their seconds / our seconds) cancels what the machine does to both; medians forgive a disturbed turn.
Work of less than a twentieth of a second is called again, on either side, until that much has passed.
"""

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

Item, Found = TypeVar("Item"), TypeVar("Found")


SHORTEST = 0.05  # seconds of one side in one turn


@dataclass(frozen=True)
class Row:
    """One line of the table: `ratios` are theirs / ours (or big / small), one per turn; `goal` is the least median asked for.

    `equal` says which equality of the answers was asserted in the same run. `most` turns the goal round: the median must not
    exceed it (growth of time, of memory).
    """

    work: str
    against: str
    ratios: tuple[float, ...]
    ours: float  # median seconds
    theirs: float
    equal: str
    goal: float | None = None
    most: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    @property
    def reached(self) -> bool:
        return (self.goal is None or self.ratio >= self.goal) and (self.most is None or self.ratio <= self.most)


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def processor(work: Callable[[], object]) -> float:
    """Seconds of the processor, all threads of this process together."""
    start = time.process_time()
    work()
    return time.process_time() - start


def each(work: Callable[[], object]) -> float:
    """Wall-clock seconds of a call, of as many in a row as take `SHORTEST`: a single short one is timed by its luck."""
    spent = [seconds(work)]
    while sum(spent) < SHORTEST:
        spent.append(seconds(work))
    return statistics.mean(spent)


def side_by_side(
    work: str,
    against: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    equal: str,
    turns: int = 5,
    goal: float | None = None,
    share: float = 1.0,
    note: str = "",
) -> Row:
    """Warm ours up once, then let both take turns. `share` is the part of our work that theirs does (a sample)."""
    ours()
    pairs = [(each(ours), each(theirs) / share) for _ in range(turns)]
    return Row(
        work,
        against,
        ratios=tuple(them / us for us, them in pairs),
        ours=statistics.median(us for us, _ in pairs),
        theirs=statistics.median(them for _, them in pairs),
        equal=equal,
        goal=goal,
        note=note,
    )


def by_processor(
    work: str,
    against: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    goal: float | None,
    equal: str,
    *,
    turns: int = 7,
    note: str = "",
) -> Row:
    """Processor seconds of a call of either side in turns, of as many in a row as take `SHORTEST`."""
    ours(), theirs()
    pairs = [(_spent(ours), _spent(theirs)) for _ in range(turns)]
    us, them = zip(*pairs, strict=True)
    ratios = tuple(their / our for our, their in pairs)
    return Row(work, against, ratios, statistics.median(us), statistics.median(them), equal, goal, note=note)


def _spent(work: Callable[[], object]) -> float:
    spent = [processor(work)]
    while sum(spent) < SHORTEST:
        spent.append(processor(work))
    return statistics.mean(spent)


def in_two_threads(work: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
    """Results in order; as many workers as `n_jobs=2` gives the other side."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, items))


def noted(row: Row, note: str) -> Row:
    """The same row with a remark."""
    return replace(row, note=note)


def machine() -> str:
    """Where the figures come from, in one line."""
    from importlib.metadata import version

    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "scikit-learn", "joblib"))
    return f"{os.cpu_count()} cores, {_processor()}, {platform.system()}, Python {platform.python_version()}, {packages}"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
