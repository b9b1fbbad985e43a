"""Searches that are the same are made once, by whichever distance, and found answers are those of a search."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task, positions
from modelsel.distance import search
from modelsel.distance.base import FittedDistance
from modelsel.distance.search import nearest
from modelsel.learner.knn import Knn


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Searches that were made, with nothing remembered before; every one is worth remembering."""
    calls: list[int] = []

    def counted(metric: FittedDistance, stored: np.ndarray, queries: np.ndarray, count: int):  # type: ignore[no-untyped-def]
        calls.append(count)
        return nearest(metric, stored, queries, count)

    monkeypatch.setattr(search, "nearest", counted)
    monkeypatch.setattr(search, "WORTH", 0)
    search._SEARCHES.clear()
    return calls


def task_of(holes: bool) -> Task:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 3)).round(1)
    values[7, 1] = np.nan if holes else 0.5
    return Task(
        name="t", features=tuple(Feature(f"x{i}", "numeric") for i in range(3)), values=values, rows=np.arange(200),
        classes=("a", "b"), target=rng.integers(0, 2, 200).astype(np.int32),
    )  # fmt: skip


@pytest.mark.parametrize("holes", [False, True])
def test_heom_and_euclidean_search_complete_numbers_once(made: list[int], holes: bool) -> None:
    task, said = task_of(holes), []
    for distance in ("heom", "euclidean", "manhattan"):
        learner = Knn(k=5, distance=make("distance", distance))
        path = learner.fit_path(task, positions(task)[:150], np.random.default_rng(0))
        with search.share_searches():
            found = path.neighbours(task, np.arange(150, 200), 9)
        fresh = nearest(path.metric, path.stored, path.metric.encode(task.values[150:], task.features), 9)
        assert found.rows.tolist() == fresh.rows.tolist()
        assert found.distance.tolist() == fresh.distance.tolist()
        said.append(found)
    assert len(made) == (3 if holes else 2)
    assert len(search._SEARCHES) == (0 if holes else 2)


def test_threads_wait_for_each_other_and_a_search_that_failed_is_made_anew(made: list[int], monkeypatch) -> None:  # type: ignore[no-untyped-def]
    task = task_of(False)
    path = Knn(k=5).fit_path(task, positions(task), np.random.default_rng(0))

    def asked(_: int) -> list[list[int]]:
        with search.share_searches():
            return path.neighbours(task, positions(task), 5).rows.tolist()

    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(asked, range(8))]
    assert made == [5]
    assert all(own == found[0] for own in found)
    sound = search.nearest
    with search.share_searches():
        monkeypatch.setattr(search, "nearest", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            path.neighbours(task, positions(task), 6)
        monkeypatch.setattr(search, "nearest", sound)
        assert path.neighbours(task, positions(task), 6).rows.shape == (200, 6)
        other = replace(path, metric=replace(path.metric, power=1.0))
        here, there = (own.neighbours(task, positions(task), 5).distance for own in (path, other))
    assert here.tolist() != there.tolist()


def test_outside_of_cells_every_search_is_made(made: list[int]) -> None:
    task = task_of(False)
    path = Knn(k=5).fit_path(task, positions(task), np.random.default_rng(0))
    for _ in range(3):
        path.neighbours(task, positions(task), 5)
    assert made == [5, 5, 5]
