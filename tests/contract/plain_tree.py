"""A decision tree by the book: grown with its limits inside the loop, pruned by recursion, rows sent down one at a time.

Only the NumPy search for the best test is shared with the package (brute force checks that one in tests/tree). Everything
after it is written here a second time, by recursion over places, as the definitions read.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import chi2_contingency

from modelsel.core.spec import kind_of
from modelsel.core.types import Table, Task
from modelsel.tree.growing.assemble import assemble
from modelsel.tree.growing.columns import WeightedRows, columns
from modelsel.tree.growing.growth import BY_COUNT, GrowthParams
from modelsel.tree.growing.numpy_grower import grow
from modelsel.tree.node import BY_SURROGATES, DIVIDED, EQUALITY, MULTIWAY, SUBSET, THRESHOLD, DecisionTree

Some = list[tuple[int, float]]  # rows and how much of them


@dataclass(eq=False)
class Place:
    """A node that stands: `weight` are the growing rows that reached it, `counts` what its class scores come from."""

    node: int
    weight: np.ndarray
    counts: np.ndarray
    label: int
    below: list["Place"] = field(default_factory=list)
    above: "Place | None" = None
    widths: tuple[float, float] = (0.0, 0.0)

    def everything(self) -> Iterator["Place"]:
        yield self
        for place in self.below:
            yield from place.everything()

    def leaves(self) -> list["Place"]:
        return [place for place in self.everything() if not place.below]

    @property
    def largest(self) -> int:
        """Position of the branch of most growing weight, the first of those that tie."""
        sums = [place.weight.sum() for place in self.below]
        return next(i for i, weight in enumerate(sums) if weight >= max(sums) - 1e-9)


class PlainTree:
    """What `learner` makes of `rows`."""

    def __init__(self, learner: Any, task: Task, rows: np.ndarray, rng: np.random.Generator) -> None:
        self.learner, self.task = learner, task
        classes = len(task.classes)
        self.costs = np.array(learner.costs) if learner.costs else 1.0 - np.eye(classes)
        growing, self.pruning = _parted(learner, task, rows, rng)
        self.tree = _halted(learner, task, growing)
        self.root = self._planted(0, None)
        if learner.collapse:
            self._collapse(self.root)
        self.some: Some = [(int(row), float(task.row_weights[row])) for row in growing]
        getattr(self, f"_{kind_of(learner.pruner)}")(learner.pruner)
        if kind_of(learner.softener) == "range_fraction":
            only_judge = kind_of(learner.pruner) == "deviance_sequence"
            self._soften([int(row) for row in (growing if only_judge else rows)])

    def answer(self, table: Table, row: int) -> tuple[int, np.ndarray]:
        """Class and class scores of one row."""
        ends = list(self._ends(self.root, table.values[row], 1.0))
        scores = sum(part * self._scores(place) for place, part in ends)
        if len(ends) == 1:
            return ends[0][0].label, np.asarray(scores)
        mean = sum(part * place.counts / place.counts.sum() for place, part in ends)
        return self._best(np.asarray(mean)), np.asarray(scores)

    # Growing

    def _planted(self, node: int, above: Place | None) -> Place:
        weight = self.tree.counts[node]
        counts = weight if weight.sum() > 0 or above is None else above.counts
        place = Place(node, weight, counts, self._best(counts), above=above)
        place.below = [self._planted(int(child), place) for child in self.tree.children(node)]
        return place

    def _best(self, counts: np.ndarray) -> int:
        """Cheapest class, the first of those that tie."""
        price = counts @ self.costs / counts.sum() if self.learner.costs else 1 - counts / counts.sum()
        return int(np.argmin(np.round(price, 12)))

    def _wrong(self, place: Place) -> float:
        return float(place.weight @ self.costs[:, place.label])

    def _collapse(self, place: Place) -> float:
        if place.below:
            below = sum(self._collapse(child) for child in place.below)
            if self._wrong(place) > below + 1e-3:
                return below
            place.below = []
        return self._wrong(place)

    # Pruning

    def _unpruned(self, pruner: Any) -> None:
        pass

    def _cheapest(self, place: Place, own: Callable[[Place], float], price: Callable[[Place], float]) -> float:
        """Prune to the least sum of `own` over leaves and `price` over tests; among the cheapest to the fewest nodes."""
        if not place.below:
            return own(place)
        below = price(place) + sum(self._cheapest(child, own, price) for child in place.below)
        if own(place) <= below + 1e-10 * (1 + abs(below)):
            place.below = []
            return own(place)
        return below

    def _cost_complexity(self, pruner: Any) -> None:
        total = self.root.weight.sum()

        def risk(place: Place) -> float:
            n = place.weight.sum()
            if n == 0:
                return 0.0
            by_kind = {
                "misclassification": self._wrong(place),
                "gini": n * (1 - ((place.weight / n) ** 2).sum()),
                "entropy": _bits(place.weight),
            }
            return float(by_kind[pruner.impurity])

        self._cheapest(self.root, risk, lambda place: pruner.alpha * total * (len(place.below) - 1))

    def _deviance_sequence(self, pruner: Any) -> None:
        """Of the trees that weakest links leave, what held-back rows say of each decides which one it is."""
        held, sequence = self._held(), _weakest_links(self.root)
        for leaf in sequence[_step_of(pruner, sequence, [self._deviance(leaves, held) for leaves in sequence])]:
            leaf.below = []

    def _deviance(self, leaves: list[Place], held: dict[int, np.ndarray]) -> float:
        total = 0.0
        for leaf in leaves:
            for grown, back in zip(leaf.weight, held[id(leaf)], strict=True):
                total -= 2 * back * math.log(max(grown / leaf.weight.sum() if leaf.weight.sum() else 0.0, 1e-6))
        return total

    def _mdl(self, pruner: Any) -> None:
        def bits(place: Place) -> float:
            n, k = place.weight.sum(), len(place.weight)
            arrangements = gammaln(n + 1) - gammaln(place.weight + 1).sum()
            return float(arrangements + gammaln(n + k) - gammaln(n + 1) - gammaln(k)) / math.log(2)

        self._cheapest(self.root, lambda place: max(bits(place), 0.0), lambda place: pruner.weight * self._test_bits(place))

    def _test_bits(self, place: Place) -> float:
        feature, test = self.tree.features[self.tree.feature[place.node]], self.tree.test[place.node]
        levels, cuts = len(feature.levels), place.weight.sum() - 1
        values = {
            MULTIWAY: 1.0, EQUALITY: levels, SUBSET: 2 ** max(levels - 1, 1) - 1,
            THRESHOLD: max(min(cuts, levels - 1) if feature.kind == "ordered" else cuts, 1.0),
        }  # fmt: skip
        return math.log2(len(self.tree.features)) + len(place.below) + math.log2(values[int(test)])

    def _minimum_error(self, pruner: Any) -> None:
        k = len(self.root.weight)
        m = float(k if pruner.m == "laplace" else pruner.m)
        even = pruner.m == "laplace" or pruner.prior == "uniform"
        prior = np.full(k, 1 / k) if even else self.root.weight / self.root.weight.sum()

        def expected(place: Place) -> float:
            n = place.weight.sum()
            return float(n * min((place.weight + m * prior) @ self.costs) / (n + m)) if n else 0.0

        self._cheapest(self.root, expected, lambda _: 0.0)

    def _reduced_error(self, pruner: Any) -> None:
        held = self._held()
        for place in self.root.everything():
            if pruner.relabel and held[id(place)].sum() > 0:
                place.counts, place.label = held[id(place)], self._best(held[id(place)])
        self._cheapest(self.root, lambda place: float(held[id(place)] @ self.costs[:, place.label]), lambda _: 0.0)

    def _held(self) -> dict[int, np.ndarray]:
        """Class weights of the rows held back, wherever they come by."""
        held = {id(place): np.zeros(len(self.root.weight)) for place in self.root.everything()}

        def fall(place: Place, values: np.ndarray, part: float, label: int) -> None:
            held[id(place)][label] += part
            for child, share in self._steps(place, values):
                fall(child, values, part * share, label)

        for row in self.pruning:
            fall(self.root, self.task.values[row], float(self.task.row_weights[row]), int(self.task.target[row]))
        return held

    def _pessimistic(self, pruner: Any) -> None:
        """Top down (Quinlan 1987)."""

        def judge(place: Place) -> None:
            if not place.below:
                return
            n, ends = place.weight.sum(), place.leaves()
            below = sum(map(self._wrong, ends)) + len(ends) / 2
            seen = min(n, below)
            if self._wrong(place) + 0.5 <= below + pruner.standard_errors * math.sqrt(max(seen * (n - seen) / n, 0.0)) + 1e-12:
                place.below = []
            for child in place.below:
                judge(child)

        judge(self.root)

    def _critical_value(self, pruner: Any) -> None:
        def reaches(place: Place) -> bool:
            """Does this test or one below it; what does not is cut."""
            own = bool(place.below) and round(float(self.tree.goodness[place.node]), 12) >= round(pruner.threshold, 12)
            if not any([reaches(child) for child in place.below] + [own]):
                place.below = []
                return False
            return True

        reaches(self.root)

    def _error_based(self, pruner: Any) -> None:
        """Quinlan 1993, chapter 4: rows are sent down anew for every question."""
        self.raised = False
        if pruner.raising:
            self._settle(self.root, self.some, pruner)
        else:
            slack = (lambda place: self._estimate(place.weight, pruner)), (lambda _: 0.1)
            self._cheapest_with_slack(self.root, *slack)
        if self.raised:
            self._regrown(self.root, self.some, None)

    def _cheapest_with_slack(self, place: Place, own: Callable[[Place], float], slack: Callable[[Place], float]) -> float:
        below = sum(self._cheapest_with_slack(child, own, slack) for child in place.below)
        if place.below and own(place) > below + slack(place) + 1e-10:
            return below
        place.below = []
        return own(place)

    def _settle(self, place: Place, some: Some, pruner: Any) -> float:
        alone = self._estimate(self._counted(some), pruner)
        if not place.below:
            return alone
        parts = self._divided(place, some)
        kept = sum(self._settle(child, part, pruner) for child, part in zip(place.below, parts, strict=True))
        sizes = [round(sum(weight for _, weight in part), 9) for part in parts]
        largest = max(i for i, size in enumerate(sizes) if size == max(sizes))
        branch = self._estimate_below(place.below[largest], some, pruner)
        if alone <= kept + 0.1 + 1e-10 and alone <= branch + 0.1 + 1e-10:
            place.below = []
            return alone
        if branch <= kept + 0.1 + 1e-10:
            self.raised = True
            place.node, place.below = place.below[largest].node, place.below[largest].below
            return self._settle(place, some, pruner)
        return kept

    def _estimate(self, counts: np.ndarray, pruner: Any) -> float:
        n = np.array([counts.sum()])
        return float(pruner.estimate(n, np.maximum(n - counts.max(), 0.0))[0])

    def _estimate_below(self, place: Place, some: Some, pruner: Any) -> float:
        if not place.below or not some:
            return self._estimate(self._counted(some), pruner)
        return sum(
            self._estimate_below(child, part, pruner)
            for child, part in zip(place.below, self._divided(place, some), strict=True)
        )

    def _regrown(self, place: Place, some: Some, above: Place | None) -> None:
        place.weight = self._counted(some)
        place.counts = place.weight if some or above is None else above.counts
        place.label, place.above = self._best(place.counts), above
        for child, part in zip(place.below, self._divided(place, some) if place.below else [], strict=True):
            self._regrown(child, part, place)

    def _counted(self, some: Some) -> np.ndarray:
        counts = np.zeros(len(self.task.classes))
        for row, weight in some:
            counts[self.task.target[row]] += weight
        return counts

    def _divided(self, place: Place, some: Some) -> list[Some]:
        """Rows per branch; a row of missing value goes by the shares of the known ones that come along."""
        many = len(place.below)
        parts: list[Some] = [[] for _ in range(many)]
        sides = [step(self.tree, place.node, self.task.values[row], 0) for row, _ in some]
        for side, each in zip(sides, some, strict=True):
            if side is not None:
                parts[side].append(each)
        known = np.array([sum(weight for _, weight in part) for part in parts])
        grown = self.tree.counts[self.tree.children(place.node)].sum(axis=1)
        share = known / known.sum() if known.sum() > 0 else grown / grown.sum()
        for side, (row, weight) in zip(sides, some, strict=True):
            for branch in range(many) if side is None else ():
                if share[branch] > 0:
                    parts[branch].append((row, weight * share[branch]))
        return parts

    # Predicting

    def _steps(self, place: Place, values: np.ndarray) -> list[tuple[Place, float]]:
        """Where a row goes from here, and with which part."""
        if not place.below:
            return []
        x, kind = values[self.tree.feature[place.node]], self.tree.features[self.tree.feature[place.node]].kind
        if kind == "numeric" and not math.isnan(x):
            left = _ramp(float(x), float(self.tree.threshold[place.node]), *place.widths)
            return [(child, part) for child, part in zip(place.below, (left, 1 - left), strict=True) if part > 0]
        side = step(self.tree, place.node, values, place.largest)
        if side is not None:
            return [(place.below[side], 1.0)]
        whole = place.weight.sum()
        return [(child, child.weight.sum() / whole) for child in place.below if child.weight.sum() > 0]

    def _ends(self, place: Place, values: np.ndarray, part: float) -> Iterator[tuple[Place, float]]:
        if not place.below:
            yield place, part
        for child, share in self._steps(place, values):
            yield from self._ends(child, values, part * share)

    def _scores(self, place: Place) -> np.ndarray:
        leaf, counts, k = self.learner.leaf, place.counts, len(place.counts)
        if leaf.score == "laplace":
            return (counts + leaf.l) / (counts.sum() + leaf.l * k)
        above = (place.above or place).counts
        prior = {
            "root": self.root.weight / self.root.weight.sum(), "parent": above / above.sum(), "uniform": np.full(k, 1 / k),
        }[leaf.prior]  # fmt: skip
        m = leaf.m if leaf.score == "m_estimate" else 0.0
        return (counts + m * prior) / (counts.sum() + m)

    def _soften(self, rows: list[int]) -> None:
        """Widths 2^−q of the way from the threshold to the outermost value of the rows that reach the test (Dvořák)."""
        reaching: dict[int, list[float]] = {id(place): [] for place in self.root.everything()}
        for row in rows:
            place, values = self.root, self.task.values[row]
            while place.below:
                side = step(self.tree, place.node, values, place.largest)
                if not math.isnan(values[self.tree.feature[place.node]]):
                    reaching[id(place)].append(float(values[self.tree.feature[place.node]]))
                if side is None:
                    break
                place = place.below[side]
        share = 2.0**-self.learner.softener.q
        for place in self.root.everything():
            x, c = reaching[id(place)], float(self.tree.threshold[place.node])
            numeric = place.below and self.tree.features[self.tree.feature[place.node]].kind == "numeric"
            if numeric and x:
                place.widths = share * max(c - min(x), 0.0), share * max(max(x) - c, 0.0)


def _bits(weight: np.ndarray) -> float:
    """Entropy times weight."""
    some = weight[weight > 0]
    return float(-(some * np.log2(some / weight.sum())).sum()) if len(some) else 0.0


def _weakest_links(root: Place) -> list[list[Place]]:
    """Leaves of each tree of the cost-complexity sequence by entropy, from the largest to the root."""
    closed: set[int] = set()

    def standing(place: Place) -> tuple[list[Place], list[Place]]:
        """Tests and leaves that are left from here on."""
        if not place.below or id(place) in closed:
            return [], [place]
        tests, leaves = zip(*map(standing, place.below), strict=True)
        return [place, *(test for below in tests for test in below)], [leaf for below in leaves for leaf in below]

    def link(place: Place) -> float:
        _, leaves = standing(place)
        return (_bits(place.weight) - sum(_bits(leaf.weight) for leaf in leaves)) / (len(leaves) - 1)

    sequence, strength = [], 0.0
    while True:
        while weakest := [test for test in standing(root)[0] if link(test) <= strength + 1e-9]:
            closed |= {id(test) for test in weakest}
        tests, leaves = standing(root)
        sequence.append(leaves)
        if not tests:
            return sequence
        strength = min(map(link, tests))


def _step_of(pruner: Any, sequence: list[list[Place]], deviance: list[float]) -> int:
    """From the smallest tree of least deviance to the last one of enough splits, in even steps."""
    least = min(deviance)
    best = max(i for i, own in enumerate(deviance) if own <= least + 1e-9 * abs(least))
    large = [i for i, leaves in enumerate(sequence) if len(leaves) - 1 >= pruner.smallest]
    taken = np.rint(np.linspace(best, max([best, *large[-1:]]), pruner.trees))
    return int(taken[min(pruner.step, pruner.trees) - 1])


def step(tree: DecisionTree, node: int, values: Sequence[float], largest: int) -> int | None:
    """Position of the branch that takes these values, None where they are divided; a level never declared goes `largest`."""
    feature, test = int(tree.feature[node]), int(tree.test[node])
    x, threshold = float(values[feature]), float(tree.threshold[node])
    if math.isnan(x):
        return _without_value(tree, node, values)
    if test == THRESHOLD:
        return 0 if x <= threshold else 1
    if x >= len(tree.features[feature].levels):
        return largest
    if test == MULTIWAY:
        return int(x)
    inside = x == threshold if test == EQUALITY else bool(tree.subset[node][int(x)])
    return 0 if inside else 1


def _without_value(tree: DecisionTree, node: int, values: Sequence[float]) -> int | None:
    to = int(tree.missing_to[node])
    if to == DIVIDED:
        return None
    if to > BY_SURROGATES:
        return to
    found = tree.surrogates
    for each in range(found.first[node], found.first[node + 1]) if found is not None else ():
        x = float(values[found.feature[each]])
        if math.isnan(x):
            continue
        if each not in found.sides:
            return 0 if (x <= found.threshold[each]) != found.flipped[each] else 1
        if x < len(found.sides[each]) and found.sides[each][int(x)] >= 0:
            return int(found.sides[each][int(x)])
    return BY_SURROGATES - to


def _ramp(x: float, c: float, a: float, b: float) -> float:
    """Part that goes left: linear in two pieces; a width of zero is a step."""
    if x <= c:
        return 1.0 if c - x >= a else 0.5 + 0.5 * (c - x) / a
    return 0.0 if x - c >= b else 0.5 - 0.5 * (x - c) / b


def _parted(learner: Any, task: Task, rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, list[int]]:
    """Rows that grow and rows held back: of each class its share, rounded, but never all; repeats stay together."""
    share = learner.pruner.fit_key().get("share")
    if share is None:
        return rows, []
    held: set[int] = set()
    for label in range(len(task.classes)):
        own = sorted({int(row) for row in rows if task.target[row] == label})
        take = min(round(share * len(own)), len(own) - 1)
        held |= set(rng.permutation(own)[:take].tolist()) if take > 0 else set()
    return np.array([row for row in rows if int(row) not in held]), [int(row) for row in rows if int(row) in held]


def _halted(learner: Any, task: Task, growing: np.ndarray) -> DecisionTree:
    """Grown with the limits asked at each node, before its test is made."""

    def halt(counts: np.ndarray, depth: int, goodness: float, children: np.ndarray) -> bool:
        if round(goodness, 12) < learner.min_gain or counts.max() >= learner.purity * counts.sum() - 1e-9:
            return True
        if learner.significance is None:
            return False
        table = children[children.sum(axis=1) > 0][:, counts > 0]
        return bool(chi2_contingency(table, correction=False).pvalue > learner.significance)

    growth = GrowthParams(
        learner.missing.removesuffix("_count"), learner.splits.nominal, learner.splits.threshold, learner.min_leaf,
        learner.min_leaf_rule,
        learner.min_split, learner.max_depth, by_count=learner.missing == BY_COUNT,
    )  # fmt: skip
    chosen, ranked = WeightedRows.of(task, growing), columns(task)
    return assemble(grow(chosen, ranked, learner.criterion, growth, halt), task, ranked, None)
