"""The cells of the experiment as one array per kind of tree: 100 AUC over trees × softenings × leaf scores × training sets."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from modelsel.core.spec import kind_of, resolved
from modelsel.core.types import Booleans, Candidate, Floats, Integers
from modelsel.runner.aggregation.results import Results

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
    found: dict[str, dict[Any, dict[tuple[int, int], int]]] = {}
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
