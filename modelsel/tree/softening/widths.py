"""The widths of a tree's ramps, and the tests that can be softened."""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Floats
from modelsel.tree.structure.node import THRESHOLD, DecisionTree


@dataclass(frozen=True, eq=False)
class Widths:
    """Per node: how far the ramp reaches below and above the threshold; 0 where the test is hard."""

    below: Floats
    above: Floats

    @classmethod
    def none(cls, tree: DecisionTree) -> "Widths":
        return cls(np.zeros(len(tree)), np.zeros(len(tree)))


def ramps(tree: DecisionTree) -> Booleans:
    """Mask the tests that can be softened: thresholds on numeric features (an ordered level is not a distance)."""
    numeric = np.array([feature.kind == "numeric" for feature in tree.features] + [False])
    soft: Booleans = (tree.test == THRESHOLD) & numeric[tree.feature]
    return soft
