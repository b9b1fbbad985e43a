"""What all good trees share: which columns small trees can test that err hardly more in training than the best of their depth.

    good:     training errors ≤ least training errors + ε, every leaf of at least `min_leaf` weight
    skeleton: the columns that the root and its sides test, whatever the thresholds

Neighbouring thresholds make millions of good trees out of one finding, so that skeletons are listed and trees not counted. A
column is needed where the best tree without it is not good, and of no use where the best tree with it is not good. A search
that came to its end knows both; after one that met its limit the columns of all trees found are left out in turn, and what is
not known is said. Source: Xin et al. (2022) on sets of good trees.
"""

import heapq
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import and_, or_
from typing import NamedTuple

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Booleans, ClassTask, Integers, positions, readable
from modelsel.kernels.compiler import load
from modelsel.learner.optimal_tree import NEVER, Node, OptimalPath, OptimalTree

# Which columns good trees test: skeletons of two and of three levels, from the searches of an optimal tree.
#
# Of two levels a kernel lists them. Of three, the cuts of the root that two good sides may have are found first: a cut between
# two that were looked at costs at least what the left of the one and the right of the other cost, so that few are looked at. Of
# each of them the skeletons of both sides are listed, as far as they leave the other side its best, and joined.


COLUMN = 1 << 32  # place of a cut: column × this + rank, as the kernel writes it
KEPT = 10_000  # skeletons
JOIN = 500  # steps that joining two sides takes

Side = int | None | tuple[int, "Side", "Side"]  # what a side tests: nothing, a column once, or a skeleton of its own
Tests = tuple[int, Side, Side]
Places = tuple[int, "Places | None", "Places | None"]  # where tests cut; None: where it is best


def columns_of(side: Side) -> frozenset[int]:
    """The columns that a side tests."""
    return frozenset(names_in(side))


def names_in(side: Side) -> Iterator[int]:
    """Yield the column of every test of a side, the upper ones first."""
    if isinstance(side, tuple):
        for one in side:
            yield from names_in(one)
    elif side is not None:
        yield side


class Skeleton(NamedTuple):
    """The features that a tree tests (root, left, right; None: a leaf), its least share of errors, where its tests cut."""

    features: Tests
    errors: float
    places: Places

    @property
    def used(self) -> frozenset[int]:
        return columns_of(self.features)


@dataclass(frozen=True)
class GoodSkeletons:
    """The best of those found, `found` at least; columns that all of them, and that some of them test."""

    skeletons: list[Skeleton]
    every: frozenset[int]
    some: frozenset[int]
    ended: bool
    found: int


class Half(NamedTuple):
    """What one side of a cut may test: its cost, its columns as bits, its tests and their places."""

    cost: int
    bits: int
    side: Tests | None
    places: Places | None


class Cut(NamedTuple):
    """A cut of the root: least cost of both sides together, column, rank, least cost of either."""

    cost: int
    column: int
    rank: int
    sides: tuple[int, int]


