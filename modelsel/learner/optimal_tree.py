"""Optimal tree: of all trees of a depth, one of least training errors or costs plus a price per leaf.

    classes   min over trees of depth ≤ d:   Σ w_i c(y_i, said_i) / Σ w_i + λ · leaves     c: 0 if right, else 1; or a matrix
    numbers   min over trees of depth ≤ d:   Σ w_i (y_i − said_i)² / Σ w_i (y_i − ȳ)² + λ · leaves

One search per depth finds the least cost for every number of leaves, and so answers every λ. Numbers are cut between any two
values that are present, names by one level against the rest or grouped. Ties: fewer leaves; of tests above two leaves less
log loss, then the wider gap; higher up the column whose class counts come first in a fixed order, which knows no places.
Sources: Bertsimas & Dunn (2017); Demirović et al. (2022); Brița et al. (2025).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple
from warnings import warn

import numpy as np

from modelsel.core.spec import number, optional, optional_word, plain, whole
from modelsel.core.types import (
    BOTH_TASKS,
    Booleans,
    ClassOutputs,
    ClassTask,
    Description,
    Floats,
    Integers,
    NumberOutputs,
    NumberTask,
    Outputs,
    Table,
    Task,
    TaskKind,
)
from modelsel.kernels.compiler import is_wanted
from modelsel.kernels.layout import EQUALITY, LEAF, SUBSET, THRESHOLD
from modelsel.learner.base import BaseLearner, SingleFit
from modelsel.learner.trees.leaf import Leaf, leaf_scores
from modelsel.learner.trees.model import READS_CLASSES, NumberTreeModel, TreeModel, restore, restore_numbers
from modelsel.learner.trees.number_path import NodeStatistics
from modelsel.learner.trees.optimal_problem import (
    GROUPED,
    LARGE,
    MOST_LEVELS,
    ChainPolicy,
    ClassCosts,
    Costs,
    Grid,
    LeafCosts,
    SquaredErrors,
    TestChain,
    chains,
    steps_of,
)
from modelsel.tree.growing.assemble import midpoint
from modelsel.tree.node import DecisionTree, NodeNumbers, PrunedView
from modelsel.tree.pruning import best_class
from modelsel.tree.rules import to_text

POLICIES = ("impute", "level", "branch")
LANES = 16  # columns are filled up to a multiple, for whole registers
MILLION = 1_000_000
UNLIMITED = NEVER = 1 << 60
DEAREST = 10_000  # steps of a cost that fit beside weights


@dataclass(frozen=True)
class OptimalTree(BaseLearner):
    """The fewest errors, or the least cost, that a tree of so few levels can have on the analysis rows."""

    max_depth: int = whole(3, least=0, most=4, help="levels of tests; each multiplies the work by columns × values")
    leaf_price: float = number(
        0.0,
        least=0.0,
        help="λ: share of the analysis weight, of numbers of their squared error, that a further leaf has to save",
    )
    missing: str = plain("impute", help="impute: median or usual level; level: missing is a level; branch: sent either way")
    min_leaf: float = number(1, above=0.0, help="weight that either side of a test must have")
    limit: int | None = whole(20_000, least=1, help="millions of steps per depth; then the best found, and its bound")
    nominal: str | None = optional_word(
        GROUPED, help="null: one level against the rest; subset: any levels against the others, of at most 8"
    )
    costs: Sequence[Sequence[float]] | None = optional(help="cost per true class (row) and predicted class, to the thousandth")
    leaf: Leaf = plain(Leaf())

    path_parameters: ClassVar[tuple[str, ...]] = ("max_depth", "leaf_price", "leaf")
    unit: ClassVar[str] = "leaves"
    drawable: ClassVar[bool] = True
    holds_gil: ClassVar[bool] = False
    reads: ClassVar[tuple[TaskKind, ...]] = BOTH_TASKS

    def __post_init__(self) -> None:
        if self.costs is not None:
            object.__setattr__(self, "costs", tuple(tuple(float(cost) for cost in row) for row in self.costs) or None)

    @property
    def cost_matrix(self) -> Floats | None:
        """Costs as an array; None where errors count."""
        return None if self.costs is None else np.array(self.costs, np.float64)

    def problems(self, task: Table | None = None) -> Iterator[str]:
        """Yield what is wrong with the settings, or with these features."""
        if self.missing not in POLICIES:
            why = "; rows that are divided or follow surrogates make sides that are not nested, which the bounds need"
            yield f"missing is one of {', '.join(POLICIES)}, not {self.missing!r}{why}"
        if not is_wanted():
            yield "under MODELSEL_KERNELS=python its search would take minutes: unset it, or take another learner"
        if self.nominal == GROUPED and task is not None:
            yield from _many_levels(task)
        if isinstance(task, NumberTask):
            yield from self.leaf.number_problems("unpruned")
            yield from () if self.costs is None else (f"costs {READS_CLASSES}: leave it out",)
            return
        yield from self._problems_with_costs(len(task.classes) if isinstance(task, ClassTask) else None)
        yield from self.leaf.problems(len(task.classes) if isinstance(task, ClassTask) else None)

    def _problems_with_costs(self, classes: int | None) -> Iterator[str]:
        """Yield why there is no whole number of steps for each cost."""
        if self.costs is None:
            return
        if any(len(row) != len(self.costs) for row in self.costs) or len(self.costs) < 2:
            yield "costs needs as many columns as rows, and two at least"
        elif classes not in (None, len(self.costs)):
            yield f"costs has {len(self.costs)} rows for {classes} classes"
        else:
            yield from _inexact(np.array(self.costs, np.float64))

    def refusal(self, task: Task, rows: Integers) -> str | None:
        matrix = self.cost_matrix
        if matrix is not None and len(rows) * int(steps_of(matrix)[0].max()) > LARGE:
            return f"costs of {len(rows):,} rows are too many steps to count: round costs, or leave them out"
        return super().refusal(task, rows)

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "OptimalPath":
        return OptimalPath(self, task, rows)

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> TreeModel | NumberTreeModel:
        return self.fit_path(task, rows, rng).model(self)

    def complexity(self, model: TreeModel | NumberTreeModel) -> float:
        return float(model.n_leaves)

    @staticmethod
    def restore(description: Description) -> TreeModel | NumberTreeModel:
        return restore(description) if description.facts["classes"] else restore_numbers(description)


class Front(NamedTuple):
    """Per number of leaves (from 1): least errors found, proven bound, the root's test (column, rank, leaves left), levels.

    A search that met its limit may have found less than the one of a level less: then that tree, of fewer levels, is taken.
    """

    errors: Costs
    bound: Costs
    chosen: Integers
    levels: Integers

    def or_shallower(self, other: "Front") -> "Front":
        """Each number of leaves by the search that found fewer errors; of equals by this one."""
        beyond = len(self.errors) - len(other.errors)
        errors, levels = (np.append(of, np.full(beyond, of[-1])) for of in (other.errors, other.levels))
        better = errors < self.errors
        return Front(np.where(better, errors, self.errors), self.bound, self.chosen, np.where(better, levels, self.levels))


class Test(NamedTuple):
    """The test of a node: threshold or level, the side of missing values, or the levels that go left."""

    threshold: float = np.nan
    missing_to: int = 0
    subset: Booleans | None = None


class Node(NamedTuple):
    """A node as built: its rows, and its test where it has one."""

    parent: int
    rows: Integers
    column: int = -1
    test: Test = Test()


@dataclass(eq=False)
class OptimalPath:
    """A search per depth, which answers every price of a leaf; a depth is searched when it is first asked for."""

    learner: OptimalTree
    task: Task
    rows: Integers
    _fronts: dict[int, Front] = field(default_factory=dict)
    _trees: dict[tuple[int, int], PrunedView] = field(default_factory=dict)

    def outputs(self, learners: Sequence[OptimalTree], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Return what each learner's tree answers for some rows of a table."""
        asked = [
            SingleFit(each, self.model(each), self.task, self.rows).outputs([each], table, rows, scores) for each in learners
        ]
        said = np.concatenate([one.predicted for one in asked])
        if isinstance(self.task, NumberTask):
            return NumberOutputs(said)
        shares = [one.scores for one in asked if isinstance(one, ClassOutputs) and one.scores is not None]
        return ClassOutputs(said, np.concatenate(shares) if scores else None)

    def complexity(self, learners: Sequence[OptimalTree]) -> Floats:
        return np.array([np.count_nonzero(self._tree(each).leaf) for each in learners], np.float64)

    def training_error(self, learners: Sequence[OptimalTree]) -> Floats:
        path = [SingleFit(each, self.model(each), self.task, self.rows).training_error([each]) for each in learners]
        return np.concatenate(path)

    def model(self, learner: OptimalTree) -> TreeModel | NumberTreeModel:
        """The tree of one learner, with what its leaves say."""
        cut = self._tree(learner)
        if isinstance(self.task, NumberTask):
            said = NodeStatistics(cut.tree, self.task, self.rows).answers(learner.leaf)
            return NumberTreeModel(replace(cut, prediction=said))
        return TreeModel(cut, leaf_scores(cut, learner.leaf), learner.cost_matrix)

    def front(self, depth: int) -> tuple[Floats, Floats]:
        """Least training errors, costs or squared errors and their proven bounds, per weight, for 1 … 2^depth leaves.

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
        return self.costs.shares(found.errors), self.costs.shares(found.bound)

    @property
    def least(self) -> int:
        """The scaled weight that either side of a test must have."""
        return max(1, int(np.ceil(self.learner.min_leaf * self.costs.scale - 1e-9)))

    def _front(self, depth: int) -> Front:
        """The front of all rows, searched once; a search that met its limit is told by a warning."""
        new = depth not in self._fronts
        found = self._search(depth)
        if new and found.bound[-1] < found.errors[-1]:
            shares = (float(self.costs.shares(side)[-1]) for side in found[:2])
            warn(_unproven(depth, self.learner.limit, self.costs.name, *shares), stacklevel=2)
        return found

    def _search(self, depth: int) -> Front:
        """The front of one depth, searched when it is first asked for; never worse than that of a level less."""
        if depth not in self._fronts:
            found = self._solve(np.arange(len(self._seen[0])), depth, self.limit)
            if depth and found.bound[-1] < found.errors[-1]:
                found = found.or_shallower(self._search(depth - 1))
            self._fronts[depth] = found
        return self._fronts[depth]

    def _tree(self, learner: OptimalTree) -> PrunedView:
        """The tree of a learner: of equal costs the one of fewer leaves."""
        front = self._front(learner.max_depth)
        cost = self.costs.prices(front.errors) + learner.leaf_price * np.arange(1, len(front.errors) + 1)
        leaves = int(np.flatnonzero(cost <= cost.min() + 1e-12)[0]) + 1
        key = learner.max_depth, leaves
        if key not in self._trees:
            nodes: list[Node] = []
            levels = int(front.levels[leaves - 1])
            own = self._search(levels)
            self._build(nodes, -1, np.arange(len(self._seen[0])), levels, min(leaves, len(own.errors)), own)
            self._trees[key] = self.assemble(nodes)
        return self._trees[key]

    @property
    def limit(self) -> int:
        """Steps that a search may take."""
        return UNLIMITED if self.learner.limit is None else self.learner.limit * MILLION

    @cached_property
    def _seen(self) -> tuple[Integers, Floats]:
        """Distinct analysis rows that have weight, and their weights: a row drawn twice weighs twice."""
        drawn = np.bincount(self.rows, minlength=len(self.task)) * self.task.row_weights
        kept = np.flatnonzero(drawn > 0)
        return kept, drawn[kept]

    @cached_property
    def costs(self) -> LeafCosts:
        """The costs of leaves."""
        kept, drawn = self._seen
        return (
            self.class_costs
            if isinstance(self.task, ClassTask)
            else SquaredErrors(np.asarray(self.task.target[kept], np.float64), drawn)
        )

    @cached_property
    def class_costs(self) -> ClassCosts:
        """The costs of leaves where the target is a class."""
        assert isinstance(self.task, ClassTask)
        kept, drawn = self._seen
        return ClassCosts(self.task.target[kept], drawn, len(self.task.classes), self.learner.cost_matrix)

    @property
    def _weights(self) -> Integers:
        return self.costs.weights

    @cached_property
    def columns(self) -> list[TestChain]:
        """Chains of tests, those of least errors by one test first, in an order that knows class counts alone."""
        values, policy = self.task.values[self._seen[0]], ChainPolicy(self.learner.missing, self.learner.nominal == GROUPED)
        found = [
            each
            for at, feature in enumerate(self.task.features)
            for each in chains(at, feature, values[:, at], self._seen[1], policy)
        ]
        return sorted((each for each in found if each.ranks.max(initial=0) > each.ranks.min(initial=0)), key=self._key)

    def _key(self, column: TestChain) -> tuple[float, bytes]:
        table = self.costs.sums(column.ranks, np.arange(len(self._seen[0]))).cumsum(axis=0)
        return float((self.costs.of(table) + self.costs.of(table[-1] - table)).min()), table.tobytes()

    @cached_property
    def ranks(self) -> Integers:
        """Columns × rows."""
        return np.array([each.ranks for each in self.columns], np.int64).reshape(-1, len(self._seen[0]))

    @cached_property
    def order(self) -> Integers:
        """Positions × lanes: rows by the rank of each column; lanes beyond the columns repeat the first."""
        order = np.argsort(self.ranks, axis=1, kind="stable")
        lanes = -(-len(order) // LANES) * LANES
        return np.ascontiguousarray(order[np.where(np.arange(lanes) < len(order), np.arange(lanes), 0)].T)

    def _solve(self, rows: Integers, depth: int, limit: int) -> Front:
        """The front of some rows; one test is tried here, more by the kernel."""
        alone = self.costs.of(self.costs.sums(np.zeros(len(rows), np.int64), rows))
        errors = np.repeat(alone, 1 << depth)
        bound, chosen = errors.copy(), np.full((1 << depth, 3), -1, np.int64)
        levels = np.full(1 << depth, depth, np.int64)
        if depth == 0 or errors[0] == 0 or not self.columns:
            return Front(errors, bound, chosen, levels)
        if depth == 1:
            errors[1], *test = self._stump(rows, errors[0])
            return Front(errors, errors.copy(), np.array([[-1, -1, -1], [*test, 1]], np.int64), levels)
        work = np.array([0, limit], np.int64)
        self._search_kernel(rows, depth, work, (errors, bound, chosen))
        return Front(errors, errors.copy() if work[0] < limit else bound, chosen, levels)

    def _search_kernel(self, rows: Integers, depth: int, work: Integers, found: tuple[Costs, Costs, Integers]) -> None:
        """Have the kernel search some rows, in every column's order."""
        inside = np.zeros(len(self._seen[0]), bool)
        inside[rows] = True
        order = np.ascontiguousarray(self.order.T[inside[self.order.T]].reshape(self.order.shape[1], -1).T)
        self.costs.search(depth, Grid(order, self.ranks, self.least), work, found)

    def two_levels(self, rows: Integers, work: Integers) -> tuple[int, int]:
        """Least cost of some rows by trees of two levels, and what none goes below however light its leaves; adds to `work`."""
        errors, bound = np.zeros(4, np.int64), np.zeros(4, np.int64)
        self._search_kernel(rows, 2, work, (errors, bound, np.zeros((4, 3), np.int64)))
        return int(errors[-1]), int(bound[-1])

    def _stump(self, rows: Integers, alone: float) -> tuple[float, int, int]:
        """Cost, column and rank of the best single test; of a leaf, −1 and −1 where none is better."""
        best: tuple[float, ...] = (alone, -np.inf)
        found = -1, -1
        for at, column in enumerate(self.columns):
            ranks = column.ranks[rows]
            table, weight = self.costs.sums(ranks, rows), np.bincount(ranks, self._weights[rows])
            present = np.flatnonzero(weight)
            left, heavy = table[present].cumsum(axis=0)[:-1], weight[present].cumsum()[:-1]
            sides = np.stack([left, table.sum(axis=0) - left])
            costs = self.costs.of(sides).sum(axis=0)
            allowed = np.minimum(heavy, weight.sum() - heavy) >= self.learner.min_leaf * self.costs.scale - 1e-9
            if not (allowed & (costs < alone)).any():
                continue
            loss, gaps = self.costs.ties(sides.astype(np.float64)).sum(axis=0).round(9), self._gaps(column, rows, present)
            first = np.lexsort((-gaps, loss, np.where(allowed, costs, np.inf)))[0]
            own = costs[first], float(loss[first]), -float(gaps[first])
            if own < best:
                best, found = own, (at, int(present[first]))
        return best[0], *found

    def _gaps(self, column: TestChain, rows: Integers, present: Integers) -> Floats:
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
            nodes.append(Node(parent, rows))
            return
        left = self.columns[at].ranks[rows] <= cut
        place = len(nodes)
        nodes.append(Node(parent, rows, at, self.test_of(self.columns[at], cut, rows, left)))
        for side, most in ((rows[left], own), (rows[~left], leaves - own)):
            limit = UNLIMITED if depth <= 3 else self.limit
            self._build(nodes, place, side, depth - 1, most, self._solve(side, depth - 1, limit))

    def test_of(self, column: TestChain, cut: int, rows: Integers, left: Booleans) -> Test:
        """A node's test: the threshold halfway between values of its rows, a level or levels; where missing values go."""
        heavier = int(self._weights[rows[left]].sum() < self._weights[rows[~left]].sum())
        side = heavier if column.missing is None else column.missing
        if column.test == SUBSET:
            return self._levels_to_the_left(column, cut, rows, side)
        if column.test == EQUALITY:
            return Test(column.level, side if np.isnan(column.usual) else int(column.usual != column.level))
        values = self.task.values[self._seen[0][rows], column.feature]
        values = np.where(np.isnan(values), column.usual, values)
        below, above = values[left & ~np.isnan(values)], values[~left & ~np.isnan(values)]
        if not len(above) or not len(below):  # known values from missing ones
            return Test(np.inf if len(below) else -np.inf, side)
        threshold = float(midpoint(below.max(keepdims=True), above.min(keepdims=True))[0])
        return Test(threshold, side if np.isnan(column.usual) else int(column.usual > threshold))

    def _levels_to_the_left(self, column: TestChain, cut: int, rows: Integers, side: int) -> Test:
        """The levels that go left; those that no row of the node has, and missing values where it has none, to `side`."""
        assert column.groups is not None
        values = self.task.values[self._seen[0][rows], column.feature]
        codes = np.where(np.isnan(values), len(column.groups) - 1 if np.isnan(column.usual) else column.usual, values)
        left = np.full(len(column.groups), side == 0)
        there = np.unique(codes).astype(np.int64)
        left[there] = column.groups[there] <= cut
        to = -1 if np.isnan(column.usual) else int(column.usual)
        return Test(np.nan, int(not left[to]), left[:-1])

    def text(self, nodes: list[Node]) -> str:
        """Write the tree of some nodes down in words."""
        return to_text(self.assemble(nodes))

    def assemble(self, nodes: list[Node]) -> PrunedView:
        """The nodes as arrays."""
        features = self.task.features
        parent = np.array([node.parent for node in nodes], np.int32)
        branches = np.bincount(parent[1:], minlength=len(nodes))
        columns = [self.columns[node.column] if node.column >= 0 else None for node in nodes]
        counts, numbers, worst = self._leaves(nodes)
        tree = DecisionTree(
            features=features,
            classes=self.task.class_names,
            parent=parent,
            test=np.array([LEAF if one is None else one.test for one in columns], np.int8),
            feature=np.array([-1 if one is None else one.feature for one in columns], np.int32),
            threshold=np.array([node.test.threshold for node in nodes]),
            first=np.append(0, np.cumsum(branches)).astype(np.int32),
            child=(1 + np.argsort(parent[1:], kind="stable")).astype(np.int32),
            counts=counts,
            goodness=np.where([one is not None for one in columns], worst / counts.sum(axis=1), np.nan),
            subset={at: node.test.subset for at, node in enumerate(nodes) if node.test.subset is not None},
            missing_to=np.array([node.test.missing_to for node in nodes], np.int32),
            numbers=numbers,
        )
        said = best_class(counts, self.learner.cost_matrix) if numbers is None else numbers.mean
        return PrunedView(tree, tree.terminal, said, counts)

    def _leaves(self, nodes: list[Node]) -> tuple[Floats, NodeNumbers | None, Floats]:
        """Per node class weights (of numbers the weight), mean and squares of numbers, and what is wrong of it as a leaf."""
        drawn, costs = self._seen[1], self.costs
        if isinstance(costs, SquaredErrors):
            numbers = NodeNumbers(*(np.array([of(node.rows) for node in nodes]) for of in (costs.mean, costs.squares)))
            return np.array([[drawn[node.rows].sum()] for node in nodes]), numbers, numbers.squares
        many = len(self.task.class_names)
        counts = np.array([np.bincount(self.class_costs.labels[node.rows], drawn[node.rows], many) for node in nodes])
        return counts, None, counts.sum(axis=1) - counts.max(axis=1)


