"""Reduced error against exhaustive search over all prunings."""

import numpy as np
import pytest

from modelsel.pruner.reduced_error import ReducedError
from modelsel.tree.cutting import PruningData

COSTS = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [0.5, 4.0, 0.0]])


def exhaustive(cut, counts, prunings, nodes_of, relabel, costs):
    def cost(leaf):
        prices = [counts[leaf] @ costs[:, c] for c in range(counts.shape[1])]
        return min(prices) if relabel and counts[leaf].sum() > 0 else prices[cut.prediction[leaf]]

    return min((round(sum(cost(leaf) for leaf in kept), 9), nodes_of(cut, kept)) for kept in prunings(cut))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("amounts", ["whole", "quarters", "fractions"])
@pytest.mark.parametrize("relabel", [True, False])
@pytest.mark.parametrize("with_costs", [True, False])
def test_it_is_the_best_of_all_prunings_and_the_smallest_of_those(
    grow, prunings, nodes_of, leaf_set, amounts, relabel, with_costs
):
    rng = np.random.default_rng([len(amounts), relabel, with_costs])
    costs = COSTS if with_costs else 1 - np.eye(3)
    for _ in range(250):
        cut = grow(rng, inner=int(rng.integers(0, 7)), amounts=amounts)
        counts = _held_back(rng, cut, amounts)
        evidence = PruningData(cut.counts[0].sum(), counts, COSTS if with_costs else None)
        pruned = ReducedError(relabel=relabel).path(cut, evidence).cut(ReducedError(relabel=relabel))
        kept = leaf_set(pruned)
        errors = sum(float(counts[leaf] @ costs[:, pruned.prediction[leaf]]) for leaf in kept)
        found = (round(errors, 9), nodes_of(cut, kept))
        assert found == exhaustive(cut, counts, prunings, nodes_of, relabel, costs)


def _held_back(rng, cut, amounts):
    counts = rng.integers(0, 4, cut.counts.shape).astype(float) / (4 if amounts == "quarters" else 1)
    if amounts == "fractions":
        counts *= rng.random(counts.shape).round(2)
    counts[rng.random(len(counts)) < 0.3] = 0
    for node in reversed(range(len(counts))):
        if not cut.leaf[node]:
            counts[node] = counts[cut.tree.children(node)].sum(axis=0)
    return counts


def test_leaves_take_class_and_scores_of_the_held_back_rows_where_any_arrive(grow):
    rng = np.random.default_rng(5)
    for _ in range(100):
        cut = grow(rng)
        counts = _held_back(rng, cut, "whole")
        pruned = ReducedError().path(cut, PruningData(cut.counts[0].sum(), counts)).cut(ReducedError())
        arrived = counts.sum(axis=1) > 0
        assert (pruned.counts[arrived] == counts[arrived]).all()
        assert (pruned.counts[~arrived] == cut.counts[~arrived]).all()
        assert (pruned.prediction[~arrived] == cut.prediction[~arrived]).all()
        assert (pruned.prediction[arrived] == counts[arrived].argmax(axis=1)).all()


def test_without_relabelling_class_and_scores_stay_as_grown(grow):
    cut = grow(np.random.default_rng(1))
    counts = _held_back(np.random.default_rng(2), cut, "whole")
    pruned = ReducedError(relabel=False).path(cut, PruningData(1.0, counts)).cut(ReducedError(relabel=False))
    assert (pruned.counts == cut.counts).all()
    assert (pruned.prediction == cut.prediction).all()


def test_it_says_what_it_misses(grow):
    with pytest.raises(ValueError, match="held-back rows"):
        ReducedError().path(grow(np.random.default_rng(0)), PruningData(1.0))


def test_only_the_share_is_part_of_growing():
    assert ReducedError(relabel=False).fit_key() == ReducedError(relabel=True).fit_key() == {"share": 0.3}
    assert ReducedError(relabel=False).sharing() != ReducedError(relabel=True).sharing()