@dataclass(eq=False)
class SkeletonSearch:
    """Skeletons of good trees, and a tree of each.

    Parameters
    ----------
    path : OptimalPath
        Of a task of classes, by errors.
    depth : int
        Levels of tests: 2 or 3.
    within : float
        Share of the weight by which good trees may have more errors than the best.
    """

    path: OptimalPath
    depth: int
    within: float

    @cached_property
    def most(self) -> int:
        """Errors of a good tree, at most, in whole steps of weight."""
        total = int(self.path.costs.weights.sum())
        best = round(float(self.path.front(self.depth)[0][-1]) * total)
        return best + int(np.floor(self.within * total + 1e-9))

    def good(self) -> GoodSkeletons:
        """List the skeletons that have a good tree; where the limit was met, those found until then."""
        work, total = np.array([0, self.path.limit], np.int64), float(self.path.costs.weights.sum())
        if self.depth == 2:
            halves = self._list_halves(np.arange(len(self.path.class_costs.labels)), self.most, work)
            kept = {one.side: (one.cost, one.places) for one in halves if one.side is not None and one.places is not None}
            every, some = (reduce(join, [one.bits for one in halves], start) for join, start in ((and_, -1), (or_, 0)))
            ended, found = bool(work[0] < work[1]), len(kept)
        else:
            kept, every, some, ended, found = self._three(work)
        skeletons = [Skeleton(side, cost / total, places) for side, (cost, places) in kept.items()]
        skeletons.sort(key=self._rank)
        return GoodSkeletons(skeletons[:KEPT], _columns(every) if kept else frozenset(), _columns(some), ended, found)

    def _rank(self, one: Skeleton) -> tuple[object, ...]:
        """Few errors first, then few tests, then by name."""
        names = [each.name for each in self.path.task.features]
        return one.errors, len(list(names_in(one.features))), _spell(one.features, names)

    def _three(self, work: Integers) -> tuple[dict[Tests, tuple[int, Places]], int, int, bool, int]:
        """Skeletons of three levels with their costs and places; columns of all and of some as bits."""
        kept: dict[Tests, tuple[int, Places]] = {}
        every, some, more = -1, 0, False
        cuts, ended = self._roots(work)
        for one in cuts:
            if work[0] >= work[1]:
                return kept, every, some, False, KEPT if more else len(kept)
            left = self.path.ranks[one.column] <= one.rank
            on_left = self._halves(np.flatnonzero(left), self.most - one.sides[1], work)
            on_right = self._halves(np.flatnonzero(~left), self.most - one.sides[0], work)
            root = self.path.columns[one.column].feature
            for a, b in self._pairs(on_left, on_right, work):
                cost = a.cost + b.cost if a.side is not None or b.side is not None else self._least_errors_of_two(left)
                if cost > self.most:
                    continue
                bits = a.bits | b.bits | 1 << root
                every, some, key = every & bits, some | bits, (root, a.side, b.side)
                if key not in kept or cost < kept[key][0]:
                    kept[key] = cost, (one.column * COLUMN + one.rank, a.places, b.places)
            if len(kept) > 2 * KEPT:
                order = sorted(kept, key=lambda side: (kept[side][0], str(side)))
                kept, more = {side: kept[side] for side in order[:KEPT]}, True
        return kept, every, some, ended and bool(work[0] < work[1]), KEPT if more else len(kept)

    def _pairs(self, left: list[Half], right: list[Half], work: Integers) -> Iterator[tuple[Half, Half]]:
        """Yield what may stand on both sides of one cut."""
        right = sorted(right, key=lambda half: half.cost)
        for a in left if right else ():
            if work[0] >= work[1]:
                return
            for b in right:
                if a.cost + b.cost > self.most:
                    break
                work[0] += JOIN
                yield a, b

    def _roots(self, work: Integers) -> tuple[list[Cut], bool]:
        """Cuts of the root that have a good tree, best first; False where half of the work was not enough to find all."""
        path = self.path
        cuts = [np.unique(ranks)[:-1] for ranks in path.ranks]
        waiting = [(0, column, 0, len(own), 0, 0) for column, own in enumerate(cuts) if len(own)]
        found: list[Cut] = []
        while waiting and waiting[0][0] <= self.most:
            if work[0] >= work[1] // 2:
                return sorted(found), False
            _, column, begin, end, from_left, from_right = heapq.heappop(waiting)
            middle = (begin + end) // 2
            left = path.ranks[column] <= cuts[column][middle]
            sides = [path.two_levels(np.flatnonzero(rows), work) for rows in (left, ~left)]
            weights = path.costs.weights
            heavy = min(weights[left].sum(), weights[~left].sum()) >= path.least
            cost = sides[0][0] + sides[1][0]
            if heavy and cost <= self.most:
                found.append(Cut(cost, column, int(cuts[column][middle]), (sides[0][0], sides[1][0])))
            low_left, low_right = max(sides[0][1], from_left), max(sides[1][1], from_right)
            for start, stop, one, other in ((begin, middle, from_left, low_right), (middle + 1, end, low_left, from_right)):
                if start < stop and one + other <= self.most:
                    heapq.heappush(waiting, (one + other, column, start, stop, one, other))
        return sorted(found), True

    def _halves(self, rows: Integers, most: int, work: Integers) -> list[Half]:
        """What a side may test, a leaf included, with at most so many errors."""
        counts = np.bincount(self.path.class_costs.labels[rows], self.path.costs.weights[rows])
        alone = int(counts.sum() - counts.max())
        return [*([Half(alone, 0, None, None)] if alone <= most else []), *self._list_halves(rows, most, work)]

    def _least_errors_of_two(self, left: Booleans) -> int:
        """Least errors of two leaves of different classes."""
        labels, weights, classes = self.path.class_costs.labels, self.path.costs.weights, len(self.path.task.class_names)
        one, other = (np.bincount(labels[rows], weights[rows], classes) for rows in (left, ~left))
        right = one[:, None] + other[None, :]
        np.fill_diagonal(right, -1)
        return int(weights.sum() - right.max())

    def _list_halves(self, rows: Integers, most: int, work: Integers) -> list[Half]:
        """Skeletons of two levels on some rows with at most so many errors, from the kernel."""
        path, features = self.path, len(self.path.task.features)
        if not path.columns or len(rows) < 2:
            return []
        owner = np.array([one.feature for one in path.columns], np.int64)
        table = np.full((features, (features + 1) ** 2), NEVER, np.int64)
        place, at = np.full_like(table, -1), np.full(len(path.class_costs.labels), -1, np.int64)
        at[rows] = np.arange(len(rows))
        order = at[path.order[:, : len(owner)]].T
        order = np.ascontiguousarray(order[order >= 0].reshape(len(owner), len(rows)).T)
        load("skeletons").skeletons(
            order, np.ascontiguousarray(path.ranks[:, rows]), path.class_costs.labels[rows], path.costs.weights[rows], owner,
            len(path.task.class_names), path.least, most, work, table, place,
        )  # fmt: skip
        found = []
        for root, pair in np.argwhere(table <= most).tolist():
            left, right = (None if side == features else side for side in divmod(pair, features + 1))
            bits = 1 << root | sum(1 << side for side in {left, right} if side is not None)
            found.append(Half(int(table[root, pair]), bits, (root, left, right), (int(place[root, pair]), None, None)))
        return found

    def nodes_of(self, skeleton: Skeleton) -> list[Node]:
        """Find the nodes of a tree of least training errors among those of a skeleton."""
        nodes: list[Node] = []
        self._append(nodes, -1, np.arange(len(self.path.class_costs.labels)), skeleton.features, skeleton.places)
        return nodes

    def _append(self, nodes: list[Node], parent: int, rows: Integers, side: Side, places: Places | None) -> None:
        """Append the nodes of a side whose place is known, or the best test on a column, or a leaf."""
        if places is None or not isinstance(side, tuple):
            self._append_stump(nodes, parent, rows, side)
            return
        at, cut = divmod(places[0], COLUMN)
        left, own = self.path.ranks[at][rows] <= cut, len(nodes)
        nodes.append(Node(parent, rows, at, self.path.test_of(self.path.columns[at], cut, rows, left)))
        for below, one, place in zip((rows[left], rows[~left]), side[1:], places[1:], strict=True):
            self._append(nodes, own, below, one, place)

    def _append_stump(self, nodes: list[Node], parent: int, rows: Integers, feature: Side) -> None:
        """Append a leaf, or the test on a feature whose two leaves, of different classes, err least."""
        best: tuple[int, int, int] | None = None
        for at, column in enumerate(self.path.columns if feature is not None else ()):
            if column.feature == feature:
                table = self.path.costs.sums(column.ranks[rows], rows)
                present = np.flatnonzero(table.sum(axis=1))[:-1]
                below = table.cumsum(axis=0)[present]
                for cut, one in zip(present.tolist(), below, strict=True):
                    other = table.sum(axis=0) - one
                    pairs = one[:, None] + other[None, :]
                    np.fill_diagonal(pairs, -1)
                    heavy = min(one.sum(), other.sum()) >= self.path.least
                    best = max(best or (-1, 0, 0), (int(pairs.max()), -at, -cut)) if heavy else best
        if best is None:
            nodes.append(Node(parent, rows))
            return
        at, cut = -best[1], -best[2]
        left, place = self.path.columns[at].ranks[rows] <= cut, len(nodes)
        nodes.append(Node(parent, rows, at, self.path.test_of(self.path.columns[at], cut, rows, left)))
        nodes.extend(Node(place, side) for side in (rows[left], rows[~left]))


