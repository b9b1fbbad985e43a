"""Gain ratio: information gain per bit of split information, so that many-valued features are not preferred for that alone.

    (H(S) − Σ_r |S_r|/|S| H(S_r)) / −Σ_r |S_r|/|S| log2(|S_r|/|S|)

A numeric feature's cut is the one of largest gain; the ratio decides between features only. Quinlan 1993, *C4.5*; 1996,
*Improved use of continuous attributes in C4.5* (the penalty of release 8).
"""

from dataclasses import dataclass
from typing import ClassVar

from modelsel.core.spec import plain
from modelsel.core.types import Floats
from modelsel.criterion.base import BaseCriterion, decrease
from modelsel.criterion.entropy import entropy, gain
from modelsel.kernels.layout import ENTROPY


@dataclass(frozen=True)
class GainRatio(BaseCriterion):
    """`goodness` is the gain; the grower divides by the split information of the tests that it compares."""

    average_gain: bool = plain(True, help="only tests with at least average gain compete (Quinlan 1993)")
    numeric_penalty: bool = plain(True, help="numeric gain pays log2(admissible cuts)/N (Quinlan 1996)")

    fused: ClassVar[int] = ENTROPY
    boundary: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    ratio: ClassVar[bool] = True
    loop = staticmethod(gain)

    @property
    def average(self) -> bool:
        return self.average_gain

    @property
    def penalty(self) -> bool:
        return self.numeric_penalty

    def goodness(self, tables: Floats) -> Floats:
        return decrease(entropy, tables)
