"""Learners compared over data sets: Friedman with Iman–Davenport, Nemenyi's critical difference, Wilcoxon with Holm, Bayes.

Each learner is represented on each data set by the mean over folds of what was chosen on the other folds (`choice`), so that
many candidates are no advantage. Source: Demšar (2006); Benavoli, Corani, Demšar & Zaffalon (2017).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from modelsel.comparison.runs import ComparedRun, EntryResult, common_learners, incomplete_learners
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.fingerprint import digest, generator
from modelsel.core.types import Floats, Integers, round_to_scale
from modelsel.statistics.bayesian import Posterior, bayes_correlated, bayes_hierarchical, bayes_signed_rank
from modelsel.statistics.paired import corrected_t, holm
from modelsel.statistics.ranks import Friedman, cliques, critical_difference, friedman, nemenyi, wilcoxon


@dataclass(frozen=True)
class SetPair:
    """Two learners over data sets: median of `second` minus `first`, Wilcoxon's p, Holm's p, the Bayesian signed rank.

    `nemenyi` is Nemenyi's p of their mean ranks, which all pairs share the level of.
    `equal` data sets, with a difference of zero, are dropped by Wilcoxon's test; `hierarchical` is the Bayesian test over folds
    and data sets, None where a data set was judged by one fold.
    """

    first: str
    second: str
    median: float
    p: float
    adjusted: float
    posterior: Posterior
    nemenyi: float
    equal: int = 0
    hierarchical: Posterior | None = None


@dataclass(frozen=True, eq=False)
class OverSets:
    """The table (data sets × learners), its ranks, and the critical-difference diagram: `bars` join what is not told apart.

    `won` counts the data sets on which the row's learner is told apart as better than the column's; `sizes` is the
    complexity of each learner's best candidate, in `unit` (empty where the learners' units differ).
    """

    data: tuple[str, ...]
    learners: tuple[str, ...]
    measure: str
    table: Floats
    friedman: Friedman
    difference: float
    bars: tuple[tuple[int, ...], ...]
    pairs: tuple[SetPair, ...]
    won: Integers
    sizes: Floats
    unit: str
    left_out: Mapping[str, tuple[str, ...]]
    chosen: bool
    higher_is_better: bool


ALPHA = 0.05  # level of all tests
LISTED = 8  # learners that a sentence names


def over_sets(runs: Sequence[ComparedRun], rope: float = 0.01) -> OverSets:
    """Compare the learners that all runs share, in the order of their mean ranks; each run is one data set.

    Scores of numbers are shares of what the mean scores: units of two targets are not compared.
    """
    numbers, runs = any(run.scale != 1.0 for run in runs), [run.relative for run in runs]
    measure = f"{runs[0].measure} as a share of the floor's" if numbers else runs[0].measure
    learners = _best_first(runs)
    table = _means(runs, learners)
    ranked = friedman(table, runs[0].higher_is_better)
    difference = critical_difference(len(learners), len(runs), ALPHA)
    return OverSets(
        data=tuple(run.data for run in runs), learners=learners, measure=measure, table=table, friedman=ranked,
        difference=difference, bars=cliques(ranked.ranks, difference), pairs=_pairs(runs, table, learners, ranked.ranks, rope),
        won=duels(runs, learners), sizes=np.array([[run.of(name).complexity for name in learners] for run in runs]),
        unit=_unit(runs, learners), left_out=incomplete_learners(runs),
        chosen=any(best.tried > 1 for run in runs for best in run.best), higher_is_better=runs[0].higher_is_better,
    )  # fmt: skip


def sentences_over_sets(of: OverSets, rope: float = 0.01) -> tuple[str, ...]:
    """Put the comparison into sentences that can be quoted."""
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(of.learners, of.friedman.ranks))
    return (
        f"Mean ranks by {of.measure} over {len(of.data)} data sets (1 is best): {ranks}.",
        f"Friedman's test with Iman–Davenport's correction: F = {_f(of.friedman.f)}, {_p(of.friedman.f_p)}: the learners "
        f"{'differ' if of.friedman.f_p <= ALPHA else 'are not told apart'} at {ALPHA:g}.",
        f"Nemenyi's critical difference of mean ranks at {ALPHA:g} is {of.difference:.2f}.",
        *(f"Not told apart by Nemenyi's test: {', '.join(of.learners[i] for i in bar)}." for bar in of.bars),
        *_pair_sentences(of, rope),
        *_too_few(len(of.data), len(of.pairs)),
        *_zeros(of.pairs),
        *(f"Left out: {name}, which has no score on {', '.join(data)}." for name, data in of.left_out.items()),
        *(_CHOSEN for _ in range(of.chosen)),
    )


def answer_over_sets(of: OverSets) -> tuple[str, ...]:
    """Say which learner is best by its mean rank, and from which others Nemenyi's test tells it apart."""
    first = int(np.argmin(of.friedman.ranks))
    ranks = dict(zip(of.learners, of.friedman.ranks - of.friedman.ranks[first]))
    told = {name for name, behind in ranks.items() if behind > of.difference}
    best = of.learners[first]
    return (
        f"{best} has the best mean rank by {of.measure} over {len(of.data)} data sets.",
        *_say_apart(of.learners, best, told),
    )


