"""Error-based pruning with subtree raising: rows are sent down the branch that may take its parent's place.

Every place of the tree holds the grown node whose test stands there, the rows that arrive and their estimated errors.
Places are judged deepest first; when a branch is raised, its places receive all rows of the parent and are judged anew.
A stack of places does what recursion would, so that depth is no limit.

Quinlan 1993, *C4.5: programs for machine learning*, section 4.1; the largest branch is the last of those that tie.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from modelsel.core.types import Codes, Floats, Integers
from modelsel.kernels.compiler import load
from modelsel.tree.pruning import regrown
from modelsel.tree.routing import NO_POSITIONS as NO_ROWS
from modelsel.tree.routing import NO_WEIGHTS, RerouteState, flat_subsets
from modelsel.tree.structure.cutting import TIE, reached
from modelsel.tree.structure.evidence import Reroute
from modelsel.tree.structure.node import PrunedView

Estimate = Callable[[Floats, Floats], Floats]


@dataclass(eq=False, slots=True)
class RaisePosition:
    """A place in the tree: which grown node stands there, what lies below, who arrives."""

    origin: int
    children: list["RaisePosition"]
    rows: Integers = field(default_factory=lambda: NO_ROWS)
    weights: Floats = field(default_factory=lambda: NO_WEIGHTS)
    counts: Floats = field(default_factory=lambda: NO_WEIGHTS)
    alone: float = 0.0  # estimated errors as a leaf
    errors: float = 0.0  # estimated, of the subtree as it stands

    def preorder(self) -> Iterator["RaisePosition"]:
        """Yield this place and all below, parents first."""
        waiting = [self]
        while waiting:
            place = waiting.pop()
            yield place
            waiting.extend(reversed(place.children))


def raise_subtrees(cut: PrunedView, reroute: Reroute, estimate: Estimate, slack: float) -> PrunedView:
    """The pruned tree: the same one cut back where nothing was raised, else a new one with the counts of the rows moved."""
    judge = SubtreeRaiser(reroute, reroute.target, estimate, slack, len(cut.tree.classes))
    root = _empty_places(cut)
    judge.send(root, np.arange(len(judge.target)), reroute.weights)
    moved = judge.settle(root)
    places = list(root.preorder())
    if not moved:
        leaf = cut.leaf.copy()
        leaf[[place.origin for place in places if not place.children]] = True
        return PrunedView(cut.tree, leaf, cut.prediction, cut.counts)
    counts = np.array([place.counts for place in places])
    return regrown(cut.tree, [place.origin for place in places], _parents(places), counts)


def _empty_places(cut: PrunedView) -> RaisePosition:
    """The places of the cut tree, without rows."""
    root = RaisePosition(0, [])
    waiting = [root]
    while waiting:
        place = waiting.pop()
        if not cut.leaf[place.origin]:
            place.children = [RaisePosition(int(child), []) for child in cut.tree.children(place.origin)]
            waiting.extend(place.children)
    return root


def _parents(places: list[RaisePosition]) -> list[int]:
    """Position of each place's parent, −1 for the root."""
    parent = {id(child): number for number, place in enumerate(places) for child in place.children}
    return [parent.get(id(place), -1) for place in places]


