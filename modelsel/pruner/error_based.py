"""Error-based pruning, C4.5's: a leaf is charged the upper confidence limit of its errors.

estimate(leaf) = n · U_CF(e, n). Bottom up, a node becomes a leaf when its estimate ≤ the sum of its branches' + 0.1, unless
its largest branch in its place would do better still: then that branch takes the place and the rows of all (raising).

Quinlan 1993, *C4.5: programs for machine learning*, chapter 4.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from scipy.special import betaincinv, ndtri

from modelsel.core.spec import number, one_of, plain
from modelsel.core.types import AnyTask, Codes, Floats, Integers
from modelsel.kernels.compiler import load_compiled
from modelsel.kernels.layout import BY_BETA, BY_DEVIATE, NOTHING_MORE
from modelsel.pruner.base import CountsErrors, RecomputedPath
from modelsel.tree.cutting import TIE, PruningData, Reroute, cheaper_as_leaf, errors_as_leaf, reached
from modelsel.tree.node import PrunedView
from modelsel.tree.pruning import rearrange
from modelsel.tree.routing import NO_POSITIONS as NO_ROWS
from modelsel.tree.routing import NO_WEIGHTS, RerouteState, flat_subsets

SLACK = 0.1  # of an error: C4.5's preference for the smaller tree


@dataclass(frozen=True)
class ErrorBased(CountsErrors):
    """Leaves may rise as `confidence` falls, so each confidence is pruned afresh, from the counts or the rows."""

    confidence: float = number(0.25, above=0.0, most=1.0, help="one-sided level of the limit; smaller prunes more")
    raising: bool = plain(True, help="the largest branch may take its parent's place")
    bound: str = one_of("normal", "c45_table", "exact", help="how the limit is computed")

    @classmethod
    def kernels(cls, task: AnyTask) -> tuple[str, ...]:
        """Return the files of kernels that it uses, which a study compiles before its cells."""
        return ("raising",)

    def sharing(self) -> tuple[object, ...]:
        return ("error_based", self.raising)

    def path(self, cut: PrunedView, evidence: PruningData) -> RecomputedPath:
        if self.raising and evidence.reroute is None:
            raise ValueError("subtree raising sends rows elsewhere and needs them (Evidence.reroute); or set raising=false")
        return RecomputedPath(cut, evidence)

    def pruned(self, cut: PrunedView, evidence: PruningData) -> PrunedView:
        """The tree left at this confidence; another tree where a branch was raised."""
        if self.raising and evidence.reroute is not None:
            return self._prune_with_raising(cut, evidence.reroute)
        weight: Floats = cut.tree.counts.sum(axis=1)
        estimate = self.estimate(weight, errors_as_leaf(cut.tree.counts, cut.prediction, None))
        return replace(cut, leaf=cheaper_as_leaf(cut, estimate, SLACK))

    def _prune_with_raising(self, cut: PrunedView, rows: Reroute) -> PrunedView:
        """Prune with raising, by the kernel where all rows go whole, else with the rows that are divided."""
        bound = charge(self.bound, self.confidence)
        whole = raise_by_kernel(cut, rows, *bound, SLACK) if isinstance(rows, RerouteState) else None
        return raise_subtrees(cut, rows, self.estimate, SLACK) if whole is None else whole

    def estimate(self, weight: Floats, errors: Floats) -> Floats:
        """Errors expected of leaves of this weight and these errors; 0 for an empty branch."""
        return errors + LIMITS[self.bound](weight, errors, self.confidence)


# Upper confidence limits of a leaf's errors, three ways: what C4.5's pruning adds to the errors it has seen.
#
# Of weight n with e errors, the extra errors at confidence CF are n · U_CF(e, n) − e with U the upper limit of the rate:
# by the normal quantile (Wilson's limit at e + ½), by the same with release 8's interpolated table of deviates, or by the
# binomial distribution (Clopper and Pearson). Below one error all but the last interpolate from n (1 − CF^(1/n)) at e = 0.
#
# Quinlan 1993, *C4.5: programs for machine learning*, section 4.2; Wilson 1927; Clopper and Pearson 1934.

Limit = Callable[[Floats, Floats, float], Floats]
TABLE = ((0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00), (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00))


def normal(n: Floats, e: Floats, confidence: float) -> Floats:
    """Extra errors by the normal quantile; none from CF = ½ on beyond the continuity correction.

    >>> normal(np.array([14.0]), np.array([5.0]), 0.25).round(4)
    array([1.7611])
    """
    if confidence > 0.5:
        return np.zeros_like(n)
    return _extra(n, e, confidence, *_normal(confidence))


def c45_table(n: Floats, e: Floats, confidence: float) -> Floats:
    """Extra errors by release 8's table, linear between its entries."""
    return _extra(n, e, confidence, *_c45_table(confidence))


