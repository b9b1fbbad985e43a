"""Candidates that kill their worker: forty on three folds with two worker processes, 1, 2 and 5 of them poisoned.

Every other candidate finishes with the scores of a clean run and each poisoned one is named; what is asked is how much longer
it takes. Each candidate is a batch of its own (or all are one batch), a fit takes a tenth of a second. Clean and poisoned runs
take turns, now one first and now the other, and each begins with two workers that are up. A death costs a worker's start,
which is processor time, while a fit here sleeps: on a busy machine the ratio is larger, so the load is told with it.
"""

import os
import statistics
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common.timing import Row, seconds
from modelsel.core.types import Candidate
from modelsel.runner.execution.executors import Pool
from modelsel.runner.results import Results
from tests.doubles import Double
from tests.runner.studies import study

FORTY, TURNS, MOST = 40, 5, 2.5
BUDGET = 1.0  # seconds for a batch with one poisoned candidate
DEATHS = (
    "two deaths, of which the second tells who is guilty. A worker's start is .31 s of a processor (joblib and NumPy .19), and "
    "three start on two cores: .46 s are waited for. Four fits of .1 s follow one another (the first death, the second, rest "
    "of that fold, other folds): no less than .86 s; {clean:.2f} s where nobody is poisoned"
)


def rows() -> Iterable[Row]:
    for poisoned in (1, 2, 5):
        yield row(poisoned, apart=True)
    yield row(1, apart=False)


def row(poisoned: int, apart: bool) -> Row:
    guilty = range(3, FORTY, FORTY // poisoned)[:poisoned]
    clean, dirty = space((), apart), space(guilty, apart)
    same(run(clean), run(dirty), guilty)
    pairs = [turn(clean, dirty, clean_first=i % 2 == 0) for i in range(TURNS)]
    load = f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    if not apart:
        return of_budget(pairs, load)
    return Row(
        f"{FORTY} candidates in batches of their own, {poisoned} of them poisoned",
        "none of them poisoned",
        tuple(long / short for short, long in pairs),
        ours=statistics.median(long for _, long in pairs),
        theirs=statistics.median(short for short, _ in pairs),
        equal=f"{FORTY - poisoned} others finish with the same scores, {poisoned} named as crashed",
        most=MOST,
        note=load,
    )


def of_budget(pairs: Sequence[tuple[float, float]], load: str) -> Row:
    """One poisoned candidate in a batch, in seconds of the clock on the wall."""
    return Row(
        f"{FORTY} candidates in one batch, 1 of them poisoned",
        f"a budget of {BUDGET:g} s",
        tuple(long / BUDGET for _, long in pairs),
        ours=statistics.median(long for _, long in pairs),
        theirs=BUDGET,
        equal=f"{FORTY - 1} others finish with the same scores, 1 named as crashed",
        most=1.0,
        note=f"{DEATHS.format(clean=statistics.median(short for short, _ in pairs))}; {load}",
    )


def turn(clean: Sequence[Candidate], dirty: Sequence[Candidate], clean_first: bool) -> tuple[float, float]:
    """Seconds of a clean run and of a poisoned one, side by side."""
    took = {}
    for some in (clean, dirty) if clean_first else (dirty, clean):
        run(space((), apart=True)[:2])  # a run that ended with a death left no workers
        took[id(some)] = seconds(lambda some=some: run(some))
    return took[id(clean)], took[id(dirty)]


def space(guilty: Sequence[int], apart: bool) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(Double(group=i if apart else 0, cut=i / 20, seconds=0.1, deed="kill" if i in guilty else "none"))
        for i in range(FORTY)
    )


def run(some: Sequence[Candidate]) -> Results:
    with tempfile.TemporaryDirectory() as folder:
        return study(Path(folder), some, pool=Pool("processes", 2))


def same(clean: Results, dirty: Results, guilty: Sequence[int]) -> None:
    named = [position for position, status in enumerate(dirty.status) if status == "crashed"]
    assert named == list(guilty), (named, list(guilty))
    others = np.setdiff1d(np.arange(FORTY), named)
    assert {dirty.status[position] for position in others} == {"ok"}
    np.testing.assert_array_equal(dirty.board.folds[others], clean.board.folds[others])
