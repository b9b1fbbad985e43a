"""The part of a plan that nested cross-validation adds: the whole selection again, once for each analysis part."""

from dataclasses import dataclass
from itertools import combinations

from modelsel.core.types import Resampling


@dataclass(frozen=True)
class Nesting:
    """The number of selections that nested cross-validation repeats, and the mean share of the rows that each uses."""

    selections: int
    share: float
    sometimes: bool = False  # only where the corrected score lies near the floor

    @classmethod
    def of(cls, outer: Resampling, rows: int, pairs: bool, sometimes: bool = False) -> "Nesting":
        """`pairs`: the selections without each pair of folds of a repeat too, K (K + 1) / 2 in all."""
        parts = [len(fold.analysis) for fold in outer.folds]
        if pairs:
            two = combinations(outer.folds, 2)
            parts += [len(one.analysis) - len(other.assessment) for one, other in two if one.repeat == other.repeat]
        return cls(len(parts), sum(parts) / len(parts) / rows, sometimes)
