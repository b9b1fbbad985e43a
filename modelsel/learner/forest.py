"""Forest: trees grown on drawn rows with drawn features, which vote.

Random forests (the defaults), bagged trees and extremely randomised trees are recipes (conf/learner/forest.yaml,
bagged_trees.yaml, extra_trees.yaml). Draws are keyed by seed, tree and place in the tree, so that one grown forest answers
every number of trees, limit, pruning strength and way of voting, exactly as a forest grown for it alone would.

Breiman 1996, *Bagging predictors*; Breiman 2001, *Random forests*; Geurts, Ernst & Wehenkel 2006, *Extremely randomized trees*.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log2, sqrt
from typing import ClassVar

import numpy as np

from modelsel.core.spec import kind_of, number, one_of, optional, part, plain, spec_of, whole
from modelsel.core.types import BOTH_TASKS, AnyTask, ClassTask, Description, Integers, NumberTask, Table, TaskKind
from modelsel.criterion.base import BaseCriterion
from modelsel.forest.growth import ALL, BOOTSTRAP, MOST_TREES, NOMINAL, SUBSAMPLE, ForestData, ForestGrowth
from modelsel.kernels.layout import GENERAL
from modelsel.learner.base import BaseLearner
from modelsel.learner.forests.model import (
    ForestModel,
    NumberForestModel,
    QuantileForestModel,
    restore,
    restore_numbers,
    restore_quantiles,
)
from modelsel.learner.forests.path import ForestPath
from modelsel.learner.trees.leaf import MEAN, MEDIAN, QUANTILE, Leaf
from modelsel.learner.trees.model import READS_CLASSES, SQUARED
from modelsel.pruner.base import Pruning
from modelsel.tree.growing.growth import monotone_problems, monotone_signs, same, sorted_monotone

FEATURES = ("sqrt", "log2", "all")
ABOUT_CLASSES = ("vote", "purity")


@dataclass(frozen=True)
class Forest(BaseLearner):
    """Trees on rows and columns that chance chooses, whose leaves vote.

    `min_split` and `min_leaf` count distinct rows, as scikit-learn's forests do. Where the target is a number, trees grow by
    squared error (`criterion` gini or variance) and say the means of leaves, or with `leaf.statistic` (median or quantile) a
    quantile of the rows that they keep; `vote` and `purity` are about classes.
    """

    trees: int = whole(100, least=1, help="a larger forest is steadier, never more overfitted")
    features: str | int | float = plain("sqrt", help="looked at per node: sqrt, log2, all, a share below 1, or a number")
    rows: str | float = plain("bootstrap", help="of each tree: bootstrap, all, or a share drawn without repetition")
    cuts: str = one_of("best", "random", help="random: one cut per feature, drawn between its extremes")
    vote: str = one_of("mean", "majority", help="mean of the leaves' class shares, or one vote per tree")
    honest: float = number(0.0, least=0.0, most=0.9, help="share of a tree's rows that fill its leaves and choose no cut")
    criterion: BaseCriterion = part("criterion", "gini")
    nominal: str = one_of("subset", "equality", help="a set of levels, or one level against the rest")
    missing: str = one_of("branch", "majority", help="missing values take the better branch of a test, or the larger one")
    min_leaf: float = number(1, above=0.0, help="distinct rows that a branch must have")
    max_depth: int | None = whole(None, least=0, help="levels of tests below the root; 0: one leaf; null: no limit")
    min_split: float = number(2, least=0.0, help="distinct rows below which a node is not split")
    min_gain: float = number(0.0, least=0.0, help="goodness below which a node is not split")
    purity: float = number(1.0, above=0.0, most=1.0, help="share of one class from which a node is not split")
    pruner: Pruning = part("pruner", "unpruned")
    leaf: Leaf = plain(Leaf())

    monotone: Mapping[str, str] | tuple[tuple[str, str], ...] | None = optional(
        help="of numbers and two classes: {column: increasing or decreasing}, by squared error or gini alone"
    )

    path_parameters: ClassVar[tuple[str, ...]] = (
        "trees", "vote", "max_depth", "min_split", "min_gain", "purity", "pruner", "leaf",
    )  # fmt: skip
    unit: ClassVar[str] = "leaves"
    reads: ClassVar[tuple[TaskKind, ...]] = BOTH_TASKS
    holds_gil: ClassVar[bool] = False
    no_training_error: ClassVar[str] = (
        "a forest would send every analysis row down every tree for it, and says little there: most trees have seen the row"
    )

    @classmethod
    def kernels(cls, task: AnyTask) -> tuple[str, ...]:
        """Growing, and asking trees one by one and together."""
        return "grow_forest", "forest_nodes", "forest_grid", "forest_votes", "forest_predict", "draws", "rank"

    def __post_init__(self) -> None:
        """Bring settings into one form: a number of features as a count or a share below 1, directions sorted by column."""
        object.__setattr__(self, "features", _count_or_share(self.features))
        object.__setattr__(self, "monotone", sorted_monotone(self.monotone))

    @property
    def in_every_bag(self) -> bool:
        """Say whether all trees see every row, so that none is ever out of bag."""
        return self.rows == "all" or self.rows == 1.0

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Yield what is wrong with the settings, the criterion and the pruner."""
        yield from self._problems_with_monotone(task) if self.monotone is not None else ()
        if isinstance(task, NumberTask):
            yield from self._problems_with_numbers()
            return
        if isinstance(task, ClassTask) and "classes" not in self.criterion.reads:
            yield f"criterion={kind_of(self.criterion)} reads numbers, and this target has classes: use gini or entropy"
        yield from self.criterion.problems(task)
        yield from self.leaf.problems(len(task.classes) if isinstance(task, ClassTask) else None)
        yield from self._problems_with_draws()
        criterion = self.criterion
        compared = criterion.ratio or criterion.average or criterion.penalty or criterion.worth_loop is not same
        if compared or (criterion.fused == GENERAL and criterion.loop is None and "classes" in criterion.reads):
            yield "a forest compares cuts by goodness alone; use criterion=gini, entropy or another one with a compiled form"

    def _problems_with_numbers(self) -> Iterable[str]:
        """Yield the settings that speak of classes, which a target that is a number has not."""
        yield from self._problems_with_draws()
        if kind_of(self.criterion) not in SQUARED:
            reason = READS_CLASSES if "numbers" not in self.criterion.reads else "is for single trees of numbers"
            yield f"criterion={kind_of(self.criterion)} {reason}: use criterion=variance"
        if "numbers" not in self.pruner.reads:
            yield f"pruner={kind_of(self.pruner)} {READS_CLASSES}: use unpruned or cost_complexity"
        if getattr(self.pruner, "impurity", "") == "entropy":
            yield f"pruner.impurity=entropy {READS_CLASSES}: use another"
        yield from self._problems_with_leaves()
        own, usual = spec_of(self), spec_of(Forest())
        yield from (f"{name} {READS_CLASSES}: leave it out" for name in ABOUT_CLASSES if own[name] != usual[name])
        if self.trees > MOST_TREES:
            yield f"a forest of numbers has {MOST_TREES} trees at most, not {self.trees}: their sum is exact up to there"

    def _problems_with_monotone(self, task: Table | None) -> Iterable[str]:
        """Yield why answers cannot be held to rise or fall with columns."""
        yield from monotone_problems(self.monotone, task)
        if kind_of(self.criterion) not in SQUARED:
            yield f"monotone holds trees by squared error: use criterion=variance or gini, not {kind_of(self.criterion)}"
        if self.honest:
            yield "monotone holds what leaves say of the rows that grew them: set honest=0"
        if self.leaf.score != "frequency" or self.leaf.statistic not in (None, MEAN):
            yield "monotone holds what leaves say of their rows: leave leaf.score and leaf.statistic out"

    def _problems_with_leaves(self) -> Iterable[str]:
        """Yield what is wrong with what leaves say of numbers."""
        if self.leaf.statistic not in (None, MEAN, MEDIAN, QUANTILE):
            yield f"leaf.statistic={self.leaf.statistic} is for single trees: a forest says mean, median or quantile"
        else:
            yield from self.leaf.number_problems("unpruned")
        if self.leaf.quantile is not None and self.honest:
            yield "leaf.statistic of a forest keeps the rows that grew it: set honest=0"

    def _problems_with_draws(self) -> Iterable[str]:
        """Yield what is wrong whatever the target is."""
        yield from self.pruner.problems(False)
        yield from _unreadable("features", self.features, FEATURES, whole=True)
        yield from _unreadable("rows", self.rows, ("bootstrap", "all"), whole=False)
        if self.pruner.fit_key() or getattr(self.pruner, "raising", False):
            kind = kind_of(self.pruner)
            yield f"pruner {kind} needs rows of its own; use unpruned, cost_complexity or another one that counts"
        if getattr(self.pruner, "is_family", False):
            yield "alpha: path names the strengths of one tree; give numbers to a forest"

    def fit_path(self, task: AnyTask, rows: Integers, rng: np.random.Generator) -> ForestPath:
        growth = self._growth(task, rows)
        return ForestPath(ForestData.of(task, rows, growth, int(rng.integers(2**63))), growth)

    def fit(
        self, task: AnyTask, rows: Integers, rng: np.random.Generator
    ) -> ForestModel | NumberForestModel | QuantileForestModel:
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> ForestModel | NumberForestModel | QuantileForestModel:
        if "q" in description.facts:
            return restore_quantiles(description)
        return restore_numbers(description) if "numbers" in description.facts else restore(description)

    def _growth(self, task: AnyTask, rows: Integers) -> ForestGrowth:
        """Turn the settings into numbers for a task of so many features and rows."""
        how, size = {"all": (ALL, 0), "bootstrap": (BOOTSTRAP, 0)}.get(str(self.rows), (SUBSAMPLE, 0))
        if how == SUBSAMPLE:
            size = max(1, round(float(self.rows) * int((task.row_weights[rows] > 0).sum())))
        return ForestGrowth(
            self.criterion, _looked_at(self.features, len(task.features)), how, size, self.honest, self.cuts == "random",
            float(self.min_leaf), NOMINAL[self.nominal], self.missing == "majority", monotone_signs(self.monotone, task),
        )  # fmt: skip


