"""What all cells share travels to a worker once, however many cells it computes; processes map its arrays into memory."""

import os
from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.spec import plain
from modelsel.core.types import Candidate
from modelsel.runner.execution.executors import Pool
from tests import doubles
from tests.doubles import Double
from tests.extras import needs
from tests.runner.studies import study

CELLS = 12 * 3


@dataclass(frozen=True)
class Luggage(Double):
    """Notes each arrival in a process, and at each fit what kind of memory the task lies in."""

    kind = "luggage"
    place: str = plain("")

    def __reduce__(self):
        return arrived, tuple(getattr(self, field.name) for field in fields(self))

    def fit_path(self, task, rows, rng):
        noted(self.place, "mapped" if mapped(task.values) else "own")
        return super().fit_path(task, rows, rng)


def arrived(*settings):
    one = Luggage(*settings)
    if one.group == 0:
        noted(one.place, "arrived")
    return one


def noted(place, what):
    with open(place, "a") as notes:
        notes.write(f"{what} {os.getpid()}\n")


def mapped(array):
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = array.base if isinstance(array, np.ndarray) else None
    return False


NEEDS = {"dask": "distributed", "ray": "ray", "spark": "joblibspark"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "memory", "most"),
    [("processes", "mapped", 1), *(pytest.param(kind, "own", 2, marks=pytest.mark.slow) for kind in NEEDS)],
)
def test_what_cells_share_travels_to_each_worker_and_not_to_each_cell(
    tmp_path: Path, kind: str, memory: str, most: int
) -> None:
    """Once; on a busy machine Dask's broadcast asks some workers a second time before the first copy is there."""
    if kind in NEEDS:
        needs(NEEDS[kind])
    notes = tmp_path / "notes"
    some = [Candidate(Luggage(group=group, seconds=0.02, place=str(notes))) for group in range(12)]
    results = study(tmp_path, some, pool=Pool(kind, 2), task=doubles.task(4000))
    assert set(results.status) == {"ok"}
    assert results.computed == CELLS
    said = Counter(line.split()[0] for line in notes.read_text().splitlines())
    assert said[memory] == CELLS
    workers = Counter(line.split()[1] for line in notes.read_text().splitlines() if line.startswith("arrived"))
    assert 1 <= len(workers) <= 2
    assert max(workers.values()) <= most


def test_threads_share_the_very_arrays(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    some = [Candidate(Luggage(group=group, place=str(notes))) for group in range(12)]
    study(tmp_path, some, pool=Pool("threads", 2))
    assert "arrived" not in notes.read_text()
