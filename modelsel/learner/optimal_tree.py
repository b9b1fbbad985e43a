"""Optimal tree: of all trees of a depth, one of least training errors plus a price per leaf.

    min over trees of depth ≤ d:   Σ w_i [wrong_i] / Σ w_i + λ · leaves

One search per depth finds the least errors for every number of leaves, and so answers every λ. Numbers are cut between any
two values that are present, names by one level against the rest. Ties: fewer leaves; of tests above two leaves less log loss,
then the wider gap; higher up the column whose class counts come first in a fixed order, which knows no places.
Sources: Bertsimas & Dunn (2017); Demirović et al. (2022); Brița et al. (2025).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from warnings import warn

import numpy as np

from modelsel.core.spec import number, plain, whole
from modelsel.core.types import Booleans, ClassTask, Description, Floats, Integers, Outputs, Table
from modelsel.kernels.compiler import load, wanted
from modelsel.kernels.layout import EQUALITY, LEAF, SUBSET, THRESHOLD
from modelsel.learner.base import BaseLearner, SingleFit
from modelsel.learner.trees.leaf import Leaf, leaf_scores
from modelsel.learner.trees.model import TreeModel, restore
from modelsel.tree.growing.assemble import midpoint
from modelsel.tree.pruning import best_class
from modelsel.tree.structure.node import DecisionTree, PrunedView

POLICIES = ("impute", "level", "branch")
LANES = 16  # columns are filled up to a multiple, for whole registers
MILLION = 1_000_000
SMALL, LARGE = 1 << 15, 1 << 30  # total weights up to which sums fit into 16 and 32 bits
UNLIMITED = NEVER = 1 << 60
COMPILED = "the search has compiled kernels alone, and MODELSEL_KERNELS=python or a failed compilation leaves them out"


@dataclass(frozen=True)
class OptimalTree(BaseLearner):
    """Path parameters: `max_depth`, `leaf_price`, `leaf`."""

    max_depth: int = whole(3, least=0, most=4, help="levels of tests; each multiplies the work by columns × values")
    leaf_price: float = number(0.0, least=0.0, help="λ: share of the analysis weight that a further leaf has to save")
    missing: str = plain("impute", help="impute: median or usual level; level: missing is a level; branch: sent either way")
    min_leaf: float = number(1, above=0.0, help="weight that either side of a test must have")
    limit: int | None = whole(20_000, least=1, help="millions of steps per depth; then the best found, and its bound")
    leaf: Leaf = plain(Leaf())

    unit = "leaves"
    holds_gil = False

    def problems(self, task: Table | None = None) -> Iterator[str]:
        """Yield what is wrong with the settings, or with these features."""
        if self.missing not in POLICIES:
            why = "; rows that are divided or follow surrogates make sides that are not nested, which the bounds need"
            yield f"missing is one of {', '.join(POLICIES)}, not {self.missing!r}{why}"
        if not wanted():
            yield COMPILED
        yield from self.leaf.problems(len(task.classes) if isinstance(task, ClassTask) else None)

    def fit_key(self) -> dict[str, object]:
        """Return the settings that the search depends on."""
        return {"kind": "optimal_tree", "missing": self.missing, "min_leaf": self.min_leaf, "limit": self.limit}

    def fit_path(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "OptimalPath":
        return OptimalPath(self, task, rows)

    def fit(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> TreeModel:
        return self.fit_path(task, rows, rng).model(self)

    def complexity(self, model: TreeModel) -> float:
        return float(model.n_leaves)

    @staticmethod
    def restore(description: Description) -> TreeModel:
        return restore(description)


class Column(NamedTuple):
    """A chain of nested tests: rows of rank ≤ c go left. `missing`: the side of missing values, None: the heavier; `usual`."""

    feature: int
    test: int
    ranks: Integers
    level: float = np.nan  # EQUALITY
    missing: int | None = None
    usual: float = np.nan  # what a missing value is taken for


class Front(NamedTuple):
    """Per number of leaves (from 1): least errors found, proven bound, the root's test (column, rank, leaves left), levels.

    A search that met its limit may have found less than the one of a level less: then that tree, of fewer levels, is taken.
    """

    errors: Integers
    bound: Integers
    chosen: Integers
    levels: Integers

    def or_shallower(self, other: "Front") -> "Front":
        """Each number of leaves by the search that found fewer errors; of equals by this one."""
        beyond = len(self.errors) - len(other.errors)
        errors, levels = (np.append(of, np.full(beyond, of[-1])) for of in (other.errors, other.levels))
        better = errors < self.errors
        return Front(np.where(better, errors, self.errors), self.bound, self.chosen, np.where(better, levels, self.levels))


class Skeleton(NamedTuple):
    """The features that a tree of two levels tests (root, left, right; None: a leaf), and its least training errors."""

    features: tuple[int, int | None, int | None]
    errors: float
    place: int

    @property
    def used(self) -> frozenset[int]:
        return frozenset(one for one in self.features if one is not None)


class Node(NamedTuple):
    """A node as built: its rows, and its test where it has one."""

    parent: int
    rows: Integers
    column: int
    threshold: float
    missing_to: int


@dataclass(eq=False)
class OptimalPath:
    """One search per depth answers every price of a leaf; a depth is searched when it is first asked for."""

    learner: OptimalTree
    task: ClassTask
    rows: Integers
    _fronts: dict[int, Front] = field(default_factory=dict)
    _trees: dict[tuple[int, int], PrunedView] = field(default_factory=dict)

    def outputs(self, learners: Sequence[OptimalTree], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Return what each learner's tree answers for some rows of a table."""
        asked = [
            SingleFit(each, self.model(each), self.task, self.rows).outputs([each], table, rows, scores) for each in learners
        ]
        shares = np.concatenate([one.scores for one in asked if one.scores is not None]) if scores else None
        return Outputs(np.concatenate([one.predicted for one in asked]), shares)

    def complexity(self, learners: Sequence[OptimalTree]) -> Floats:
        return np.array([np.count_nonzero(self._tree(each).leaf) for each in learners], np.float64)

    def training_error(self, learners: Sequence[OptimalTree]) -> Floats:
        path = [SingleFit(each, self.model(each), self.task, self.rows).training_error([each]) for each in learners]
        return np.concatenate(path)

    def model(self, learner: OptimalTree) -> TreeModel:
        cut = self._tree(learner)
        return TreeModel(cut, leaf_scores(cut, learner.leaf))

    def front(self, depth: int) -> tuple[Floats, Floats]:
        """Least training errors and their proven bounds, as shares of the weight, for 1 … 2^depth leaves.

        Parameters
        ----------
        depth : int
            Levels of tests.

        Returns
        -------
        tuple of Floats
            Errors of the best trees found; what no tree of so many leaves can go below.
        """
        found = self._front(depth)
        return found.errors / self._weights.sum(), found.bound / self._weights.sum()

    def skeletons(self, within: float) -> tuple[list[Skeleton], bool]:
        """Which columns trees of depth 2 can test that have hardly more training errors than the best.

        Parameters
        ----------
        within : float
            Share of the weight by which they may have more.

        Returns
        -------
        tuple
            Every skeleton that has such a tree, best first; False where the limit was met before all were found.
        """
        features, total = len(self.task.features), int(self._weights.sum())
        most = int(self._front(2).errors[-1] + np.floor(within * total + 1e-9))
        table = np.full((features, (features + 1) ** 2), NEVER, np.int64)
        place, work = np.full_like(table, -1), np.array([0, self._limit], np.int64)
        kernels = load("skeletons")
        if kernels is None:
            raise RuntimeError(COMPILED)
        if self._columns:
            owner = np.array([one.feature for one in self._columns], np.int64)
            order = np.ascontiguousarray(self._order[:, : len(owner)])
            kernels.skeletons(
                order,
                self._ranks,
                self._labels,
                self._weights,
                owner,
                len(self.task.classes),
                self._least,
                most,
                work,
                table,
                place,
            )
        found = []
        for root, at in np.argwhere(table <= most).tolist():
            left, right = (None if side == features else side for side in divmod(at, features + 1))
            found.append(Skeleton((root, left, right), float(table[root, at]) / total, int(place[root, at])))
        found.sort(key=lambda one: (one.errors, len([side for side in one.features if side is not None]), self._names(one)))
        return found, bool(work[0] < work[1])

    def _names(self, skeleton: Skeleton) -> tuple[str, ...]:
        return tuple("" if side is None else self.task.features[side].name for side in skeleton.features)

    def tree_of(self, skeleton: Skeleton) -> PrunedView:
        """A tree of least training errors among those of a skeleton."""
        everyone = np.arange(len(self._labels))
        root, cut = divmod(skeleton.place, len(everyone))
        left = self._columns[root].ranks <= cut
        nodes = [Node(-1, everyone, root, *self._test(self._columns[root], everyone, left))]
        for side, feature in zip((everyone[left], everyone[~left]), skeleton.features[1:], strict=True):
            self._append_stump(nodes, side, feature)
        return self._assembled(nodes)

    def _append_stump(self, nodes: list[Node], rows: Integers, feature: int | None) -> None:
        """Append a leaf, or the test on a feature whose two leaves, of different classes, err least."""
        best: tuple[int, int, int] | None = None
        for at, column in enumerate(self._columns if feature is not None else ()):
            if column.feature == feature:
                table = self._table(column.ranks[rows], rows)
                present = np.flatnonzero(table.sum(axis=1))[:-1]
                below = table.cumsum(axis=0)[present]
                for cut, one in zip(present.tolist(), below, strict=True):
                    other = table.sum(axis=0) - one
                    pairs = one[:, None] + other[None, :]
                    np.fill_diagonal(pairs, -1)
                    heavy = min(one.sum(), other.sum()) >= self._least
                    best = max(best or (-1, 0, 0), (int(pairs.max()), -at, -cut)) if heavy else best
        if best is None:
            nodes.append(Node(0, rows, -1, np.nan, 0))
            return
        at, cut = -best[1], -best[2]
        left, place = self._columns[at].ranks[rows] <= cut, len(nodes)
        nodes.append(Node(0, rows, at, *self._test(self._columns[at], rows, left)))
        nodes.extend(Node(place, side, -1, np.nan, 0) for side in (rows[left], rows[~left]))

    @property
    def _least(self) -> int:
        """The scaled weight that either side of a test must have."""
        return max(1, int(np.ceil(self.learner.min_leaf * self._scale - 1e-9)))

    def _front(self, depth: int) -> Front:
        """The front of all rows, searched once; a search that met its limit is told by a warning."""
        new = depth not in self._fronts
        found = self._search(depth)
        if new and found.bound[-1] < found.errors[-1]:
            shares = (side[-1] / self._weights.sum() for side in found[:2])
            warn(_unproven(depth, self.learner.limit, *shares), stacklevel=2)
        return found

    def _search(self, depth: int) -> Front:
        """The front of one depth, searched when it is first asked for; never worse than that of a level less."""
        if depth not in self._fronts:
            found = self._solve(np.arange(len(self._labels)), depth, self._limit)
            if depth and found.bound[-1] < found.errors[-1]:
                found = found.or_shallower(self._search(depth - 1))
            self._fronts[depth] = found
        return self._fronts[depth]

    def _tree(self, learner: OptimalTree) -> PrunedView:
        """The tree of a learner: of equal costs the one of fewer leaves."""
        front = self._front(learner.max_depth)
        cost = front.errors / self._weights.sum() + learner.leaf_price * np.arange(1, len(front.errors) + 1)
        leaves = int(np.flatnonzero(cost <= cost.min() + 1e-12)[0]) + 1
        key = learner.max_depth, leaves
        if key not in self._trees:
            nodes: list[Node] = []
            levels = int(front.levels[leaves - 1])
            own = self._search(levels)
            self._build(nodes, -1, np.arange(len(self._labels)), levels, min(leaves, len(own.errors)), own)
            self._trees[key] = self._assembled(nodes)
        return self._trees[key]

    @property
    def _limit(self) -> int:
        return UNLIMITED if self.learner.limit is None else self.learner.limit * MILLION

    @cached_property
    def _seen(self) -> tuple[Integers, Floats]:
        """Distinct analysis rows that have weight, and their weights: a row drawn twice weighs twice."""
        drawn = np.bincount(self.rows, minlength=len(self.task)) * self.task.row_weights
        kept = np.flatnonzero(drawn > 0)
        return kept, drawn[kept]

    @cached_property
    def _labels(self) -> Integers:
        return self.task.target[self._seen[0]].astype(np.int64)

    @cached_property
    def _scale(self) -> float:
        """What weights are multiplied by to be whole numbers: exact where they are, else to a 2³⁰th of their sum."""
        weights = self._seen[1]
        if (weights == np.round(weights)).all() and weights.sum() <= LARGE:
            return 1.0 / float(np.gcd.reduce(weights.astype(np.int64)))
        if (weights == weights[0]).all():
            return 1.0 / float(weights[0])
        return LARGE / float(weights.sum())

    @cached_property
    def _weights(self) -> Integers:
        return np.asarray(np.rint(self._seen[1] * self._scale), np.int64)

    @cached_property
    def _columns(self) -> list[Column]:
        """Chains of tests, those of least errors by one test first, in an order that knows class counts alone."""
        values = self.task.values[self._seen[0]]
        found = [each for at in range(len(self.task.features)) for each in self._chains(at, values[:, at])]
        return sorted((each for each in found if each.ranks.max(initial=0) > 0), key=self._key)

    def _key(self, column: Column) -> tuple[float, bytes]:
        table = self._table(column.ranks, np.arange(len(self._labels))).cumsum(axis=0)
        return float((table.max(axis=1) + (table[-1] - table).max(axis=1)).max()) * -1, table.tobytes()

    def _table(self, ranks: Integers, rows: Integers) -> Integers:
        """Weights, ranks × classes, of some rows."""
        classes = len(self.task.classes)
        flat = np.bincount(ranks * classes + self._labels[rows], self._weights[rows], (ranks.max() + 1) * classes)
        return flat.astype(np.int64).reshape(-1, classes)

    def _chains(self, at: int, values: Floats) -> Iterator[Column]:
        """Yield the chains of a feature by the policy for missing values."""
        absent, policy = np.isnan(values), self.learner.missing
        nominal = self.task.features[at].kind == "nominal"
        usual = _usual(values[~absent], self._seen[1][~absent], nominal) if policy != "branch" else np.nan
        some = bool(absent.any())
        if policy == "level" and some:
            yield Column(at, SUBSET if nominal else THRESHOLD, absent.astype(np.int64), missing=1)
        if nominal:
            filled = np.where(absent, usual, values) if policy == "impute" else values
            levels = np.unique(filled[~np.isnan(filled)])
            for level in levels[: 1 if len(levels) == 2 and (policy == "impute" or not some) else None]:
                others = (filled != level).astype(np.int64)
                if policy == "branch" and some:
                    yield Column(at, EQUALITY, others * ~absent, level, 0)
                taken = usual if policy == "impute" else np.nan
                yield Column(at, EQUALITY, others, level, 1 if some else None, taken)
            return
        if policy == "branch" and some:
            known, ranks = np.unique(values[~absent], return_inverse=True)
            for side, place, shift in ((0, 0, 1), (1, len(known), 0)):
                chain = np.full(len(values), place, np.int64)
                chain[~absent] = ranks + shift
                yield Column(at, THRESHOLD, chain, missing=side)
            return
        filled = np.where(absent, usual, values)
        yield Column(at, THRESHOLD, np.unique(filled, return_inverse=True)[1].astype(np.int64), usual=usual)

    @cached_property
    def _ranks(self) -> Integers:
        return np.array([each.ranks for each in self._columns], np.int64).reshape(-1, len(self._labels))

    @cached_property
    def _order(self) -> Integers:
        """Positions × lanes: rows by the rank of each column; lanes beyond the columns repeat the first."""
        order = np.argsort(self._ranks, axis=1, kind="stable")
        lanes = -(-len(order) // LANES) * LANES
        return np.ascontiguousarray(order[np.where(np.arange(lanes) < len(order), np.arange(lanes), 0)].T)

    def _solve(self, rows: Integers, depth: int, limit: int) -> Front:
        """The front of some rows; one test is tried here, more by the kernel."""
        counts = np.bincount(self._labels[rows], self._weights[rows], len(self.task.classes)).astype(np.int64)
        errors = np.full(1 << depth, counts.sum() - counts.max(), np.int64)
        bound, chosen = errors.copy(), np.full((1 << depth, 3), -1, np.int64)
        levels = np.full(1 << depth, depth, np.int64)
        if depth == 0 or errors[0] == 0 or not self._columns:
            return Front(errors, bound, chosen, levels)
        if depth == 1:
            errors[1], *test = self._stump(rows, int(errors[0]))
            return Front(errors, errors.copy(), np.array([[-1, -1, -1], [*test, 1]], np.int64), levels)
        optimal = load("optimal")
        if optimal is None:
            raise RuntimeError(COMPILED)
        inside = np.zeros(len(self._labels), bool)
        inside[rows] = True
        order = np.ascontiguousarray(self._order.T[inside[self._order.T]].reshape(self._order.shape[1], -1).T)
        solve = optimal.small if max(self._weights.sum(), len(self._labels)) < SMALL else optimal.large
        work = np.array([0, limit], np.int64)
        classes = len(self.task.classes)
        solve(depth, order, self._ranks, self._labels, self._weights, classes, self._least, work, errors, bound, chosen)
        return Front(errors, errors.copy() if work[0] < limit else bound, chosen, levels)

    def _stump(self, rows: Integers, alone: int) -> tuple[int, int, int]:
        """Errors, column and rank of the best single test; of a leaf, −1 and −1 where none is better."""
        best: tuple[float, ...] = (float(alone), -np.inf)
        found = -1, -1
        for at, column in enumerate(self._columns):
            ranks = column.ranks[rows]
            table = self._table(ranks, rows)
            present = np.flatnonzero(table.sum(axis=1))
            left = table[present].cumsum(axis=0)[:-1]
            right = table.sum(axis=0) - left
            sides = np.stack([left, right]).astype(np.float64)
            heavy = (sides.sum(axis=2) >= self.learner.min_leaf * self._scale - 1e-9).all(axis=0)
            errors = (sides.sum(axis=2) - sides.max(axis=2)).sum(axis=0)
            if not (heavy & (errors < alone)).any():
                continue
            share = sides / sides.sum(axis=2, keepdims=True)
            loss = -(sides * np.log(np.where(sides > 0, share, 1.0))).sum(axis=(0, 2)).round(9)
            order = np.lexsort((-self._gaps(column, rows, present), loss, np.where(heavy, errors, np.inf)))
            first = order[0]
            own = float(errors[first]), float(loss[first]), -float(self._gaps(column, rows, present)[first])
            if own < best:
                best, found = own, (at, int(present[first]))
        return int(best[0]), *found

    def _gaps(self, column: Column, rows: Integers, present: Integers) -> Floats:
        """Width between the values on either side of each cut, as a share of the column's range here; 0 for levels."""
        values = self.task.values[self._seen[0][rows], column.feature]
        if column.test != THRESHOLD or np.isnan(values).any() or len(present) < 2:
            return np.zeros(max(len(present) - 1, 0))
        steps = np.diff(np.unique(values))
        return steps / steps.sum() if len(steps) == len(present) - 1 else np.zeros(len(present) - 1)

    def _build(self, nodes: list[Node], parent: int, rows: Integers, depth: int, leaves: int, front: Front) -> None:
        """Append the nodes of a subtree in preorder."""
        while leaves > 1 and front.errors[leaves - 2] == front.errors[leaves - 1]:
            leaves -= 1
        at, cut, own = front.chosen[leaves - 1].tolist() if leaves > 1 else (-1, -1, -1)
        if at < 0:
            nodes.append(Node(parent, rows, -1, np.nan, 0))
            return
        left = self._columns[at].ranks[rows] <= cut
        place = len(nodes)
        nodes.append(Node(parent, rows, at, *self._test(self._columns[at], rows, left)))
        for side, most in ((rows[left], own), (rows[~left], leaves - own)):
            limit = UNLIMITED if depth <= 3 else self._limit
            self._build(nodes, place, side, depth - 1, most, self._solve(side, depth - 1, limit))

    def _test(self, column: Column, rows: Integers, left: Booleans) -> tuple[float, int]:
        """The threshold (or level) of a node's test, halfway between values of its rows; where missing values go."""
        heavier = int(self._weights[rows[left]].sum() < self._weights[rows[~left]].sum())
        side = heavier if column.missing is None else column.missing
        if column.test == SUBSET:
            return np.nan, side
        if column.test == EQUALITY:
            return column.level, side if np.isnan(column.usual) else int(column.usual != column.level)
        values = self.task.values[self._seen[0][rows], column.feature]
        values = np.where(np.isnan(values), column.usual, values)
        below, above = values[left & ~np.isnan(values)], values[~left & ~np.isnan(values)]
        if not len(above):
            return float(below.max()), side
        if not len(below):
            return float(np.nextafter(above.min(), -np.inf)), side
        threshold = float(midpoint(below.max(keepdims=True), above.min(keepdims=True))[0])
        return threshold, side if np.isnan(column.usual) else int(column.usual > threshold)

    def _assembled(self, nodes: list[Node]) -> PrunedView:
        """The nodes as arrays."""
        features, inner = self.task.features, [node.column >= 0 for node in nodes]
        parent = np.array([node.parent for node in nodes], np.int32)
        branches = np.bincount(parent[1:], minlength=len(nodes))
        classes = len(self.task.classes)
        counts = np.array([np.bincount(self._labels[node.rows], self._seen[1][node.rows], classes) for node in nodes])
        columns = [self._columns[node.column] if is_test else None for node, is_test in zip(nodes, inner, strict=True)]
        wrong = counts.sum(axis=1) - counts.max(axis=1)
        tree = DecisionTree(
            features=features,
            classes=self.task.classes,
            parent=parent,
            test=np.array([LEAF if one is None else one.test for one in columns], np.int8),
            feature=np.array([-1 if one is None else one.feature for one in columns], np.int32),
            threshold=np.array([node.threshold for node in nodes]),
            first=np.append(0, np.cumsum(branches)).astype(np.int32),
            child=(1 + np.argsort(parent[1:], kind="stable")).astype(np.int32),
            counts=counts,
            goodness=np.where(inner, wrong / counts.sum(axis=1), np.nan),
            subset={
                at: np.ones(len(features[one.feature].levels), bool)
                for at, one in enumerate(columns)
                if one is not None and one.test == SUBSET
            },
            missing_to=np.array([node.missing_to for node in nodes], np.int32),
        )
        return PrunedView(tree, tree.terminal, best_class(counts, None), counts)


def _unproven(depth: int, limit: int | None, errors: float, bound: float) -> str:
    """What is said of a search that met its limit."""
    return (
        f"trees of depth {depth} were not searched to the end (limit={limit} million steps): the best found has {errors:.4f} "
        f"training errors, none has fewer than {bound:.4f}"
    )


def _usual(known: Floats, weights: Floats, nominal: bool) -> float:
    """The lower weighted median of numbers, the heaviest level of names (ties: the first); NaN where nothing is known."""
    values, which = np.unique(known, return_inverse=True)
    if not len(values):
        return np.nan
    weight = np.bincount(which, weights)
    return float(values[weight.argmax()] if nominal else values[np.searchsorted(weight.cumsum(), weight.sum() / 2 - 1e-12)])
