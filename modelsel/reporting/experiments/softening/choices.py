"""Two ways of choosing a tree and its softening per training set: by the assessment rows, as the paper does, and without them.

The honest choice takes the largest AUC on the third of the training set that neither grew nor softened the tree. It is made
before the assessment rows are asked, so that one look at them gives DeLong's interval its meaning; the best of many scores
on these rows has none.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from modelsel.core.types import Floats
from modelsel.reporting.experiments.softening.grid import LEAVES, METHODS, SofteningGrid
from modelsel.runner.aggregation.results import Results
from modelsel.statistics.tests.delong import areas


def choices(results: Results, grid: SofteningGrid) -> list[dict[str, Any]]:
    """Per training set the paper's choice and the honest one; none where no rows were held back to choose by."""
    if not np.isfinite(grid.held_back).any(axis=(0, 1, 2)).all():
        return []
    honest = [_largest(grid.held_back[..., k], grid.splits[:, k]) for k in range(grid.sets)]
    intervals = _intervals(results, grid, honest)
    return [_set(grid, k, honest[k], intervals[k]) for k in range(grid.sets)]


def _set(grid: SofteningGrid, k: int, honest: tuple[int, int, int], interval: tuple[float, float]) -> dict[str, Any]:
    """Describe both choices of one training set."""
    paper = _largest(grid.area[..., k], grid.splits[:, k])
    return {
        "set": k,
        "paper": {**_words(grid, k, paper), "area": float(grid.area[(*paper, k)])},
        "honest": {
            **_words(grid, k, honest),
            "area": float(grid.area[(*honest, k)]),
            "held_back": float(grid.held_back[(*honest, k)]),
            "interval": list(interval),
        },
    }


def _words(grid: SofteningGrid, k: int, place: tuple[int, int, int]) -> dict[str, Any]:
    tree, method, leaf = place
    return {"splits": int(grid.splits[tree, k]), "method": METHODS[method], "leaf": LEAVES[leaf]}


def _largest(area: Floats, splits: Any) -> tuple[int, int, int]:
    """Tree, method and leaf score of the largest area; of equals the smallest tree, then the first method and leaf score."""
    even = np.argwhere(area >= np.nanmax(area) - 1e-9)
    first = min(even.tolist(), key=lambda place: (splits[place[0]], place))
    return first[0], first[1], first[2]


def _intervals(results: Results, grid: SofteningGrid, chosen: list[tuple[int, int, int]]) -> Mapping[int, tuple[float, float]]:
    """DeLong's 95 % interval of each set's choice, 100 AUC."""
    wanted = {k: int(grid.candidate[place]) for k, place in enumerate(chosen)}
    task, found = results.book.work.task, {}
    for fold, members, answers in results.book.records(sorted(set(wanted.values()))):
        at = np.flatnonzero(members == wanted[fold.index])
        if len(at) and answers.scores is not None:
            low, high = areas(task.target[fold.assessment] == 1, answers.scores[at[0], :, 1]).interval()
            found[fold.index] = 100 * low, 100 * high
    return found
