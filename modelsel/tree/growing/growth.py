"""Settings of growing a tree that no truncation can answer: limits, directions, and the criterion as growers see it."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from modelsel.core.fittable import Judged
from modelsel.core.types import CLASS_TASKS, ClassTask, Floats, Table, TaskKind
from modelsel.kernels.layout import DEVIANCE, GENERAL, PINBALL, SQUARED, GrowthLimits, GrowthRules

MISSING = ("node_mode", "class_mode", "fractional", "branch", "surrogate")  # in the order of kernels.layout
BY_COUNT = "surrogate_count"  # surrogates that compete by the weight that they send the same way
POLICIES = (*MISSING, BY_COUNT)
SLACK = 1e-9  # of sums of weights
NOMINAL = {"equality": 2, "multiway": 3, "subset": 4}  # kinds of test, as in tree.node


@dataclass(frozen=True)
class NumberLoss:
    """The loss that trees of numbers grow by: squared error, Poisson deviance, or `times` the pinball loss of a quantile."""

    formula: int = SQUARED
    quantile: float = 0.5
    times: float = 1.0

    @property
    def by_quantile(self) -> bool:
        return self.formula == PINBALL


SQUARED_ERROR = NumberLoss()
POISSON_DEVIANCE = NumberLoss(DEVIANCE)
ABSOLUTE_ERROR = NumberLoss(PINBALL, 0.5, 2.0)


def same(goodness: float, cost: float, exponent: float) -> float:  # noqa: ARG001
    """`worth_loop` of most criteria: features compete by goodness alone."""
    return goodness


class BaseCriterion(Judged):
    """Base of criteria: a slow but complete criterion, of which a new one defines `goodness`.

    Class attributes make it faster, or restrict it. `convex` (a mean of a concave impurity) spares trying all sets of
    levels for two classes; among equal sets another may win then, and `min_leaf` chooses among prefixes only.
    `boundary`: best cuts lie between values of different classes (Fayyad & Irani 1992). `binary`: not defined for more than
    two branches. `ratio`: features compete by goodness over split information. `loop`: `goodness` of one branches × classes
    table in plain loops, which is compiled; without it the NumPy grower is used. `worth_loop`: `worth` of three numbers,
    goodness, cost and `exponent`. `fused`: ENTROPY or GINI where the grower knows the formula itself.

    Examples
    --------
    >>> import numpy as np
    >>> from modelsel.criterion.gini import Gini
    >>> float(Gini().goodness(np.array([[4.0, 0.0], [0.0, 4.0]])))
    0.5
    """

    reads: ClassVar[tuple[TaskKind, ...]] = CLASS_TASKS
    fused: ClassVar[int] = GENERAL
    boundary: ClassVar[bool] = False
    convex: ClassVar[bool] = False
    ratio: ClassVar[bool] = False
    binary: ClassVar[bool] = False  # not defined for more than two branches
    loop: ClassVar[Callable[..., float] | None] = None
    worth_loop: ClassVar[Callable[..., float]] = staticmethod(same)

    def goodness(self, tables: Floats) -> Floats:
        """Compute the goodness of splits.

        Parameters
        ----------
        tables : Floats
            Class weights of the branches, … × branches × classes, at least 0.

        Returns
        -------
        Floats
            A number per table; higher is better.
        """
        raise NotImplementedError

    @property
    def number_loss(self) -> NumberLoss:
        """The loss that trees of numbers are grown by."""
        return SQUARED_ERROR

    @property
    def average(self) -> bool:
        """True where only features of at least average goodness compete."""
        return False

    @property
    def penalty(self) -> bool:
        """True where a numeric feature pays log2(cuts) / N for the choice of its cut."""
        return False

    @property
    def exponent(self) -> float:
        """The criterion's own parameter, as the compiled growers read it."""
        return 0.0

    def worth(self, goodness: Floats, cost: Floats) -> Floats:
        """Return the values that features compete with, from the goodness of their best tests and their costs.

        Parameters
        ----------
        goodness : Floats
            Goodness of each feature's best test.
        cost : Floats
            Cost of each feature, above 0; 1 unless declared.

        Returns
        -------
        Floats
            Higher is better.
        """
        return goodness