def _unreadable(name: str, value: str | float, words: tuple[str, ...], whole: bool) -> Iterable[str]:
    """Yield a problem for a word or a number that the setting does not take."""
    numbers = "a share above 0 and at most 1" + (", or a number of features" if whole else "")
    if isinstance(value, str):
        if value not in words:
            yield f"{name} is one of {', '.join(words)}, {numbers}, not {value!r}"
    elif isinstance(value, bool) or value <= 0 or (value > 1 and not (whole and float(value).is_integer())):
        yield f"{name} as a number is {numbers}, not {value!r}"


def _count_or_share(features: str | float) -> str | float:
    """Whole numbers as int, but a share of 1.0 as `all`: digests do not tell 1.0 from 1.

    >>> [_count_or_share(number) for number in (1, 1.0, 3.0, 0.5)]
    [1, 'all', 3, 0.5]
    """
    if isinstance(features, float) and features.is_integer():
        return "all" if features == 1.0 else int(features)
    return features


def _looked_at(features: str | float, available: int) -> int:
    """Features per node: whole numbers are counts, what is below 1 are shares (rounded down, at least one).

    >>> [_looked_at(word, 20) for word in ("sqrt", "log2", "all", 0.5, 3)]
    [4, 4, 20, 10, 3]
    """
    if isinstance(features, str):
        asked = {"sqrt": int(sqrt(available)), "log2": int(log2(max(available, 1))), "all": available}[features]
    else:
        asked = int(features) if isinstance(features, int) else int(features * available)
    return min(max(1, asked), max(1, available))