def _many_levels(task: Table) -> Iterator[str]:
    """Yield the columns of more levels than are grouped."""
    for feature in task.features:
        if not feature.has_order and len(feature.levels) > MOST_LEVELS:
            said = f"{feature.name} has {len(feature.levels)} levels, and at most {MOST_LEVELS} are grouped"
            yield f"{said} (2^(levels − 1) − 1 tests): leave nominal out, or merge levels"


def _inexact(costs: Floats) -> Iterator[str]:
    """Yield why costs cannot be counted in whole steps."""
    if not np.isfinite(costs).all() or np.abs(costs).max() > LARGE:
        yield f"costs are finite numbers of at most {LARGE:,}"
    elif (np.abs(np.round(costs, 3) - costs) > 1e-9).any():
        yield "costs are searched to the thousandth: write at most three decimals, or multiply all of them"
    elif steps_of(costs)[0].max() > DEAREST:
        yield f"costs differ by more than {DEAREST:,} of their common steps: round the large ones"


def _unproven(depth: int, limit: int | None, what: str, errors: float, bound: float) -> str:
    """What is said of a search that met its limit."""
    return (
        f"trees of depth {depth} were not searched to the end (limit={limit} million steps): the best found has {errors:.4f} "
        f"{what}, none has fewer than {bound:.4f}"
    )