def _spell(side: Side, names: list[str]) -> tuple[str, ...]:
    """Names in the order of the tests, nothing for a leaf."""
    if isinstance(side, tuple):
        return tuple(name for one in side for name in _spell(one, names))
    return ("" if side is None else names[side],)


def _columns(bits: int) -> frozenset[int]:
    """The columns whose bits are set."""
    return frozenset(at for at in range(bits.bit_length()) if bits >> at & 1)


LEAF = "a leaf"
DEPTHS = {2: "two", 3: "three"}
TOLD = 10  # skeletons and columns that the text names


@dataclass(frozen=True)
class GoodSkeleton:
    """The columns of root, left and right side ("a leaf" where nothing is tested), and the share of wrong training weight.

    A side of a tree of three levels reads as a skeleton of its own.
    """

    columns: tuple[str, str, str]
    errors: float

    def __str__(self) -> str:
        root, left, right = self.columns
        return f"{root} (then {left}; {right})"


@dataclass(frozen=True)
class Alternatives:
    """The good trees of two or three levels, by their columns.

    Parameters
    ----------
    rows : int
        Development rows.
    best : float
        Least share of wrong training weight.
    within : float
        Share by which good trees may be worse.
    min_leaf : float
        Weight of every leaf, at least.
    skeletons : tuple of GoodSkeleton
        Those that have a good tree, best first, 10,000 at most; where the search did not end, of those that were found.
    needed : tuple of str
        Columns that every good tree tests.
    unused : tuple of str
        Columns that no good tree tests.
    different : tuple of str
        Good trees whose columns differ most, as text: the best first.
    ended : bool
        Whether all were looked through; if not, nothing is said of what is unused.
    depth : int
        Levels of tests.
    found : int
        Skeletons that were found, at least.
    unknown : tuple of str
        Columns of which it is not known whether all good trees test them, or none.

    Examples
    --------
    >>> outcome.alternatives(within=0.1).needed  # doctest: +SKIP
    ('Outlook',)
    """

    rows: int
    best: float
    within: float
    min_leaf: float
    skeletons: tuple[GoodSkeleton, ...]
    needed: tuple[str, ...]
    unused: tuple[str, ...]
    different: tuple[str, ...]
    ended: bool
    depth: int = 2
    found: int = 0
    unknown: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def alternatives(
    task: ClassTask, within: float = 0.01, min_leaf: float = 5, limit: int | None = 20_000, depth: int = 2
) -> Alternatives:
    """Look through the trees of two or three levels on all rows of a task.

    Parameters
    ----------
    task : ClassTask
        Rows and classes.
    within : float
        Share of the weight by which a good tree may have more errors than the best.
    min_leaf : float
        Weight of every leaf, at least.
    limit : int, optional
        Millions of steps; None: to the end.
    depth : int
        Levels of tests, 2 or 3.

    Returns
    -------
    Alternatives
        What they share, and three that differ most.
    """
    learner = OptimalTree(max_depth=depth, missing="branch", min_leaf=min_leaf, limit=limit)
    path = learner.fit_path(task, positions(task), np.random.default_rng(0))
    search = SkeletonSearch(path, depth, within)
    good, names = search.good(), [one.name for one in readable(task).features]
    errors = path.front(depth)[0]
    most, best = search.most / float(path.costs.weights.sum()), float(errors[-1])
    every = frozenset[int]() if float(errors[0]) <= most + 1e-12 else good.every
    spared = {} if good.ended else {at: _is_needed(learner, task, at, most) for at in every}
    needed = [at for at in sorted(every) if good.ended or spared[at]]
    absent = [at for at in range(len(names)) if at not in good.some]
    open_ones = [] if good.ended else sorted({*absent, *(at for at in every if spared[at] is None)})
    return Alternatives(
        rows=len(task), best=best, within=within, min_leaf=min_leaf,
        skeletons=tuple(GoodSkeleton(_column_names(one, names), one.errors) for one in good.skeletons),
        needed=tuple(names[at] for at in needed), unused=tuple(names[at] for at in absent) if good.ended else (),
        different=tuple(path.text(search.nodes_of(one)) for one in _most_different(good.skeletons)), ended=good.ended,
        depth=depth,
        found=good.found, unknown=tuple(names[at] for at in open_ones),
    )  # fmt: skip


