"""Bootstrap bias-corrected cross-validation: what the winner is worth, allowing for its having been picked.

Each resample draws rows (groups, where there are groups) of the out-of-fold loss matrix with replacement, applies the
declared rule to the drawn ones, and scores what it picked on the rows that were left out. No model is fitted again.

    corrected = mean over resamples of the picked candidate's mean loss out of bag

Rows that no fold assessed take no part. Counts of draws times the loss matrix give all in-bag means at once.
Source: Tsamardinos, Greasidou & Borboudakis (2018), Machine Learning 107. Their interval is that of percentiles of the scores
out of bag; of error rates it is too wide, and `share_interval` stands in its place.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ndtri

from modelsel.core.facts import UNSTATED
from modelsel.core.fingerprint import generator
from modelsel.core.outcome import CorrectedBy, CorrectedFacts
from modelsel.core.types import Booleans, Floats, Integers, Resampling, Scoreboard, Task
from modelsel.measure.base import BaseMeasure
from modelsel.rule.base import BaseRule
from modelsel.runner.racing import least_losses
from modelsel.runner.results import Results
from modelsel.statistics.sampling import count_draws

# Units of a bootstrap of the loss matrix: rows, or whole groups, with their weighted sums of losses.

BLOCK = 1 << 22  # numbers looked at at a time
EXACT = 1 << 24  # sums of 0/1 losses below this are exact in single precision


@dataclass(frozen=True, eq=False)
class Units:
    """`total` is units × usable candidates: Σ w_i l_i over the unit's rows; `weight` its Σ w_i.

    `of_row` is the unit of each row of the matrix, −1 where it was not assessed.
    """

    total: NDArray[np.generic]
    weight: Floats
    candidates: Integers
    usable: Booleans
    of_row: Integers

    @cached_property
    def equal(self) -> bool:
        """True where every unit counts once."""
        return bool((self.weight == 1.0).all())


def units(losses: NDArray[np.generic], eligible: Booleans, groups: Integers | None, weights: Floats | None) -> Units:
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
    of_row = np.full(len(losses), -1)
    of_row[rows] = np.arange(len(rows))
    if groups is None and weights is None and len(rows) < EXACT and all(np.isin(own[part], (0, 1)).all() for part in parts):
        return Units(own.astype(np.float32, copy=False), np.ones(len(rows)), candidates, usable, of_row)
    weight = np.ones(len(rows)) if weights is None else weights[rows]
    total = own.astype(np.float64) * weight[:, None]
    if groups is None:
        return Units(total, weight, candidates, usable, of_row)
    _, unit = np.unique(groups[rows], return_inverse=True)
    of_row[rows] = unit
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    weights_of = np.bincount(unit, weight).astype(np.float64)
    return Units(np.add.reduceat(total[order], starts), weights_of, candidates, usable, of_row)


MOST = 1 << 17  # units that are drawn one by one
DEALT = 1 << 14  # blocks that more of them are dealt into


def deal_blocks(of: Units, rng: np.random.Generator) -> Units:
    """Deal more than `MOST` units into blocks by lot, which are drawn instead: of a million rows each resample draws 16,384.

    Blocks made by lot of independent units are independent and alike, so that their bootstrap has the variance of the units'.
    """
    many = len(of.weight)
    if many <= MOST:
        return of
    block = rng.permutation(many) % DEALT
    into = csr_array((np.ones(many), (block, np.arange(many))), shape=(DEALT, many))
    some = max(1, BLOCK // many)
    parts = [into @ of.total[:, at : at + some].astype(np.float64) for at in range(0, of.total.shape[1], some)]
    of_row = np.where(of.of_row < 0, -1, block[of.of_row])
    return replace(of, total=np.hstack(parts), weight=np.asarray(into @ of.weight), of_row=of_row)


def _blocks(rows: int, columns: int) -> list[slice]:
    size = max(1, BLOCK // max(columns, 1))
    return [slice(start, start + size) for start in range(0, max(rows, 1), size)]


RESAMPLES = 1000
CELLS = 1 << 22  # draws × units that are held at a time


@dataclass(frozen=True, eq=False)
class Corrected:
    """The corrected estimate with its interval; `same` is the share of resamples that pick the winner itself.

    For a rule with bounds: `reached`, what the picked candidates reach out of bag of the bounded measures, and `feasible`, the
    share of resamples in which anybody keeps the bounds. `alone` has, by position, what ensembles are worth that are picked
    again in each resample.
    """

    mean: float
    low: float
    high: float
    same: float
    resamples: int
    method: CorrectedBy = "bbc"
    reached: Mapping[str, float] = field(default_factory=dict)
    feasible: float = 1.0
    alone: Mapping[int, "Corrected"] = field(default_factory=dict)

    def to_dict(self) -> CorrectedFacts:
        """The estimate as it is written."""
        return CorrectedFacts(
            method=self.method, mean=self.mean, low=self.low, high=self.high, same=self.same, resamples=self.resamples,
            reached=dict(self.reached) or UNSTATED, feasible=self.feasible if self.reached else UNSTATED,
        )  # fmt: skip


class Repeated(Protocol):
    """A candidate that is made anew in each resample, by the rows that are drawn: an ensemble."""

    def scores(self, drawn: Floats, left: Floats, means: Floats, beside: Sequence[BaseMeasure] = ()) -> list[float]:
        """Return its score on the rows that are left out, and what it has there of other measures.

        `drawn` is how often each row is drawn (0 where it was not assessed), `left` 1 for those left out; `means` are the
        scores in bag of all candidates.
        """
        ...


NOBODY: Mapping[int, Repeated] = {}


def bbc(
    losses: NDArray[np.generic],
    board: Scoreboard,
    rule: BaseRule,
    *,
    winner: int,
    groups: Integers | None = None,
    weights: Floats | None = None,
    resamples: int = RESAMPLES,
    rng: np.random.Generator,
    level: float = 0.95,
    zero_one: bool = False,
    repeated: Mapping[int, Repeated] = NOBODY,
) -> Corrected | None:
    """Correct the score of `rule`'s choice; None when fewer than two rows (groups) were assessed.

    `losses` is rows × candidates in the measure's own sign, NaN where not assessed; `zero_one` says that they are 0 or 1, or
    means of such over repeats. Of candidates that are `repeated` the losses choose in bag; out of bag counts what is made of
    the rows in bag.
    """
    of = deal_blocks(units(losses, board.eligible, groups, weights), rng)
    if len(of.weight) < 2:
        return None
    scores: list[float] = []
    picked: list[int] = []
    left: list[int] = []
    again: dict[int, list[float]] = {one: [] for one in repeated}
    for counts in draws(len(of.weight), resamples, rng):
        out = counts == 0
        left.extend(out.sum(axis=1).tolist())
        mean, se = _in_bag(of, counts, getattr(rule, "needs_se", False))
        choices = _choices(rule, board, of, mean, se)
        found = _out_of_bag(of, out, choices)
        for at, (draw, choice, own) in enumerate(zip(counts, choices, mean)):
            for one, each in repeated.items():
                again[one] += each.scores(*rows_of(draw, of.of_row), _spread(board, of, own[None])[0])
            found[at] = again[choice][-1] if choice in again else found[at]
        picked.extend(choices)
        scores.extend(found)
    worth = _worth(losses, board.eligible, weights) if zero_one else None

    def summed(each: Sequence[float], whose: Integers, of_whom: int) -> Corrected:
        return summary(np.array(each), np.array(left), len(of.weight), whose, of_whom, level, worth)

    alone = {one: summed(each, np.full(len(each), one), one) for one, each in again.items()}
    return replace(summed(scores, np.array(picked), winner), alone=alone)


def rows_of(draw: Floats, of_row: Integers) -> tuple[Floats, Floats]:
    """Count how often each row is drawn, and 1 for each that is left out; neither where it was not assessed.

    >>> [part.tolist() for part in rows_of(np.array([2.0, 0.0]), np.array([0, 1, -1, 0]))]
    [[2.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, 0.0]]
    """
    known = of_row >= 0
    drawn = np.where(known, draw[of_row], 0.0)
    return drawn, (known & (drawn == 0)).astype(np.float64)


def _worth(losses: NDArray[np.generic], eligible: Booleans, weights: Floats | None) -> float:
    assessed = ~np.isnan(losses[:, int(np.argmax(eligible))])
    return effective_rows(int(assessed.sum()), None if weights is None else weights[assessed])


def effective_rows(rows: int, weights: Floats | None) -> float:
    """Return the number of rows of equal weight that rows of these weights are worth: (Σ w)² / Σ w² (Kish 1965).

    >>> effective_rows(3, None), effective_rows(3, np.array([1.0, 1.0, 2.0]))
    (3.0, 2.6666666666666665)
    """
    return float(rows) if weights is None else float(weights.sum() ** 2 / np.square(weights).sum())


def summary(
    scores: Floats, left: Integers, units: int, picked: Integers, winner: int, level: float = 0.95, rows: float | None = None
) -> Corrected:
    """Mean and interval of the out-of-bag scores that are defined; `left` of `units` were out of bag in each resample.

    `rows` is how many rows of equal weight there are where a score is a share of rows; otherwise the interval is that of
    percentiles.
    """
    known = np.isfinite(scores)
    if rows is None:
        low, high = np.quantile(scores[known], [(1 - level) / 2, (1 + level) / 2]).tolist()
    else:
        low, high = share_interval(scores[known], left[known], units, level, rows)
    return Corrected(float(scores[known].mean()), low, high, float(np.mean(picked == winner)), int(known.sum()))


# The interval of a share of rows (an error rate).
#
# The score of m of n units that were drawn without repetition varies about that of all n by n/m − 1 times the variance that
# the score of n units has. So each deviation is squared and weighed by m / (n − m), which is what the jackknife does that
# deletes d = n − m units (Shao & Wu 1989, Annals of Statistics 17); what varies because another candidate is picked counts as
# well. The standard error is widened by 1 + 2.5 / sqrt(n): losses are skewed, and folds share the rows that they are fitted
# on, so that without it the interval misses too often on few rows (docs/corrected.md); at most by sqrt(e − 1), which undoes
# the weighing. The ends are Wilson's (1927), of as many rows as have that standard error: not a point where no row was wrong.

WIDER, WIDEST = 2.5, np.sqrt(np.e - 1)


def share_interval(scores: Floats, left: Integers, units: int, level: float, rows: float) -> tuple[float, float]:
    """Ends of the interval around the mean of scores that are shares of rows, of which `rows` are assessed.

    >>> scores, left = np.full(100, 0.0), np.full(100, 37)
    >>> low, high = share_interval(scores, left, 100, 0.95, 100)  # no error in 100 rows: z² / (n + z²)
    >>> low, round(high, 4)
    (0.0, 0.037)
    """
    centre, z = float(scores.mean()), float(ndtri((1 + level) / 2))
    variance = float(np.mean(np.square(scores - centre) * left / np.maximum(units - left, 1)))
    error = float(np.sqrt(variance) * min(1 + WIDER / np.sqrt(units), WIDEST))
    worth = rows if error == 0 else min(rows, centre * (1 - centre) / error**2)
    share = z**2 / worth
    middle, half = (centre + share / 2) / (1 + share), np.sqrt(share * centre * (1 - centre) + share**2 / 4) / (1 + share)
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)


def draws(size: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield how often each unit is drawn, resamples × units, in blocks; a resample that holds every unit is drawn again."""
    block = max(1, CELLS // size)
    done = 0
    while done < resamples:
        counts = count_draws(size, min(block, resamples - done), rng)
        left = (counts == 0).any(axis=1)
        counts = counts if left.all() else counts[left]
        done += len(counts)
        yield counts


def _in_bag(of: Units, counts: Floats, with_error: bool) -> tuple[Floats, Floats]:
    """Means (resamples × candidates) and, where the rule reads them, their standard errors over units."""
    weight = (np.full(len(counts), float(len(of.weight))) if of.equal else counts @ of.weight)[:, None]
    mean = (counts.astype(of.total.dtype) @ of.total).astype(np.float64) / weight
    if not with_error:
        return mean, np.full_like(mean, np.nan)
    total = of.total.astype(np.float64)
    square = counts @ total**2 - 2 * mean * (counts @ (total * of.weight[:, None])) + mean**2 * (counts @ of.weight**2)[:, None]
    return mean, np.sqrt(np.maximum(square, 0.0)) / weight


def _choices(rule: BaseRule, board: Scoreboard, of: Units, mean: Floats, se: Floats) -> Sequence[int]:
    """Choices of the rule from the drawn rows; candidates without row losses cannot be picked."""
    boards, whole, error = replace(board, eligible=of.usable), _spread(board, of, mean), _spread(board, of, se)
    own_class = vars(type(rule))  # a subclass may choose otherwise
    if "choose_each" in own_class and not getattr(rule, "bounds", ()):
        return list(map(int, own_class["choose_each"](rule, boards, whole)))
    return [rule.choose(replace(boards, mean=own, se=own_se)) for own, own_se in zip(whole, error)]


def _spread(board: Scoreboard, of: Units, values: Floats) -> Floats:
    """Resamples × all candidates, NaN for those without row losses."""
    whole = np.full((len(values), len(board.ids)), np.nan)
    whole[:, of.candidates] = values
    return whole


def _out_of_bag(of: Units, out: Booleans, choices: Sequence[int]) -> list[float]:
    """Means of the choices' losses over the units that each resample left `out` (resamples × units)."""
    columns = np.searchsorted(of.candidates, choices)
    if of.total.dtype == np.float32:  # losses of 0 and 1: those of a column are counted in all its resamples at once
        wrong = np.empty(len(out))
        for column in np.unique(columns):
            whose = columns == column
            wrong[whose] = out[np.ix_(whose, of.total[:, column] == 1)].sum(axis=1)
        return (wrong / out.sum(axis=1)).tolist()  # type: ignore[no-any-return]
    return [_mean_of(of, np.flatnonzero(left), column) for left, column in zip(out, columns.tolist())]


def _mean_of(of: Units, left: Integers, column: int) -> float:
    weight = float(len(left)) if of.equal else of.weight.take(left).sum()
    return float(of.total[:, column].take(left).sum(dtype=np.float64) / weight)


# Find the dropped candidates that a resample of BBC could still pick: they have to finish before the score is corrected.
#
#     in-bag mean ≥ (Σ known losses drawn + Σ least possible losses of the other rows drawn) / Σ weights drawn
#
# A candidate whose bound is worse than the best finished one's mean in every resample is never picked; then the correction is
# the same as over all candidates. The draws are those of `bbc`.

SLACK = 1e-6  # of losses that are kept in single precision


def bbc_generator(resampling: Resampling, seed: int, task: Task | None = None) -> np.random.Generator:
    """Return the generator that draws the resamples of a study's correction; weights of the rows of `task` do not move it."""
    return generator(seed, resampling.fingerprint if task is None else resampling.drawn_by(task), "bbc")


def pickable(results: Results, resampling: Resampling, seed: int) -> frozenset[int]:
    """Positions of dropped candidates that the rule `best` could pick in some resample."""
    task, dropped = results.book.work.task, np.array([s == "dropped" for s in results.status])
    if not dropped.any() or results.losses.matrix is None:
        return frozenset()
    whole = np.asarray(results.losses.matrix, np.float64).copy()
    column = {int(member): at for at, member in enumerate(results.kept)}
    of_dropped = [column[int(member)] for member in np.flatnonzero(dropped)]
    whole[:, of_dropped] = _least_losses(results, np.flatnonzero(dropped))
    usable = results.board.eligible[results.kept].copy()
    finished = np.flatnonzero(usable)
    usable[of_dropped] = True
    rng = bbc_generator(resampling, seed, task)
    of = deal_blocks(units(whole, usable, task.groups, task.weights), rng)
    place = {int(candidate): at for at, candidate in enumerate(of.candidates)}
    done, out = [place[int(one)] for one in finished], [place[one] for one in of_dropped]
    able = np.zeros(len(out), bool)
    for counts in draws(len(of.weight), RESAMPLES, rng):
        mean = counts @ of.total.astype(np.float64) / (counts @ of.weight)[:, None]
        able |= (mean[:, out] <= mean[:, done].min(axis=1, keepdims=True) + SLACK).any(axis=0)
    return frozenset(np.flatnonzero(dropped)[able].tolist())


def _least_losses(results: Results, members: Integers) -> Floats:
    """Compute rows × members: known losses, and each row's least possible loss where its fold was not computed."""
    work = results.book.work
    task, classes = work.task, work.task.class_count
    place = {int(member): at for at, member in enumerate(members)}
    total, times = np.zeros((len(task), len(members))), np.zeros(len(task))
    known: dict[int, dict[int, Floats]] = {fold.index: {} for fold in work.resampling.folds}
    for fold, some, result in results.book.records(members):
        losses = work.measure.losses(task.target[fold.assessment], result.outputs(result.ok), classes)
        known[fold.index].update(zip(some[result.ok].tolist(), losses))
    for fold in work.resampling.folds:
        least = least_losses(work.measure, task.target[fold.assessment], classes)
        times[fold.assessment] += 1
        for member, at in place.items():
            total[fold.assessment, at] += known[fold.index].get(member, least)
    return np.divide(total, times[:, None], out=np.full_like(total, np.nan), where=times[:, None] > 0)
