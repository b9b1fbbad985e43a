"""The cells of the experiment as one array per kind of tree: 100 AUC over trees × softenings × leaf scores × training sets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from modelsel.core.spec import kind_of, resolved
from modelsel.core.types import Booleans, Candidate, Floats, Integers
from modelsel.runner.results import Results
from modelsel.statistics.auc import areas

SEARCHED = ("diff", "square", "exptr", "auc")
READ_OFF = ("DR(0)", "DR(1)", "DR(2)", "DR(3)", "DR(4)", "C4.5")
METHODS = ("hard", *READ_OFF, *SEARCHED)
LEAVES = ("frequency", "laplace")
EVEN = 1e-9  # of 100 AUC: sums in another order


@dataclass(frozen=True, eq=False)
class SofteningGrid:
    """`area` on the assessment rows and `held_back` on the rows that judge; NaN where a combination was not asked for."""

    area: Floats  # trees × methods × leaf scores × sets
    held_back: Floats
    splits: Integers  # trees × sets
    candidate: Integers  # trees × methods × leaf scores: position, or −1

    def of(self, method: str, leaf: str = "frequency") -> Floats:
        """Trees × sets."""
        found: Floats = self.area[:, METHODS.index(method), LEAVES.index(leaf)]
        return found

    @property
    def sets(self) -> int:
        return int(self.splits.shape[1])

    @cached_property
    def distinct(self) -> Booleans:
        """Mask, trees × sets, of the first tree of its size and hard area on each training set."""
        found, hard = np.ones(self.splits.shape, bool), self.of("hard")
        for k in range(self.sets):
            seen: set[tuple[int, float]] = set()
            for tree, key in enumerate(zip(self.splits[:, k].tolist(), hard[:, k].round(9).tolist(), strict=True)):
                found[tree, k] = key not in seen
                seen.add(key)
        return found

    def pooled(self, method: str, leaf: str = "frequency") -> Floats:
        """One number per distinct tree of all sets."""
        found: Floats = self.of(method, leaf)[self.distinct]
        return found

    def best(self, method: str) -> Integers:
        """Per set, the tree of largest area; the smaller of equals."""
        area = self.of(method)
        even = area >= area.max(axis=0) - EVEN
        found: Integers = np.where(even, self.splits, np.iinfo(np.int64).max).argmin(axis=0)
        return found

    def best_area(self, method: str) -> Floats:
        found: Floats = self.of(method).max(axis=0)
        return found

    def smallest_not_worse(self, method: str = "auc") -> Integers:
        """Per set, splits of the smallest tree whose softened area is at least that of the best hard one; −1: none."""
        good = self.of(method) >= self.best_area("hard") - EVEN
        least = np.where(good, self.splits, np.iinfo(np.int64).max).min(axis=0)
        return np.where(good.any(axis=0), least, -1)

    def asked(self, *methods: str, leaves: tuple[str, ...] = LEAVES[:1]) -> bool:
        """Say whether there is a number for each tree with each of the methods and leaf scores."""
        return all(bool(np.isfinite(self.of(method, leaf)).all()) for method in methods for leaf in leaves)


def grids(results: Results) -> dict[str, SofteningGrid]:
    """A grid per kind of tree: cart for those of the pruning sequence, c45 for those pruned by errors."""
    found: dict[str, dict[object, dict[tuple[int, int], int]]] = {}
    for position, candidate in enumerate(results.candidates):
        place = _place(candidate)
        if place is not None and results.board.eligible[position]:
            tree = tuple(sorted(resolved(candidate.learner.pruner).items()))
            found.setdefault(place[0], {}).setdefault(tree, {})[place[1:]] = position
    return {name: _grid(results, list(trees.values())) for name, trees in found.items()}


def _place(candidate: Candidate) -> tuple[str, int, int] | None:
    """Kind of tree, method and leaf score; None for a candidate that is none of the experiment's."""
    learner = candidate.learner
    kind = {"deviance_sequence": "cart", "error_based": "c45"}.get(kind_of(getattr(learner, "pruner", None)))
    if kind is None or (method := method_of(learner.softener)) not in METHODS or learner.leaf.score not in LEAVES:
        return None
    return kind, METHODS.index(method), LEAVES.index(learner.leaf.score)


