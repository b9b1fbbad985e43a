"""The training rows of a search over widths: their values at the tests, and each class against the rest."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats, Integers
from modelsel.tree.structure.node import DecisionTree


@dataclass(frozen=True, eq=False)
class ClassContrast:
    """One class against the rest: its score per leaf, which rows are of it, and the order of the last scores."""

    of_leaf: Floats
    positive: NDArray[np.uint8]
    share: float  # of the training weight
    order: Integers


@dataclass(frozen=True, eq=False)
class ObjectiveRows:
    """Rows (values at the tests, weights) and the classes that do not have all rows (two classes: the second alone)."""

    tree: DecisionTree
    x: Floats
    weights: Floats
    classes: tuple[ClassContrast, ...]
    kind: str
    scores: Floats  # scratch, as is `scratch`
    scratch: Integers
    by_test: Floats | None = None  # x, tests × rows, where every test is a ramp and no row is divided

    def mean(self, values: list[float]) -> float:
        """Mean over classes by their share; NaN when there is only one class."""
        return float(np.average(values, weights=[each.share for each in self.classes])) if values else np.nan
