"""A fitted forest: its trees cut back, one after the other, and the votes of their leaves: for classes, means, quantiles."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes, Description, Feature, Floats, Integers, Table, positions
from modelsel.forest.grow import drawn_rows
from modelsel.forest.growth import ForestData, ForestGrowth, NumberBallot
from modelsel.forest.votes import Translated, VoteLists, code_rows, leaves_of, number_trees
from modelsel.kernels.compiler import load, load_compiled
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, LOST, OTHERS, RIGHT, ROWS, TEST, WHOLE
from modelsel.kernels.layout import EQUALITY, LEAF, SUBSET, THRESHOLD
from modelsel.learner.base import FittedModel

# A forest of thresholds in nodes of eight bytes, for many rows (`kernels.forests.forest_predict`).

MOST_CELLS = 1 << 16
LANES = 8  # as in the kernel: blocks hold a multiple of it
WIDE, LONG = 1 << 15, 1 << 24  # columns, and codes or nodes of a tree, that packed nodes can tell


def packable(model: Any) -> bool:
    """Every test asks for a threshold, and numbers are not too large for packed nodes."""
    tests = model.nodes[:, TEST] & KIND
    longest = max([int(np.diff(model.trees).max()), model.classes + 1, *(len(cuts) + 1 for cuts in model.cuts)])
    return bool(np.isin(tests, (LEAF, THRESHOLD)).all()) and len(model.features) < WIDE and longest < LONG


@dataclass(frozen=True, eq=False)
class PackedForest:
    """A forest in the kernel's form: `plain` nodes, and, for blocks with missing values, nodes that ask for either half."""

    plain: NDArray[np.uint64]
    halves: NDArray[np.uint64]
    trees: Integers
    grid: "CutGrid"
    first: Integers
    voted: Codes
    shares: Integers

    @classmethod
    def of(cls, kernel: object, model: Any) -> "PackedForest":
        """Pack the nodes of a model into eight bytes each."""
        nodes, inner = model.nodes, model.nodes[:, TEST] != LEAF
        place = np.arange(len(nodes)) - np.repeat(model.trees[:-1], np.diff(model.trees))
        step = np.where(inner, nodes[:, RIGHT] - place, 0)
        code = np.where(inner, nodes[:, AT], _whole_votes(model) + 1)
        column = np.where(inner, nodes[:, COLUMN], 0)
        other = column + len(model.features) * (inner & (nodes[:, TEST] & LOST == 0))
        plain, halves = ((code << 40 | own.astype(np.int64) << 24 | step).astype(np.uint64) for own in (column, other))
        return cls(plain, halves, model.trees, CutGrid.of(kernel, model.cuts), model.first, model.voted, model.shares)


@dataclass(frozen=True, eq=False)
class CutGrid:
    """Cuts per feature, and cells of equal width in which a value is looked for."""

    cuts: Floats
    first: Integers
    ranges: Floats  # features × low, high, cells per unit
    starts: Codes
    first_start: Integers

    @classmethod
    def of(cls, kernel: Any, cuts: Sequence[Floats]) -> "CutGrid":
        """Lay a grid of cells over the cuts of each feature."""
        ranges, starts = np.zeros((len(cuts), 3)), [np.zeros(0, np.int32)]
        for index, own in enumerate(cuts):
            finite = own[np.isfinite(own)]
            cells = min(2 * len(finite) + 1, MOST_CELLS)
            if len(finite):
                with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                    scale = cells / (finite[-1] - finite[0])
                ranges[index] = finite[0], finite[-1], scale if np.isfinite(scale) else 0.0
            starts.append(np.zeros(cells + 1, np.int32))
            kernel.grid(own, *ranges[index], starts[-1])
        ends = (np.r_[0, np.cumsum([len(own) for own in arrays])].astype(np.int64) for arrays in (cuts, starts[1:]))
        first, first_start = ends
        return cls(np.concatenate([np.zeros(0), *cuts]), first, ranges, np.concatenate(starts), first_start)


