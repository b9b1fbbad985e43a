"""Decision tree: one grower, to which a criterion, kinds of tests, a policy for missing values, limits and a pruner are chosen.

ID3, C4.5, CART and the others are recipes (conf/learner/id3.yaml, c45.yaml, cart.yaml ...), not code. Sources: Breiman,
Friedman, Olshen and Stone 1984; Quinlan 1986, 1993.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from modelsel.core.column_kind.base import kinds_named
from modelsel.core.spec import kind_of, number, one_of, optional, part, plain, spec_of, whole
from modelsel.core.types import BOTH_TASKS, AnyTask, ClassTask, Description, Floats, Integers, NumberTask, Table, TaskKind
from modelsel.criterion.base import BaseCriterion
from modelsel.learner.base import BaseLearner
from modelsel.learner.trees.leaf import DEVIANCE, MEAN, SQUARES, Leaf, Loss
from modelsel.learner.trees.model import READS_CLASSES, SQUARED, NumberTreeModel, TreeModel, restore, restore_numbers
from modelsel.learner.trees.number_path import NumberTreePath
from modelsel.learner.trees.path import TreePath, held_back
from modelsel.pruner.base import Pruning
from modelsel.tree.cutting import PruningData
from modelsel.tree.growing.columns import columns
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.grow_numbers import grow_numbers, grow_two_classes
from modelsel.tree.growing.growth import (
    BY_COUNT,
    POISSON_DEVIANCE,
    POLICIES,
    GrowthParams,
    monotone_problems,
    monotone_signs,
    sorted_monotone,
)
from modelsel.tree.pruning import StoppingLimits
from modelsel.tree.routing import RerouteState, numbers_by_node, route, weights_by_node
from modelsel.tree.softening import Softener

BY_SURROGATES = ("surrogate", BY_COUNT)
# A training row goes where it would go when predicted.
CERTAIN = ("node_mode", "branch", *BY_SURROGATES)
ABOUT_CLASSES = ("min_leaf_rule", "purity", "significance", "costs")
SURROGATES_NEED_TWO = "surrogates mimic tests of two branches; use splits.nominal=equality or subset, or another missing policy"


@dataclass(frozen=True)
class Splits:
    """The kind of test for each kind of feature."""

    numeric: str = one_of("threshold", help="x ≤ θ, on numeric and ordered features")
    nominal: str = one_of(
        "multiway", "equality", "subset", help="a branch per level, one level against the rest, a set of levels"
    )
    threshold: str = one_of(
        "midpoint", "observed", help="θ halfway between values, or the largest value below (as C4.5 reports)"
    )

    nested: ClassVar[bool] = True


@dataclass(frozen=True)
class Tree(BaseLearner):
    """A decision tree: grown to its end, it answers every limit, pruner, softening and leaf score."""

    criterion: BaseCriterion = part("criterion", "entropy")
    splits: Splits = plain(Splits())
    missing: str = one_of(*POLICIES, help="surrogate_count: surrogates compete by rows, not by shares (rpart's default)")
    min_leaf: float = number(1, above=0.0, help="weight that a branch must have; for multiway two branches must")
    min_leaf_rule: str = one_of(
        "plain", "c45", help="c45: numeric cuts need max(min_leaf, min(25, a tenth of known rows/classes))"
    )
    max_depth: int | None = whole(None, least=0, help="levels of tests below the root; 0: one leaf; null: no limit")
    min_split: float = number(2, least=0.0, help="weight below which a node is not split")
    min_gain: float = number(0.0, least=0.0, help="0 makes tests of zero gain too: parity problems (MONK-1) need them")
    purity: float = number(1.0, above=0.0, most=1.0, help="share of one class from which a node is not split")
    significance: float | None = number(
        None, above=0.0, most=1.0, help="chi-square level a test must reach; many tests are tried"
    )
    collapse: bool = plain(False, help="a subtree that does not lower the training error becomes a leaf")
    pruner: Pruning = part("pruner", "unpruned")
    softener: Softener = part("softener", "hard")
    leaf: Leaf = plain(Leaf())
    costs: tuple[tuple[float, ...], ...] = plain(
        (), help="cost per true class (row) and predicted class; leaves take the cheapest"
    )

    monotone: Mapping[str, str] | tuple[tuple[str, str], ...] | None = optional(
        help="of numbers and two classes: {column: increasing or decreasing}, by squared error or gini alone"
    )

    path_parameters: ClassVar[tuple[str, ...]] = (
        "max_depth", "min_split", "min_gain", "purity", "significance", "collapse", "pruner", "softener", "leaf", "costs",
    )  # fmt: skip
    unit: ClassVar[str] = "leaves"
    drawable: ClassVar[bool] = True
    holds_gil: ClassVar[bool] = False
    reads: ClassVar[tuple[TaskKind, ...]] = BOTH_TASKS

    @classmethod
    def kernels(cls, task: AnyTask) -> tuple[str, ...]:
        """Growing as the rows allow, and routing."""
        whole = task.weights is None and not np.isnan(task.values).any()
        if isinstance(task, NumberTask):
            return "grow_numbers_complete" if whole else "grow_numbers", "rank", "preorder", "route"
        return "grow_counted" if whole else "grow", "rank", "preorder", "route"

    def __post_init__(self) -> None:
        """Bring settings into one form: costs as tuples of floats, directions sorted by column."""
        object.__setattr__(self, "costs", tuple(tuple(float(cost) for cost in row) for row in self.costs))
        object.__setattr__(self, "monotone", sorted_monotone(self.monotone))

    def fit_key(self) -> dict[str, object]:
        """Return the settings that growing depends on; of a pruner the share of rows that it holds back."""
        return {**super().fit_key(), "pruner": self.pruner.fit_key()}

    def mattering(self, kinds: Set[str], scores: bool = True) -> "Tree":
        """Set what cannot matter to its default: tests that no feature of these kinds can have, scores nobody reads.

        Leaf scores decide no class of a hard tree; statistics of numbers are what it says. Draws of held-back rows follow the
        settings that a tree is grown by.
        """
        own = self if scores or kind_of(self.softener) != "hard" else replace(self, leaf=self.leaf.deciding)
        if self.draws:
            return own
        default, splits, ordered = Splits(), self.splits, [kind.has_order for kind in kinds_named(kinds)]
        if all(ordered):
            splits = replace(splits, nominal=default.nominal)
        return replace(own, splits=splits if any(ordered) else replace(splits, threshold=default.threshold))

    def apart(self) -> dict[str, object]:
        """Return the settings that keep it out of a common cell, though it shares the fit.

        Held-back rows that judge a tree have no part in softening it; those that prune it have. And a softening may be so dear
        that it is worth a cell of its own.
        """
        own = {name: value for name, value in spec_of(self).items() if name != "leaf"} if self._dear else {}
        return {**own, "judged": True} if self._judged else own

    @property
    def draws(self) -> bool:
        """Say whether rows are drawn that are held back from growing."""
        return self._held_share is not None

    @property
    def _held_share(self) -> float | None:
        """The share of the rows that is held back for the pruner; None where it wants none."""
        share = self.pruner.fit_key().get("share")
        return share if isinstance(share, float) else None

    @property
    def _dear(self) -> bool:
        return bool(getattr(self.softener, "dear", False))

    @property
    def _judged(self) -> bool:
        """Rows held back judge it, and neither prune nor soften."""
        return bool(getattr(self.pruner, "validates", False))

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Yield what is wrong with the settings, together or for this task."""
        yield from self._problems_with_monotone(task) if self.monotone is not None else ()
        if isinstance(task, NumberTask):
            yield from self._problems_with_numbers()
            yield from self.criterion.problems(task)
            return
        if isinstance(task, ClassTask) and "classes" not in self.criterion.reads:
            yield f"criterion={kind_of(self.criterion)} reads numbers, and this target has classes: use gini or entropy"
        yield from self.criterion.problems(task)
        classes = len(task.classes) if isinstance(task, ClassTask) else None
        yield from self.leaf.problems(classes)
        yield from self.pruner.problems(bool(self.costs))
        multiway = self.splits.nominal == "multiway"
        if multiway and self.criterion.binary:
            yield "this criterion compares two branches; use splits.nominal=equality or subset"
        if multiway and self.missing in BY_SURROGATES:
            yield SURROGATES_NEED_TWO
        if self.costs and any(len(row) != len(self.costs) for row in self.costs):
            yield "costs needs as many columns as rows"
        elif self.costs and classes not in (None, len(self.costs)):
            yield f"costs has {len(self.costs)} rows for {classes} classes"

    def _problems_with_numbers(self) -> Iterable[str]:
        """Yield the settings that speak of classes, which a target that is a number has not."""
        yield from self._problems_with_growing()
        if "numbers" not in self.pruner.reads:
            yield f"pruner={kind_of(self.pruner)} {READS_CLASSES}: use unpruned, cost_complexity or reduced_error"
        if not self.hard:
            yield f"softener={kind_of(self.softener)} {READS_CLASSES}: use softener=hard"
        if self.splits.nominal == "multiway" and self.missing in BY_SURROGATES:
            yield SURROGATES_NEED_TWO
        yield from self.number_leaf.number_problems(kind_of(self.pruner))
        own, usual = spec_of(self), spec_of(Tree())
        for name in ABOUT_CLASSES:
            if own.get(name) != usual.get(name):
                yield f"{name} {READS_CLASSES}: leave it out"
        if self.missing == "class_mode" or getattr(self.pruner, "impurity", "") == "entropy":
            name = "pruner.impurity=entropy" if self.missing != "class_mode" else "missing=class_mode"
            yield f"{name} {READS_CLASSES}: use another"

    def _problems_with_growing(self) -> Iterable[str]:
        """Yield why a criterion grows no tree of numbers."""
        kind = kind_of(self.criterion)
        if kind != "gini" and "numbers" not in self.criterion.reads:  # the Gini index of numbers is their variance
            yield f"criterion={kind} {READS_CLASSES}: use criterion=variance, absolute_error, quantile or poisson"
        if self.criterion.number_loss.by_quantile and self.missing == "fractional":
            yield f"criterion={kind} divides no rows: use another missing policy than fractional"
        if self.number_loss[0] == DEVIANCE and kind_of(self.pruner) == "reduced_error":
            yield "criterion=poisson is pruned by its own loss: use cost_complexity or unpruned"

    def _problems_with_monotone(self, task: Table | None) -> Iterable[str]:
        """Yield why answers cannot be held to rise or fall with columns."""
        yield from monotone_problems(self.monotone, task)
        if kind_of(self.criterion) not in SQUARED:
            yield f"monotone holds trees by squared error: use criterion=variance or gini, not {kind_of(self.criterion)}"
        asks_another = self.missing in BY_SURROGATES and task is not None and not columns(task).complete
        if asks_another or self.missing == "class_mode":
            yield f"monotone: missing={self.missing} may ask another column in its place; use branch, node_mode or fractional"
        yield from self._problems_with_monotone_leaves()

    def _problems_with_monotone_leaves(self) -> Iterable[str]:
        """Yield why leaves may say something else than what growing has held."""
        if self.draws or getattr(self.pruner, "raising", False):
            yield f"monotone: pruner={kind_of(self.pruner)} changes what leaves say; use cost_complexity or unpruned"
        if not self.hard or self.leaf.score != "frequency" or self.leaf.statistic not in (None, MEAN):
            yield "monotone holds what leaves say of their rows: use softener=hard, and leave leaf.score and leaf.statistic out"

    def refusal(self, task: AnyTask, rows: Integers) -> str | None:
        weight = len(rows) if task.weights is None else task.weights[rows].sum()
        return None if weight > 0 else "no analysis row has weight"

    def fit_path(self, task: AnyTask, rows: Integers, rng: np.random.Generator) -> TreePath | NumberTreePath:
        return self._path(task, rows, rng, self.growth)

    def fit(self, task: AnyTask, rows: Integers, rng: np.random.Generator) -> TreeModel | NumberTreeModel:
        growth = replace(self.growth, min_split=float(self.min_split), max_depth=self.max_depth)
        return self._path(task, rows, rng, growth).model(self)

    @staticmethod
    def restore(description: Description) -> TreeModel | NumberTreeModel:
        return restore(description) if description.facts["classes"] else restore_numbers(description)

    @cached_property
    def growth(self) -> GrowthParams:
        """The settings as growers read them. Beside directions no column stands in for another."""
        missing = "surrogate" if self.missing == BY_COUNT else self.missing
        return GrowthParams(
            "node_mode" if self.monotone is not None and missing == "surrogate" else missing, self.splits.nominal,
            self.splits.threshold, float(self.min_leaf), self.min_leaf_rule, by_count=self.missing == BY_COUNT,
        )  # fmt: skip

    @cached_property
    def limits(self) -> StoppingLimits:
        """The settings of this specification that truncate a grown tree."""
        return StoppingLimits(
            self.max_depth, float(self.min_split), self.min_gain, self.purity, self.significance, self.collapse
        )

    @cached_property
    def hard(self) -> bool:
        """Thresholds are steps, not ramps."""
        return kind_of(self.softener) == "hard"

    @cached_property
    def number_leaf(self) -> Leaf:
        """The statistic of leaves where the target is a number: unless one is named, the criterion's own."""
        grown = self.criterion.number_loss
        return self.leaf.by_default(grown.quantile if grown.by_quantile else None)

    @property
    def number_loss(self) -> Loss:
        """The loss that trees of numbers are pruned by: that of the leaves' statistic; the deviance if they are grown by it."""
        own = self.number_leaf.loss
        return (DEVIANCE, None) if own[0] == SQUARES and self.criterion.number_loss == POISSON_DEVIANCE else own

    @property
    def cost_matrix(self) -> Floats | None:
        return np.array(self.costs, np.float64) if self.costs else None

    @property
    def is_family(self) -> bool:
        """True where the pruner's strength is left open (`alpha: path`); `TreePath.members` names the candidates."""
        return bool(getattr(self.pruner, "is_family", False))

    def _path(self, task: AnyTask, rows: Integers, rng: np.random.Generator, growth: GrowthParams) -> TreePath | NumberTreePath:
        """Grow the tree, with rows held back where the pruner wants some."""
        if isinstance(task, NumberTask):
            return self._number_path(task, rows, rng, growth)
        growing, pruning = held_back(task, rows, self._held_share, rng)
        signs = monotone_signs(self.monotone, task)
        tree = grow_two_classes(task, growing, growth, signs) if signs else grow(task, growing, self.criterion, growth)
        weights, counts = task.row_weights, None
        if pruning is not None:
            counts = weights_by_node(tree, route(tree, task, pruning), task.target[pruning], weights[pruning])
        evidence = PruningData(total=float(tree.weight[0]), pruning_counts=counts, reroute=RerouteState(tree, task, growing))
        certain = self.missing in CERTAIN or (task.weights is None and columns(task).complete)
        if self._judged:
            return TreePath(tree, evidence, task, growing, certain=certain, judging=pruning)
        return TreePath(tree, evidence, task, rows, certain=certain)

    def _number_path(self, task: NumberTask, rows: Integers, rng: np.random.Generator, growth: GrowthParams) -> NumberTreePath:
        """Grow the tree of a target that is a number."""
        growing, pruning = held_back(task, rows, self._held_share, rng)
        tree = grow_numbers(task, growing, growth, self.criterion.number_loss, monotone_signs(self.monotone, task))
        weight, numbers = None, None
        if pruning is not None:
            sent = route(tree, task, pruning)
            weight, numbers = numbers_by_node(tree, sent, task.target[pruning], task.row_weights[pruning])
        evidence = PruningData(total=float(tree.weight[0]), pruning_counts=weight, pruning_numbers=numbers)
        known = self.missing in CERTAIN or (task.weights is None and columns(task).complete)
        return NumberTreePath(tree, evidence, task, rows, growing, certain=known and pruning is None)