def answer_over_folds(pairs: Sequence["FoldPair"], runs: Sequence[ComparedRun]) -> tuple[str, ...]:
    """Say which learner has the best mean, and from which others the folds tell it apart (corrected t, Holm)."""
    named, sign = name_learners(runs), 1 if runs[0].higher_is_better else -1
    order = sorted(named, key=lambda name: -sign * named[name].mean)
    best = order[0]
    told = {pair.first if pair.second == best else pair.second for pair in pairs
            if best in (pair.first, pair.second) and pair.adjusted <= ALPHA}  # fmt: skip
    return (f"{best} has the best mean {runs[0].measure}, {named[best].mean:.4f}.", *_say_apart(order, best, told))


def _say_apart(names: Sequence[str], best: str, told: Collection[str]) -> Iterator[str]:
    """Yield a sentence of those that are worse than the best, and one of those that may be as good."""
    others = [name for name in names if name != best]
    if worse := [name for name in others if name in told]:
        yield f"It is told apart from {_list_names(worse)}."
    if alike := [name for name in others if name not in told]:
        yield f"It is not told apart from {_list_names(alike)}: any of them may be as good."


def _list_names(names: Sequence[str]) -> str:
    """List names; of very many the first, and how many more.

    >>> _list_names("abc"), _list_names("abcdefghij")
    ('a, b, c', 'a, b, c, d, e, f, g, h and 2 others')
    """
    more = f" and {len(names) - LISTED} others" if len(names) > LISTED + 1 else ""
    return f"{', '.join(names[:LISTED] if more else names)}{more}"


_CHOSEN = (
    "The settings of each learner were chosen for every fold on the other folds, so that many candidates are no advantage."
)


def _pair_sentences(of: OverSets, rope: float) -> Iterator[str]:
    """A sentence per pair that Wilcoxon's test tells apart, and one for all others."""
    pairs, told = of.pairs, [pair for pair in of.pairs if pair.adjusted <= ALPHA]
    for pair in told:
        better, worse = (pair.first, pair.second) if (pair.median > 0) != of.higher_is_better else (pair.second, pair.first)
        yield (
            f"{better} is better than {worse}, in the median by {abs(pair.median):.4f} (Wilcoxon {_p(pair.p)}, Holm "
            f"{_p(pair.adjusted)}); practically equal (within {rope:g}) with probability {pair.posterior.within:.2f}."
        )
    if len(told) < len(pairs):
        others = f"{len(pairs) - len(told)} of {len(pairs)} pairs"
        yield f"Not told apart by Wilcoxon's test with Holm's correction at {ALPHA:g}: {others}."


def _too_few(sets: int, pairs: int) -> Iterator[str]:
    """Say where data sets are too few: Wilcoxon's smallest p-value over n of them is 2^(1 − n)."""
    least = 2.0 ** (1 - sets)
    if least * pairs > ALPHA:
        yield f"{sets} data sets are too few for that test of {pairs} pairs: its smallest p-value is {least:.4f}."


def _f(value: float) -> str:
    """Write F; it is infinite where all data sets agree on the ranks."""
    return f"{value:.2f}" if np.isfinite(value) else "∞"


def _p(value: float) -> str:
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.4f}"


def _means(runs: Sequence[ComparedRun], learners: Sequence[str]) -> Floats:
    return np.array([[run.of(name).mean for name in learners] for run in runs])


def _best_first(runs: Sequence[ComparedRun]) -> tuple[str, ...]:
    names = common_learners(runs)
    ranks = friedman(_means(runs, names), runs[0].higher_is_better).ranks
    return tuple(names[i] for i in np.argsort(ranks, kind="stable"))


def _unit(runs: Sequence[ComparedRun], learners: Sequence[str]) -> str:
    units = {run.of(name).unit for run in runs for name in learners}
    return units.pop() if len(units) == 1 else ""