@dataclass(frozen=True)
class GrowthParams:
    """Settings of one grown tree. `min_split` and `max_depth` only spare work: truncation would give the same."""

    missing: str = "node_mode"
    nominal: str = "multiway"
    threshold: str = "midpoint"
    min_leaf: float = 1.0
    min_leaf_rule: str = "plain"
    min_split: float = 0.0
    max_depth: int | None = None
    by_count: bool = False  # with `surrogate`

    @property
    def room(self) -> float:
        """Weight from which a node may be divided."""
        return max(self.min_split, 2 * self.min_leaf) - SLACK

    @property
    def least(self) -> float:
        """Weight that a branch must have."""
        return self.min_leaf - SLACK

    def least_of_cut(self, known: float, classes: int) -> float:
        """Weight that either side of a numeric cut must have, of so much known weight."""
        cautious = min(25.0, 0.1 * known / classes) if self.min_leaf_rule == "c45" else 0.0
        return max(self.min_leaf, cautious) - SLACK

    def rules(self, rows: int, unit: bool, **of_target: int) -> GrowthRules:
        """Return the settings as kernels read them; `of_target`: what the criterion and the classes ask for, else 0."""
        own = {
            "missing": MISSING.index(self.missing), "nominal": NOMINAL[self.nominal], "unit": int(unit),
            "cautious": int(self.min_leaf_rule == "c45"), "max_depth": 2**31 if self.max_depth is None else self.max_depth,
            "id_bits": bits_for(rows), "by_count": int(self.by_count),
        }  # fmt: skip
        return GrowthRules(**{**dict.fromkeys(GrowthRules._fields, 0), **own, **of_target})

    def limits(self, rows: int, exponent: float = 0.0, scale: float = 1.0) -> GrowthLimits:
        """Return the limits as the kernels read them, with the criterion's own parameter and the unit of its table."""
        return GrowthLimits(self.least, self.room, exponent, scale, float(rows))


def bits_for(count: int) -> int:
    """Binary digits that number `count` things from 0."""
    return max(1, math.ceil(math.log2(max(count, 2))))


# Answers that may only rise, or fall, with a column: `monotone: {column: increasing or decreasing}`.


DIRECTIONS = {"increasing": 1, "decreasing": -1}

Monotone = Mapping[str, str] | tuple[tuple[str, str], ...] | None


def sorted_monotone(monotone: Monotone) -> tuple[tuple[str, str], ...] | None:
    """Directions sorted by column; None where there are none.

    >>> sorted_monotone({"b": "increasing", "a": "decreasing"})
    (('a', 'decreasing'), ('b', 'increasing'))
    """
    if monotone is None:
        return None
    pairs = monotone.items() if isinstance(monotone, Mapping) else monotone
    return tuple(sorted((str(name), str(way)) for name, way in pairs)) or None


def monotone_signs(monotone: Monotone, table: Table) -> tuple[int, ...]:
    """Per feature 1 where answers may only rise with it, −1 where they may only fall, else 0; empty without directions."""
    ways = dict(monotone or ())
    return tuple(DIRECTIONS.get(ways.get(one.name, ""), 0) for one in table.features) if ways else ()


def monotone_problems(monotone: Monotone, task: Table | None) -> Iterable[str]:
    """Yield which directions are none, or of no column of numbers or ranks; and that there are more classes than two."""
    for name, way in dict(monotone or ()).items():
        if way not in DIRECTIONS:
            yield f"monotone.{name} is increasing or decreasing, not {way!r}"
        if task is not None and name not in [one.name for one in task.features if one.has_order]:
            yield f"monotone.{name}: there is no such column of numbers or ranks"
    if isinstance(task, ClassTask) and len(task.classes) != 2:
        yield f"monotone is of numbers and of two classes, and these are {len(task.classes)}"
