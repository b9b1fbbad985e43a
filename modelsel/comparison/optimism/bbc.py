"""Bootstrap bias-corrected cross-validation: what the winner is worth, allowing for its having been picked.

Each resample draws rows (groups, where there are groups) of the out-of-fold loss matrix with replacement, applies the
declared rule to the drawn ones, and scores what it picked on the rows that were left out. No model is fitted again.

    corrected = mean over resamples of the picked candidate's mean loss out of bag

Rows that no fold assessed take no part. Counts of draws times the loss matrix give all in-bag means at once.
Source: Tsamardinos, Greasidou & Borboudakis (2018), Machine Learning 107.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.comparison.optimism.units import Units, units
from modelsel.core.protocols import Rule
from modelsel.core.types import Floats, Integers, Scoreboard

RESAMPLES = 1000
CELLS = 1 << 22  # draws × units that are held at a time


@dataclass(frozen=True, eq=False)
class Corrected:
    """The corrected estimate with a percentile interval; `same` is the share of resamples that pick the winner itself.

    For a rule with bounds: `reached`, what the picked candidates reach out of bag of the bounded measures, and `feasible`, the
    share of resamples in which anybody keeps the bounds.
    """

    mean: float
    low: float
    high: float
    same: float
    resamples: int
    method: str = "bbc"
    reached: Mapping[str, float] = field(default_factory=dict)
    feasible: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        own = {key: getattr(self, key) for key in ("method", "mean", "low", "high", "same", "resamples")}
        return {**own, "reached": dict(self.reached), "feasible": self.feasible} if self.reached else own


def bbc(
    losses: NDArray[Any],
    board: Scoreboard,
    rule: Rule,
    *,
    winner: int,
    groups: Integers | None = None,
    weights: Floats | None = None,
    resamples: int = RESAMPLES,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Corrected | None:
    """Correct the score of `rule`'s choice; None when fewer than two rows (groups) were assessed.

    `losses` is rows × candidates in the measure's own sign, NaN where not assessed.
    """
    of = units(losses, board.eligible, groups, weights)
    if len(of.weight) < 2:
        return None
    scores, picked = [], []
    for counts in draws(len(of.weight), resamples, rng):
        mean, se = _in_bag(of, counts, getattr(rule, "needs_se", False))
        for draw, own_mean, own_se in zip(counts, mean, se):
            choice = rule.choose(_board(board, of, own_mean, own_se))
            picked.append(choice)
            scores.append(_out_of_bag(of, draw == 0, choice))
    return summary(np.array(scores), np.array(picked), winner, level)


def summary(scores: Floats, picked: Integers, winner: int, level: float) -> Corrected:
    """Mean and percentiles of the out-of-bag scores that are defined."""
    known = scores[np.isfinite(scores)]
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    same = float(np.mean(picked == winner))
    return Corrected(float(known.mean()), float(low), float(high), same, len(known))


def draws(size: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield how often each unit is drawn, resamples × units, in blocks; a resample that leaves nobody out is drawn again."""
    block = max(1, CELLS // size)
    done = 0
    while done < resamples:
        many = min(block, resamples - done)
        drawn = rng.integers(size, size=(many, size)) + np.arange(many)[:, None] * size
        counts = np.bincount(drawn.ravel(), minlength=many * size).reshape(many, size)
        counts = counts[(counts == 0).any(axis=1)]
        done += len(counts)
        yield counts.astype(np.float64)


def _in_bag(of: Units, counts: Floats, with_error: bool) -> tuple[Floats, Floats]:
    """Means (resamples × candidates) and, where the rule reads them, their standard errors over units."""
    weight = (counts @ of.weight)[:, None]
    mean = (counts.astype(of.total.dtype) @ of.total).astype(np.float64) / weight
    if not with_error:
        return mean, np.full_like(mean, np.nan)
    total = of.total.astype(np.float64)
    square = counts @ total**2 - 2 * mean * (counts @ (total * of.weight[:, None])) + mean**2 * (counts @ of.weight**2)[:, None]
    return mean, np.sqrt(np.maximum(square, 0.0)) / weight


def _board(board: Scoreboard, of: Units, mean: Floats, se: Floats) -> Scoreboard:
    """The scoreboard as the drawn rows show it; candidates without row losses cannot be picked."""
    whole, error = np.full(len(board.ids), np.nan), np.full(len(board.ids), np.nan)
    whole[of.candidates], error[of.candidates] = mean, se
    return replace(board, mean=whole, se=error, eligible=of.usable)


def _out_of_bag(of: Units, left: NDArray[np.bool_], choice: int) -> float:
    column = int(np.searchsorted(of.candidates, choice))
    return float(of.total[left, column].sum(dtype=np.float64) / of.weight[left].sum())