def _whole_votes(model: Any) -> Integers:
    """The class that has the whole vote of a node, or −1."""
    first, found = model.first, np.full(len(model.nodes), -1, np.int64)
    single = np.flatnonzero(np.diff(first) == 1)
    single = single[model.shares[first[single]] == WHOLE]
    found[single] = model.voted[first[single]]
    return found


def poll_packed(kernel: Any, packed: PackedForest, values: Floats, votes: Integers) -> None:
    """Add the votes of all trees for a block of rows."""
    rows, width = values.shape
    lost, own = bool(np.isnan(values).any()), packed.grid
    codes = np.zeros((-(-rows // LANES) * LANES, width * (1 + lost)), np.int32)
    kernel.code(np.ascontiguousarray(values), own.cuts, own.first, own.ranges, own.starts, own.first_start, codes)
    kernel.poll(
        codes, packed.halves if lost else packed.plain, packed.trees, packed.first, packed.voted, packed.shares, WHOLE, votes
    )


BLOCK = 4096  # rows that are coded and polled at a time


class CutTree(NamedTuple):
    """A tree cut back: its nodes, thresholds of those that are no leaves, marks of levels, votes of its leaves."""

    nodes: NDArray[np.int32]
    thresholds: Floats
    marks: NDArray[np.uint8]
    votes: VoteLists


@dataclass(frozen=True, eq=False)
class ForestModel(FittedModel):
    """All trees in one array of nodes.

    A threshold is known by its place among its feature's `cuts`; children and marks are counted from the start of their tree.
    """

    abilities: ClassVar[str] = "modelsel.exports.of_forests"

    features: tuple[Feature, ...]
    classes: int
    nodes: NDArray[np.int32]
    trees: Integers  # where each begins, and the end of the last
    cuts: tuple[Floats, ...]  # thresholds per feature, ascending
    marks: NDArray[np.uint8]  # levels that take the first branch, of all SUBSET tests
    first: Codes  # nodes + 1: votes of node i are first[i] … first[i + 1] − 1
    voted: Codes
    shares: Integers

    @classmethod
    def of(cls, features: tuple[Feature, ...], classes: int, trees: Sequence[CutTree]) -> "ForestModel":
        """Put trees, cut back, together with the votes of their leaves."""
        sizes, marks = [len(tree.nodes) for tree in trees], np.cumsum([0, *(len(tree.marks) for tree in trees)])
        nodes, thresholds = np.vstack([tree.nodes for tree in trees]), np.concatenate([tree.thresholds for tree in trees])
        nodes, cuts = number_trees(nodes, thresholds, len(features))
        subset = np.flatnonzero(nodes[:, TEST] & KIND == SUBSET)
        nodes[subset, AT] += np.repeat(marks[:-1], sizes)[subset]
        votes = np.zeros(len(nodes), np.int32)
        votes[nodes[:, TEST] == LEAF] = np.concatenate([tree.votes.end - tree.votes.start for tree in trees])
        return cls(
            features, classes, nodes, np.cumsum([0, *sizes]).astype(np.int64), cuts,
            np.concatenate([tree.marks for tree in trees]),
            np.r_[0, np.cumsum(votes)].astype(np.int32),
            np.concatenate([tree.votes.classes for tree in trees]), np.concatenate([tree.votes.shares for tree in trees]),
        )  # fmt: skip

    def predict(self, table: Table) -> Codes:
        return np.asarray(self.poll(table).argmax(axis=1).astype(np.int32))

    def scores(self, table: Table) -> Floats:
        votes = self.poll(table)
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))

    def describe(self) -> Description:
        """Describe the model: its features as facts, nodes and votes as arrays."""
        facts = {"classes": self.classes, "features": [[f.name, f.kind, list(f.levels)] for f in self.features]}
        arrays: dict[str, NDArray[np.generic]] = {
            "nodes": self.nodes, "trees": self.trees, "cuts": np.concatenate([np.zeros(0), *self.cuts]),
            "cut_counts": np.array([len(own) for own in self.cuts], np.int64), "marks": self.marks, "first": self.first,
            "voted": self.voted, "shares": self.shares,
        }  # fmt: skip
        return Description("forest", facts, arrays)

    def poll(self, table: Table) -> Integers:
        """Add up votes per row and class."""
        quick = load_compiled("forest_predict") if self.packable else None
        packed = None if quick is None else self.packed
        votes = np.zeros((len(table), self.classes), np.int64)
        for start in range(0, len(table), BLOCK):
            rows = slice(start, min(start + BLOCK, len(table)))
            if packed is not None:
                poll_packed(quick, packed, table.values[rows], votes[rows])
            else:
                self.poll_nodes(table, np.arange(rows.start, rows.stop), votes[rows])
        return votes

    @cached_property
    def packable(self) -> bool:
        """Every test asks for a threshold, and numbers are not too large for packed nodes."""
        return packable(self)

    @cached_property
    def packed(self) -> PackedForest:
        return PackedForest.of(load_compiled("forest_predict"), self)

    def poll_nodes(self, table: Table, rows: Integers, votes: Integers) -> None:
        """Add the votes of all trees by the nodes as they are: any kind of test."""
        codes, kernel = code_rows(table, rows, self.cuts), load("forest_votes")
        levels = np.array([len(feature.levels) for feature in self.features], np.int64)
        kernel.poll(codes, self.nodes, levels, self.marks, self.trees, self.first, self.voted, self.shares, votes)

    def leaves(self, table: Table, rows: Integers) -> Iterator[Integers]:
        """Per tree, the node (of all trees') that each row ends in."""
        codes = code_rows(table, rows, self.cuts)
        levels = np.array([len(feature.levels) for feature in self.features], np.int64)
        yield from self._ends(codes, levels)

    def _ends(self, codes: NDArray[np.int32], levels: Integers) -> Iterator[Integers]:
        for number, start in enumerate(self.trees[:-1]):
            tree = Translated(self.nodes[start : self.trees[number + 1]], self.marks)
            yield start + leaves_of(tree, codes, levels)


def restore(description: Description) -> ForestModel:
    """Read a model back; ValueError when it is not whole: every index is checked, so that no walk leaves its arrays."""
    facts, arrays = description.facts, description.arrays
    features = tuple(Feature(name, kind, tuple(levels)) for name, kind, levels in facts["features"])
    counts = np.asarray(arrays["cut_counts"], np.int64)
    _demand(len(counts) == len(features) and (counts >= 0).all(), "the thresholds do not fit the features")
    _demand(counts.sum() == len(arrays["cuts"]), "the thresholds do not fit the features")
    cuts = np.split(np.asarray(arrays["cuts"], np.float64), np.cumsum(counts)[:-1])
    model = ForestModel(
        features, int(facts["classes"]), np.ascontiguousarray(arrays["nodes"], np.int32), np.asarray(arrays["trees"], np.int64),
        tuple(cuts), np.asarray(arrays["marks"], np.uint8), np.asarray(arrays["first"], np.int32),
        np.asarray(arrays["voted"], np.int32), np.asarray(arrays["shares"], np.int64),
    )  # fmt: skip
    _check_votes(model, "numbers" in facts)
    _check_nodes(model)
    return model


def _check_votes(model: ForestModel, numbers: bool) -> None:
    """Check that votes fit the nodes, and that every leaf has some; votes for a number may be of any sign."""
    nodes, first = model.nodes, model.first
    _demand(nodes.ndim == 2 and nodes.shape[1] == ROWS and len(nodes) > 0, "a node has other numbers")
    _demand(len(first) == len(nodes) + 1 and first[0] == 0 and (np.diff(first) >= 0).all(), "votes do not fit the nodes")
    _demand(first[-1] == len(model.voted) == len(model.shares), "votes do not fit the nodes")
    _demand(((model.voted >= 0) & (model.voted < model.classes)).all(), "a vote is out of range")
    _demand(numbers or (model.shares > 0).all(), "a vote is out of range")
    leaf = nodes[:, TEST] == LEAF
    _demand((np.diff(first)[leaf] > 0).all(), "a leaf has no vote")


def _check_nodes(model: ForestModel) -> None:
    """Check that children, features and values of all tests are there."""
    nodes, trees = model.nodes, model.trees
    _demand(len(trees) > 1 and trees[0] == 0 and trees[-1] == len(nodes) and (np.diff(trees) > 0).all(), "trees do not fit")
    size = np.repeat(np.diff(trees), np.diff(trees))
    place = np.arange(len(nodes)) - np.repeat(trees[:-1], np.diff(trees))
    inner = nodes[:, TEST] != LEAF
    _demand(np.isin(nodes[inner, TEST] & ~(LOST | OTHERS), (THRESHOLD, EQUALITY, SUBSET)).all(), "a test is of no known kind")
    right = nodes[:, RIGHT]
    _demand(((right > place + 1) & (right < size))[inner].all(), "a child lies outside its tree")
    column = nodes[:, COLUMN]
    _demand(((column >= 0) & (column < len(model.features)))[inner].all(), "a test asks for a feature that is not there")
    nominal = np.array([not feature.has_order for feature in model.features])
    many = np.array([len(feature.levels) for feature in model.features])
    own = column[inner]
    test, at = nodes[inner, TEST] & KIND, nodes[inner, AT]
    _demand(((test == THRESHOLD) != nominal[own]).all(), "a test does not fit the kind of its feature")
    bound = np.where(test == THRESHOLD, np.array([len(cuts) for cuts in model.cuts])[own], many[own])
    bound = np.where(test == SUBSET, len(model.marks) - many[own] + 1, bound)
    _demand(((at >= 0) & (at < bound)).all(), "a test asks for a value that is not there")


def _demand(condition: object, otherwise: str) -> None:
    if not condition:
        raise ValueError(f"not a whole forest: {otherwise}")


# A forest of numbers: trees whose leaves vote with their means.


@dataclass(frozen=True, eq=False)
class NumberForestModel(FittedModel):
    """`votes` has one class, whose votes are means of leaves in whole numbers (`ballot`): no order of trees changes a bit."""

    abilities: ClassVar[str] = "modelsel.exports.of_forests"

    votes: ForestModel
    ballot: NumberBallot

    def predict(self, table: Table) -> Floats:
        """Return the mean of what the trees say."""
        return self.ballot.read(self.votes.poll(table)[:, 0], len(self.votes.trees) - 1)

    def describe(self) -> Description:
        """Describe the model: that of its votes, and how they are read."""
        own = self.votes.describe()
        return Description(own.kind, {**own.facts, "numbers": asdict(self.ballot)}, own.arrays)


def restore_numbers(description: Description) -> NumberForestModel:
    """Read a model back; ValueError when it is not whole."""
    ballot = NumberBallot(**{name: float(value) for name, value in description.facts["numbers"].items()})
    if not np.isfinite(list(asdict(ballot).values())).all() or ballot.scale <= 0 or ballot.fine <= 0:
        raise ValueError("not a whole forest: its votes cannot be read as numbers")
    return NumberForestModel(restore(description), ballot)


# Quantiles of a forest of numbers, whose leaves keep their rows.
#
#     w_i(x) = 1/T Σ_t n_it [leaf_t(x_i) = leaf_t(x)] / Σ_j n_jt [leaf_t(x_j) = leaf_t(x)]
#     Q_q(x) = min {y: Σ_{y_i ≤ y} w_i(x) ≥ q}
#
# n_it: weight of row i in tree t, as often as it was drawn; T: trees. Meinshausen 2006, *Quantile regression forests*.


ROOM = 1 << 22  # weights of training numbers held at a time
NEARLY = 1e-12  # what rounding leaves of a share


@dataclass(frozen=True, eq=False)
class KeptRows:
    """The rows that lie in each leaf: ranks of their numbers, and their weights, which are 1 together."""

    numbers: Floats  # distinct, ascending
    first: Integers  # per node, and last the end
    rank: NDArray[np.int32]
    weight: Floats

    @classmethod
    def of(cls, model: ForestModel, ground: ForestData, growth: ForestGrowth) -> "KeptRows":
        """The rows that each tree has drawn, in the leaves where they arrive."""
        rows = np.unique(ground.rows)
        numbers, ranks = np.unique(ground.task.target[rows], return_inverse=True)
        size = len(numbers)
        cells, weights = [], []
        for number, leaf in enumerate(model.leaves(ground.task, rows)):
            times, _ = drawn_rows(ground, growth, number)
            own = np.bincount(ground.rows, times, len(ground.task))[rows] * ground.weights[rows]
            held, place = np.unique((leaf * size + ranks)[own > 0], return_inverse=True)
            cells.append(held)
            weights.append(np.bincount(place, own[own > 0]))
        cell, weight = np.concatenate(cells), np.concatenate(weights)
        first = np.searchsorted(cell // size, np.arange(len(model.nodes) + 1))
        filled = np.flatnonzero(np.diff(first))
        total = np.repeat(np.add.reduceat(weight, first[filled]), np.diff(first)[filled])
        return cls(numbers, first, (cell % size).astype(np.int32), weight / total)

    def shares(self, leaves: Sequence[Integers]) -> Floats:
        """Rows × numbers: Σ w of the numbers up to each, from the leaf of each row in each tree."""
        found = np.zeros((len(leaves[0]), len(self.numbers)))
        for leaf in leaves:
            start, many = self.first[leaf], self.first[leaf + 1] - self.first[leaf]
            row = np.repeat(np.arange(len(leaf)), many)
            held = np.repeat(start - np.r_[0, np.cumsum(many)[:-1]], many) + np.arange(len(row))
            found[row, self.rank[held]] += self.weight[held]
        return np.asarray(np.cumsum(found / len(leaves), axis=1))


@dataclass(frozen=True, eq=False)
class QuantileForestModel(FittedModel):
    """A forest that says the quantile q, and any other when asked."""

    abilities: ClassVar[str] = "modelsel.exports.refused"

    means: NumberForestModel
    kept: KeptRows
    q: float

    def predict(self, table: Table) -> Floats:
        return self.quantiles(table, positions(table), [self.q])[:, 0]

    def quantiles(self, table: Table, rows: Integers, asked: Sequence[float]) -> Floats:
        """Rows × quantiles, each above 0 and below 1."""
        found, step = np.empty((len(rows), len(asked))), max(1, ROOM // len(self.kept.numbers))
        for start in range(0, len(rows), step):
            block = slice(start, start + step)
            shares = self.kept.shares(list(self.means.votes.leaves(table, rows[block])))
            for place, q in enumerate(asked):
                rank = (shares < q - NEARLY).sum(axis=1)
                found[block, place] = self.kept.numbers[np.minimum(rank, len(self.kept.numbers) - 1)]
        return found

    def describe(self) -> Description:
        """Describe the model: that of the means, and the rows of its leaves."""
        own = self.means.describe()
        arrays: dict[str, NDArray[np.generic]] = {f"kept_{name}": array for name, array in vars(self.kept).items()}
        return Description(own.kind, {**own.facts, "q": self.q}, {**own.arrays, **arrays})


def restore_quantiles(description: Description) -> QuantileForestModel:
    """Read a model back; ValueError when it is not whole."""
    means, arrays, q = restore_numbers(description), description.arrays, float(description.facts["q"])
    kept = KeptRows(
        np.asarray(arrays["kept_numbers"], np.float64), np.asarray(arrays["kept_first"], np.int64),
        np.asarray(arrays["kept_rank"], np.int32), np.asarray(arrays["kept_weight"], np.float64),
    )  # fmt: skip
    _demand(0 < q < 1, "its quantile is not between 0 and 1")
    _demand(np.isfinite(kept.numbers).all() and (np.diff(kept.numbers) > 0).all(), "its numbers do not ascend")
    first, leaf = kept.first, means.votes.nodes[:, TEST] == LEAF
    _demand(len(first) == len(leaf) + 1 and first[0] == 0 and (np.diff(first) >= 0).all(), "rows do not fit the nodes")
    _demand((np.diff(first)[leaf] > 0).all() and first[-1] == len(kept.rank) == len(kept.weight), "a leaf has no rows")
    _demand(((kept.rank >= 0) & (kept.rank < len(kept.numbers))).all(), "a rank is out of range")
    _demand((kept.weight > 0).all(), "a weight is not above 0")
    return QuantileForestModel(means, kept, q)