def _is_needed(learner: OptimalTree, task: ClassTask, column: int, most: float) -> bool | None:
    """Whether no tree without a column is good; None where its search met the limit before that was known."""
    rest = without(task, column)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a search that met its limit: None says it
        errors, bound = learner.fit_path(rest, positions(rest), np.random.default_rng(0)).front(learner.max_depth)
    if errors[-1] <= most + 1e-12:
        return False
    return True if bound[-1] > most + 1e-12 else None


def check_search(within: float, depth: int) -> None:
    """Raise ConfigurationError for an ε that is not a share of rows, or for other levels than two and three."""
    if depth not in DEPTHS:
        fix = "take 2 or 3"
        raise ConfigurationError(Problem("MSEL-292", f"good trees of {depth} levels are not searched", "--depth", fix))
    if not 0 <= within < 1:
        fix = "write a share such as 0.01"
        raise ConfigurationError(Problem("MSEL-292", f"{within:g} is not a share of rows", "--within", fix))


def without(task: ClassTask, column: int) -> ClassTask:
    """The task without one of its columns."""
    kept = [at for at in range(len(task.features)) if at != column]
    features = tuple(task.features[at] for at in kept)
    return replace(task, features=features, values=np.asfortranarray(task.values[:, kept]))


def _column_names(one: Skeleton, names: Sequence[str]) -> tuple[str, str, str]:
    root, left, right = (_side(side, names) for side in one.features)
    return root, left, right