def method_of(softener: Any) -> str:
    """Return the paper's name of a softener.

    >>> from modelsel.core.spec import make
    >>> [method_of(make("softener", kind)) for kind in ("hard", "range_fraction", "c45", "nelder_mead")]
    ['hard', 'DR(1)', 'C4.5', 'auc']
    """
    kind = kind_of(softener)
    if kind == "range_fraction":
        return f"DR({softener.q:g})"
    return str(softener.objective) if kind == "nelder_mead" else {"c45": "C4.5"}.get(kind, kind)


def _grid(results: Results, trees: list[dict[tuple[int, int], int]]) -> SofteningGrid:
    """Fill the arrays from the cells' columns."""
    scores, sets = results.book.scores.columns, len(results.book.work.resampling.folds)
    shape = (len(trees), len(METHODS), len(LEAVES))
    area, held_back = np.full((*shape, sets), np.nan), np.full((*shape, sets), np.nan)
    candidate, splits = np.full(shape, -1), np.zeros((len(trees), sets), np.int64)
    for at, position in _entries(trees):
        area[at], held_back[at] = 100 * scores["score"][position], 100 * scores["held_back"][position]
        candidate[at] = position
        splits[at[0]] = np.rint(scores["complexity"][position]).astype(np.int64) - 1
    return SofteningGrid(area, held_back, splits, candidate)


def _entries(trees: list[dict[tuple[int, int], int]]) -> Iterator[tuple[tuple[int, int, int], int]]:
    for number, tree in enumerate(trees):
        for (method, leaf), position in tree.items():
            yield (number, method, leaf), position


# Two ways of choosing a tree and its softening per training set: by the assessment rows, as the paper does, and without them.
#
# The honest choice takes the largest AUC on the third of the training set that neither grew nor softened the tree. It is made
# before the assessment rows are asked, so that one look at them gives DeLong's interval its meaning; the best of many scores
# on these rows has none.


class ChosenTree(TypedDict):
    """A tree of the grid, softened in a way: its splits, the softening and the leaf score, and its area."""

    splits: int
    method: str
    leaf: str
    area: float


class HonestChoice(ChosenTree):
    """The same with the area on the rows held back, by which it was chosen, and DeLong's interval."""

    held_back: float
    interval: list[float]


class SetChoices(TypedDict):
    """Both choices of a training set."""

    set: int
    paper: ChosenTree
    honest: HonestChoice


def choices(results: Results, grid: SofteningGrid) -> list[SetChoices]:
    """Per training set the paper's choice and the honest one; none where no rows were held back to choose by."""
    if not np.isfinite(grid.held_back).any(axis=(0, 1, 2)).all():
        return []
    honest = [_largest(grid.held_back[..., k], grid.splits[:, k]) for k in range(grid.sets)]
    intervals = _intervals(results, grid, honest)
    return [_set(grid, k, honest[k], intervals[k]) for k in range(grid.sets)]


def _set(grid: SofteningGrid, k: int, honest: tuple[int, int, int], interval: tuple[float, float]) -> SetChoices:
    """Describe both choices of one training set."""
    paper = _largest(grid.area[..., k], grid.splits[:, k])
    return {
        "set": k,
        "paper": _chosen(grid, k, paper),
        "honest": {
            **_chosen(grid, k, honest),
            "held_back": float(grid.held_back[(*honest, k)]),
            "interval": list(interval),
        },
    }


def _chosen(grid: SofteningGrid, k: int, place: tuple[int, int, int]) -> ChosenTree:
    tree, method, leaf = place
    area = float(grid.area[(*place, k)])
    return {"splits": int(grid.splits[tree, k]), "method": METHODS[method], "leaf": LEAVES[leaf], "area": area}


def _largest(area: Floats, splits: NDArray[np.generic]) -> tuple[int, int, int]:
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
