"""Learners compared on one data set, on the same folds: corrected resampled t and its Bayesian twin, Holm over all pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from modelsel.comparison.runs import ComparedRun, EntryResult
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import round_to_scale
from modelsel.statistics.bayesian import Posterior, bayes_correlated
from modelsel.statistics.paired import corrected_t, holm


@dataclass(frozen=True)
class FoldPair:
    """Mean of `second` minus `first`: its interval, p, Holm's p, and the probabilities below, in and above the region."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    posterior: Posterior


def over_folds(runs: Sequence[ComparedRun], rope: float = 0.01, level: float = 0.95) -> tuple[FoldPair, ...]:
    """All pairs of learners of runs on the same rows and folds; ConfigurationError for a single fold.

    `rope` is half the width of the region of practical equivalence, in units of the score.
    """
    learners = name_learners(runs)
    if len(next(iter(learners.values())).folds) < 2:
        fix = "use scheme=stratified_kfold"
        raise ConfigurationError(Problem("MSEL-286", "one holdout has no fold differences to compare", "compare", fix))
    ratio = runs[0].ratio
    names = list(combinations(learners, 2))
    differences = [round_to_scale(learners[b].folds - learners[a].folds, runs[0].scale) for a, b in names]
    test = corrected_t(np.array(differences), ratio, level)
    return tuple(
        FoldPair(a, b, float(mean), float(low), float(high), float(p), float(adjusted), bayes_correlated(d, ratio, rope))
        for (a, b), d, mean, low, high, p, adjusted in zip(
            names, differences, test.mean, test.low, test.high, test.p, holm(test.p)
        )
    )


def sentences(
    pairs: Sequence[FoldPair], runs: Sequence[ComparedRun], rope: float = 0.01, alpha: float = 0.05
) -> tuple[str, ...]:
    """Put the comparison into sentences that can be quoted; differences are told as the better one's advantage."""
    return tuple(
        f"{_advantage(pair, runs[0])}; p {_p(pair.p)}, Holm {_p(pair.adjusted)}: "
        f"{'told apart' if pair.adjusted <= alpha else 'not told apart'}; "
        f"practically equal (within {rope:g}) with probability {pair.posterior.within:.2f}"
        for pair in pairs
    )


def _advantage(pair: FoldPair, run: ComparedRun) -> str:
    """Say which learner of a pair is better, by how much, with the interval."""
    low, high = (pair.low, pair.high) if pair.difference >= 0 else (-pair.high, -pair.low)
    interval = f"(95 % interval {low:+.4f} to {high:+.4f})".replace("-", "−")
    if pair.difference == 0:
        return f"{pair.first} and {pair.second} have the same mean {run.measure} {interval}"
    second_better = (pair.difference > 0) == run.higher_is_better
    better, worse = (pair.second, pair.first) if second_better else (pair.first, pair.second)
    word = "higher" if run.higher_is_better else "lower"
    return f"{better} has a {word} {run.measure} than {worse}, by {abs(pair.difference):.4f} {interval}"


def name_learners(runs: Sequence[ComparedRun]) -> dict[str, EntryResult]:
    """Learners by name; those of several runs are told apart by the run's name and, where that repeats, its number."""
    names = [best.learner for run in runs for best in run.best]
    made: dict[str, EntryResult] = {}
    for number, run in enumerate(runs):
        same = sum(other.name == run.name for other in runs) > 1
        for best in run.best:
            plain = names.count(best.learner) == 1
            made[best.learner if plain else f"{run.name}{f' ({number + 1})' if same else ''}: {best.learner}"] = best
    return made


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"= {value:.4f}"