def _pairs(
    runs: Sequence[ComparedRun], table: Floats, learners: tuple[str, ...], ranks: Floats, rope: float
) -> tuple[SetPair, ...]:
    """Compare every two learners over the data sets, by ranks, Wilcoxon's test and the Bayesian signed-rank test."""
    by_rank = nemenyi(ranks, len(runs))
    names = list(combinations(range(len(learners)), 2))
    p = [wilcoxon(table[:, b], table[:, a]) for a, b in names]
    made = []
    for (a, b), own, adjusted in zip(names, p, holm(p)):
        differences = np.sort(np.round(table[:, b] - table[:, a], 12))  # the order of the data sets is nobody's business
        rng = generator(0, digest([learners[a], learners[b], differences.tolist()]))
        posterior = bayes_signed_rank(differences, rng, rope)
        made.append(
            SetPair(
                learners[a], learners[b], float(np.median(differences)), own, float(adjusted), posterior, float(by_rank[a, b]),
                equal=int((differences == 0).sum()), hierarchical=_over_folds(runs, learners[a], learners[b], rope),
            )
        )  # fmt: skip
    return tuple(made)


def _over_folds(runs: Sequence[ComparedRun], first: str, second: str, rope: float) -> Posterior | None:
    """The hierarchical test of the differences on every fold of every data set; their order does not matter."""
    found = sorted((np.round(run.of(second).folds - run.of(first).folds, 12).tolist(), run.ratio) for run in runs)
    if min(len(folds) for folds, _ in found) < 2:
        return None
    rng = generator(0, digest([first, second, found]), "hierarchical")
    return bayes_hierarchical([np.array(folds) for folds, _ in found], [ratio for _, ratio in found], rng, rope)


def _zeros(pairs: Sequence[SetPair]) -> Iterator[str]:
    """Say on how many data sets two learners are equal, which Wilcoxon's test drops."""
    dropped = [pair for pair in pairs if pair.equal]
    if dropped:
        most = max(pair.equal for pair in dropped)
        yield (
            f"Wilcoxon's test drops data sets on which two learners are equal: of {len(dropped)} of {len(pairs)} pairs, up to "
            f"{most} each."
        )


# Two learners on each data set by itself: the number of data sets on which one is told apart as the better.
#
# Corrected resampled t of the fold differences (Nadeau & Bengio 2003), Holm over all pairs of a data set. The counts are no
# test over data sets: they show where the ranks come from. A data set that was judged by one fold tells nobody apart.


def duels(runs: Sequence[ComparedRun], learners: Sequence[str]) -> Integers:
    """Learners × learners: the number of data sets on which the row's learner is told apart as better than the column's."""
    won = np.zeros((len(learners), len(learners)), np.int64)
    for run in runs:
        folds = np.array([run.of(name).folds for name in learners])
        if folds.shape[1] > 1:
            won += _won(-folds if run.higher_is_better else folds, run.ratio)
    return won


def _won(cost: Floats, ratio: float) -> Integers:
    """Mark which learner beats which after the corrected t-test with Holm's adjustment."""
    first, second = np.array(list(combinations(range(len(cost)), 2))).T
    test = corrected_t(np.round(cost[second] - cost[first], 12), ratio)
    told = holm(test.p) <= ALPHA
    won = np.zeros((len(cost), len(cost)), np.int64)
    won[first, second] = told & (test.mean > 0)
    won[second, first] = told & (test.mean < 0)
    return won


# Learners compared on one data set, on the same folds: corrected resampled t and its Bayesian twin, Holm over all pairs.


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


def over_folds(runs: Sequence[ComparedRun], rope: float = 0.01) -> tuple[FoldPair, ...]:
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
    test = corrected_t(np.array(differences), ratio)
    return tuple(
        FoldPair(a, b, float(mean), float(low), float(high), float(p), float(adjusted), bayes_correlated(d, ratio, rope))
        for (a, b), d, mean, low, high, p, adjusted in zip(
            names, differences, test.mean, test.low, test.high, test.p, holm(test.p)
        )
    )


def sentences_over_folds(pairs: Sequence[FoldPair], runs: Sequence[ComparedRun], rope: float = 0.01) -> tuple[str, ...]:
    """Put the comparison into sentences that can be quoted; differences are told as the better one's advantage."""
    return tuple(
        f"{_advantage(pair, runs[0])}; {_p(pair.p)}, Holm {_p(pair.adjusted)}: "
        f"{'told apart' if pair.adjusted <= ALPHA else 'not told apart'}; "
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