@dataclass(frozen=True, eq=False)
class SubtreeRaiser:
    """Raising in NumPy, the twin of the compiled kernel."""

    reroute: Reroute
    target: Codes
    estimate: Estimate
    slack: float
    classes: int

    def counts(self, rows: Integers, weights: Floats) -> Floats:
        return np.asarray(np.bincount(self.target[rows], weights, self.classes), np.float64)

    def send(self, place: RaisePosition, rows: Integers, weights: Floats) -> None:
        """Let rows arrive at a place and at all below it, and estimate what each would be worth as a leaf."""
        place.rows, place.weights = rows, weights
        places, nothing = list(place.preorder()), np.zeros(self.classes)
        for each in places:
            each.counts = self.counts(each.rows, each.weights) if len(each.rows) else nothing
            if each.children:
                for child, (some, shares) in zip(each.children, self._divide(each, each.rows, each.weights), strict=True):
                    child.rows, child.weights = some, shares
        for each, alone in zip(places, self._as_leaves([each.counts for each in places]).tolist(), strict=True):
            each.alone = alone

    def settle(self, root: RaisePosition) -> bool:
        """Prune and raise, deepest places first; true when anything was raised."""
        moved, waiting = False, list(root.preorder())
        while waiting:
            place = waiting.pop()
            branch = self._judged(place)
            if branch is not None:
                moved = True
                place.origin, place.children = branch.origin, branch.children
                self.send(place, place.rows, place.weights)
                waiting.extend(place.preorder())
        return moved

    def _judged(self, place: RaisePosition) -> RaisePosition | None:
        """Settle one place as leaf or as it stands, or say which branch is to take it."""
        if not place.children:
            place.errors = place.alone
            return None
        place.errors = sum(child.errors for child in place.children)
        bar = place.errors * (1 + TIE) + self.slack
        branch = _largest(place)
        in_its_place = self._as_branch(branch, place.rows, place.weights) if branch.children else place.alone
        if place.alone <= bar and place.alone <= in_its_place * (1 + TIE) + self.slack:
            place.children, place.errors = [], place.alone
            return None
        return branch if in_its_place <= bar else None

    def _as_leaves(self, each: list[Floats]) -> Floats:
        """Estimated errors of leaves with these class weights."""
        counts = np.array(each).reshape(-1, self.classes)
        weight: Floats = counts.sum(axis=1)
        return self.estimate(weight, np.maximum(weight - counts.max(axis=1), 0.0))

    def _as_branch(self, branch: RaisePosition, rows: Integers, weights: Floats) -> float:
        """Estimated errors of a subtree, as it stands, with these rows."""
        leaves, waiting = [], [(branch, rows, weights)]
        while waiting:
            place, some, shares = waiting.pop()
            if not place.children:
                leaves.append(self.counts(some, shares))
            elif len(some):
                divided = self._divide(place, some, shares)
                waiting.extend((child, *part) for child, part in zip(place.children, divided, strict=True))
        return float(self._as_leaves(leaves).sum())

    def _divide(self, place: RaisePosition, rows: Integers, weights: Floats) -> list[tuple[Integers, Floats]]:
        return list(self.reroute.divide(place.origin, rows, weights))


def _largest(place: RaisePosition) -> RaisePosition:
    """The branch with most weight, the last of those that tie."""
    arrived = [child for child in place.children if len(child.rows)] or place.children
    return max(reversed(arrived), key=lambda child: round(float(child.weights.sum()), 9))


# Subtree raising by the compiled kernel, where every training row goes whole; `_raising` does the same row by row.


def raised_by_kernel(
    cut: PrunedView, rows: RerouteState, how: int, charge: tuple[float, float, float], slack: float
) -> PrunedView | None:
    """The pruned tree; None where the kernel cannot tell: a row is divided, or goes by surrogates.

    how, charge: the limit (`kernels.trees.raising`), and its share of almost all, confidence and deviate.
    """
    kernel = load("raising")
    if kernel is None:
        return None
    tree, rule = cut.tree, np.array([*charge, slack, TIE])
    stands, leaf, above, counts, moved = kernel.prune(
        rows.task.values.T, rows.rows, rows.target, rows.weights, _walk_arrays(cut), tree.child, tree.parent, reached(cut),
        cut.leaf, tree.counts, how, rule, _upper(),
    )  # fmt: skip
    if not len(stands):
        return None
    left = np.flatnonzero(stands)
    if not moved:
        marked = cut.leaf.copy()
        marked[left[leaf[left]]] = True
        return PrunedView(tree, marked, cut.prediction, cut.counts)
    place = np.full(len(tree) + 1, -1)
    place[left] = np.arange(len(left))
    return regrown(tree, left.tolist(), place[above[left]].tolist(), counts[left])


def _walk_arrays(cut: PrunedView) -> tuple[object, ...]:
    """Return the arrays by which rows walk the tree."""
    tree = cut.tree
    at, marks = flat_subsets(tree)
    levels = np.array([len(feature.levels) for feature in tree.features], np.int32)
    return (
        tree.test, tree.feature, tree.threshold, tree.first, tree.missing_to, tree.majority, at, marks, levels, tree.size,
    )  # fmt: skip


@cache
def _upper() -> object:
    """The inverse of SciPy's regularised incomplete beta function, as Numba takes functions that it has not compiled."""
    from numba.core.types import WrapperAddressProtocol
    from numba.extending import get_cython_function_address

    from modelsel.kernels.types import upper

    class Address(WrapperAddressProtocol):
        def __wrapper_address__(self) -> int:
            return int(get_cython_function_address("scipy.special.cython_special", "__pyx_fuse_0betaincinv"))

        def signature(self) -> object:
            return upper.signature

    return Address()
