"""Units of a bootstrap of the loss matrix: rows, or whole groups, with their weighted sums of losses."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Floats, Integers

BLOCK = 1 << 22  # numbers looked at at a time
EXACT = 1 << 24  # sums of 0/1 losses below this are exact in single precision


@dataclass(frozen=True, eq=False)
class Units:
    """`total` is units × usable candidates: Σ w_i l_i over the unit's rows; `weight` its Σ w_i."""

    total: NDArray[Any]
    weight: Floats
    candidates: Integers
    usable: Booleans

    @cached_property
    def equal(self) -> bool:
        """True where every unit counts once."""
        return bool((self.weight == 1.0).all())


def units(losses: NDArray[Any], eligible: Booleans, groups: Integers | None, weights: Floats | None) -> Units:
    """Assessed rows, summed over groups where there are groups; candidates with a gap in their losses are not usable.

    0/1 losses of every row and candidate are not copied: the matrix may be mapped from a file.
    """
    parts = _blocks(len(losses), losses.shape[1])
    assessed = np.concatenate([~np.isnan(losses[part][:, eligible]).all(axis=1) for part in parts])
    usable = eligible.copy()
    for part in parts:
        usable &= ~np.isnan(losses[part][assessed[part]]).any(axis=0)
    rows, candidates = np.flatnonzero(assessed), np.flatnonzero(usable)
    own = losses if assessed.all() and usable.all() else losses[np.ix_(rows, candidates)]
    if groups is None and weights is None and len(rows) < EXACT and all(np.isin(own[part], (0, 1)).all() for part in parts):
        return Units(own.astype(np.float32, copy=False), np.ones(len(rows)), candidates, usable)
    weight = np.ones(len(rows)) if weights is None else weights[rows]
    total = own.astype(np.float64) * weight[:, None]
    if groups is None:
        return Units(total, weight, candidates, usable)
    _, unit = np.unique(groups[rows], return_inverse=True)
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    return Units(np.add.reduceat(total[order], starts), np.bincount(unit, weight).astype(np.float64), candidates, usable)


def _blocks(rows: int, columns: int) -> list[slice]:
    size = max(1, BLOCK // max(columns, 1))
    return [slice(start, start + size) for start in range(0, max(rows, 1), size)]