def exact(n: Floats, e: Floats, confidence: float) -> Floats:
    """Extra errors by the binomial distribution; fractions by the incomplete beta function."""
    possible = e < n
    room = np.where(possible, n - e, 1.0)
    rate = np.asarray(betaincinv(e + 1.0, room, 1.0 - confidence), np.float64)
    return np.where(possible, np.maximum(n * rate - e, 0.0), 0.0)


def _extra(n: Floats, e: Floats, confidence: float, deviate: float, almost_all: float) -> Floats:
    none = n * (1.0 - confidence ** (1.0 / np.maximum(n, 1e-300)))
    one = _wilson(n, np.ones_like(n), deviate, almost_all)
    return np.where(e < 0.9999, none + e * (one - none), _wilson(n, e, deviate, almost_all))


def _wilson(n: Floats, e: Floats, deviate: float, almost_all: float) -> Floats:
    """Wilson's limit at e + ½; where that exceeds n, the share `almost_all` of what is left."""
    square, most = deviate**2, e + 0.5 < n
    safe = np.where(most, n, e + 1.0)
    f = (e + 0.5) / safe
    spread = deviate * np.sqrt(f / safe - f * f / safe + square / (4.0 * safe * safe))
    limit = safe * (f + square / (2.0 * safe) + spread) / (1.0 + square / safe)
    return np.where(most, limit - e, almost_all * np.maximum(n - e, 0.0))


def _normal(confidence: float) -> tuple[float, float]:
    """The deviate, and the share of almost all."""
    return float(-ndtri(confidence)), 1.0


def _c45_table(confidence: float) -> tuple[float, float]:
    return float(np.interp(confidence, *TABLE)), 0.67


def charge(bound: str, confidence: float) -> tuple[int, tuple[float, float, float]]:
    """Return the bound as compiled pruning takes it: which way, and the share of almost all, confidence and deviate."""
    if bound == "exact" or (bound == "normal" and confidence > 0.5):
        return (BY_BETA if bound == "exact" else NOTHING_MORE), (1.0, confidence, 0.0)
    deviate, almost_all = _normal(confidence) if bound == "normal" else _c45_table(confidence)
    return BY_DEVIATE, (almost_all, confidence, deviate)


LIMITS: dict[str, Limit] = {"normal": normal, "c45_table": c45_table, "exact": exact}


# Error-based pruning with subtree raising: rows are sent down the branch that may take its parent's place.
#
# Every place of the tree holds the grown node whose test stands there, the rows that arrive and their estimated errors.
# Places are judged deepest first; when a branch is raised, its places receive all rows of the parent and are judged anew.
# A stack of places does what recursion would, so that depth is no limit.
#
# Quinlan 1993, *C4.5: programs for machine learning*, section 4.1; the largest branch is the last of those that tie.


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
    return rearrange(cut.tree, [place.origin for place in places], _parents(places), counts)


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
    """Raising in NumPy, row by row."""

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
            branch = self._judge(place)
            if branch is not None:
                moved = True
                place.origin, place.children = branch.origin, branch.children
                self.send(place, place.rows, place.weights)
                waiting.extend(place.preorder())
        return moved

    def _judge(self, place: RaisePosition) -> RaisePosition | None:
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


def raise_by_kernel(
    cut: PrunedView, rows: RerouteState, how: int, charge: tuple[float, float, float], slack: float
) -> PrunedView | None:
    """The pruned tree; None where the kernel cannot tell: a row is divided, or goes by surrogates.

    how, charge: the limit (`kernels.trees.raising`), and its share of almost all, confidence and deviate.
    """
    kernel = load_compiled("raising")
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
    return rearrange(tree, left.tolist(), place[above[left]].tolist(), counts[left])


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
