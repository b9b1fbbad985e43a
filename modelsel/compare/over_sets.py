"""Learners compared over data sets: Friedman with Iman–Davenport, Nemenyi's critical difference, Wilcoxon with Holm, Bayes.

Each learner is represented on each data set by the mean score of its best candidate, picked on the same folds: learners with
more candidates are favoured a little. Source: Demšar (2006); Benavoli, Corani, Demšar & Zaffalon (2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from modelsel.compare.runs import Run, common_learners
from modelsel.core.fingerprint import digest, generator
from modelsel.core.types import Floats
from modelsel.statistics.bayes import Posterior, bayes_signed_rank
from modelsel.statistics.paired import holm
from modelsel.statistics.ranks_test import Friedman, cliques, critical_difference, friedman, wilcoxon


@dataclass(frozen=True)
class SetPair:
    """Two learners over data sets: median of `second` minus `first`, Wilcoxon's p, Holm's p, the Bayesian signed rank."""

    first: str
    second: str
    median: float
    p: float
    adjusted: float
    posterior: Posterior


@dataclass(frozen=True, eq=False)
class OverSets:
    """The table (data sets × learners), its ranks, and the critical-difference diagram: `bars` join what is not told apart."""

    data: tuple[str, ...]
    learners: tuple[str, ...]
    measure: str
    table: Floats
    friedman: Friedman
    difference: float
    bars: tuple[tuple[int, ...], ...]
    pairs: tuple[SetPair, ...]


def over_sets(runs: Sequence[Run], rope: float = 0.01, alpha: float = 0.05) -> OverSets:
    """Compare the learners that all runs share; each run is one data set."""
    learners = common_learners(runs)
    table = np.array([[run.of(name).mean for name in learners] for run in runs])
    ranked = friedman(table, runs[0].higher_is_better)
    difference = critical_difference(len(learners), len(runs), alpha)
    return OverSets(
        data=tuple(run.data for run in runs), learners=learners, measure=runs[0].measure, table=table, friedman=ranked,
        difference=difference, bars=cliques(ranked.ranks, difference), pairs=_pairs(table, learners, rope),
    )  # fmt: skip


def sentences(of: OverSets, rope: float = 0.01, alpha: float = 0.05) -> tuple[str, ...]:
    """What the comparison says, as it can be quoted."""
    order = np.argsort(of.friedman.ranks, kind="stable")
    ranks = ", ".join(f"{of.learners[i]} {of.friedman.ranks[i]:.2f}" for i in order)
    said = [
        f"Mean ranks by {of.measure} over {len(of.data)} data sets (1 is best): {ranks}.",
        f"Friedman's test with Iman–Davenport's correction: F = {of.friedman.f:.2f}, p = {of.friedman.f_p:.4f}: the learners "
        f"{'differ' if of.friedman.f_p <= alpha else 'are not told apart'} at {alpha:g}.",
        f"Nemenyi's critical difference of mean ranks at {alpha:g} is {of.difference:.2f}.",
    ]
    said += [f"Not told apart by Nemenyi's test: {', '.join(of.learners[i] for i in bar)}." for bar in of.bars]
    for pair in of.pairs:
        apart = "told apart" if pair.adjusted <= alpha else "not told apart"
        said.append(
            f"{pair.first} and {pair.second}: {apart} (Wilcoxon p = {pair.p:.4f}, Holm {pair.adjusted:.4f}); practically equal "
            f"(within {rope:g}) with probability {pair.posterior.within:.2f}."
        )
    return tuple(said)


def _pairs(table: Floats, learners: tuple[str, ...], rope: float) -> tuple[SetPair, ...]:
    names = list(combinations(range(len(learners)), 2))
    p = [wilcoxon(table[:, b], table[:, a]) for a, b in names]
    made = []
    for (a, b), own, adjusted in zip(names, p, holm(p)):
        differences = np.round(table[:, b] - table[:, a], 12)
        rng = generator(0, digest([learners[a], learners[b], differences.tolist()]))
        posterior = bayes_signed_rank(differences, rng, rope)
        made.append(SetPair(learners[a], learners[b], float(np.median(differences)), own, float(adjusted), posterior))
    return tuple(made)