def _side(side: Side, names: Sequence[str]) -> str:
    """A column, a leaf, or a column and what its sides test."""
    if isinstance(side, tuple):
        root, left, right = side
        below = "" if left is right is None else f" [{_side(left, names)}; {_side(right, names)}]"
        return f"{names[root]}{below}"
    return LEAF if side is None else names[side]


def _most_different(found: Sequence[Skeleton]) -> list[Skeleton]:
    """The best skeleton, then that with the fewest columns of those taken before (Jaccard), of equals the better."""
    taken, left = list(found[:1]), list(found[1:])
    while left and len(taken) < 3:
        far = max(left, key=lambda one: min(_distance(one, other) for other in taken))
        if min(_distance(far, other) for other in taken) == 0:
            break
        taken.append(far)
        left.remove(far)
    return taken


def _distance(one: Skeleton, other: Skeleton) -> float:
    return 1 - len(one.used & other.used) / len(one.used | other.used)


def _lines(found: Alternatives) -> list[str]:
    """Yield the lines that `modelsel explain RUN --alternatives` prints."""
    rows = f"{found.rows:,} development rows"
    said = [
        f"trees of {DEPTHS[found.depth]} levels on {rows}, leaves of at least {found.min_leaf:g}: the best has",
        f"{found.best:.4f} wrong in training; good are those with at most {found.best + found.within:.4f}.",
        "Training errors flatter all of them.",
        "",
    ]
    if not found.ended:
        said += ["the search met its limit (--limit): there may be others, and what none tests is not known"]
        said += [f"every good tree tests    {_few(found.needed)}, as searches without it say"] if found.needed else []
        said += [f"not known of             {_few(found.unknown)}"] if found.unknown else []
    else:
        said += [
            f"every good tree tests    {_few(found.needed) or 'no column in common: each can be done without'}",
            f"no good tree tests       {_few(found.unused) or 'none: every column has a good tree'}",
        ]
    if found.skeletons:
        said += ["columns, with a good tree each (root, then its left and its right side):"]
        said += [f"  {one.errors:.4f}  {one}" for one in found.skeletons[:TOLD]]
        said += [f"  ... and {found.found - TOLD:,} more"] if found.found > TOLD else []
    if len(found.different) > 1:
        said += ["", "good trees whose columns differ most:"]
        said += [line for text in found.different for line in ("", *(f"  {line}" for line in text.splitlines()))]
    return said


def _few(names: Sequence[str]) -> str:
    more = f", and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return f"{', '.join(names[:TOLD])}{more}"
