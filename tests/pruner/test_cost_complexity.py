"""Cost complexity against the minimum over all prunings, in exact fractions."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from modelsel.pruner.cost_complexity import CostComplexity
from modelsel.tree.cutting import PruningData, leaves


def exact_risk(cut, leaf, impurity="misclassification"):
    counts = [Fraction(float(c)) for c in cut.tree.counts[leaf]]
    weight = sum(counts)
    if impurity == "gini":
        return weight - sum(c * c for c in counts) / weight if weight else Fraction(0)
    return weight - counts[cut.prediction[leaf]]


@pytest.mark.parametrize("amounts", ["whole", "quarters"])
@pytest.mark.parametrize("impurity", ["misclassification", "gini"])
def test_it_is_the_smallest_of_the_best_at_every_strength(grow, prunings, leaf_set, amounts, impurity):
    rng = np.random.default_rng(len(amounts) + len(impurity))
    for _ in range(150):
        cut = grow(rng, inner=int(rng.integers(0, 7)), amounts=amounts)
        total = cut.tree.counts[0].sum()
        if total == 0:
            continue
        path = CostComplexity(impurity=impurity).path(cut, PruningData(float(total)))
        risks = {kept: sum(exact_risk(cut, leaf, impurity) for leaf in kept) for kept in prunings(cut)}
        ours = path.steps()
        between = [(a + b) / 2 for a, b in pairwise(ours)]
        for alpha in (0.0, *ours, *between, *rng.random(2)):
            kept = leaf_set(path.cut(CostComplexity(float(alpha), impurity)))
            price = Fraction(float(alpha * total))
            price = price.limit_denominator(10_000) if impurity == "misclassification" and alpha in ours else price
            cost = {other: risk + price * len(other) for other, risk in risks.items()}
            best = min(cost.values())
            assert float(cost[kept] - best) == pytest.approx(0, abs=1e-9)
            if impurity == "misclassification" and alpha in ours:
                assert len(kept) == min(len(other) for other, value in cost.items() if value == best)


def test_the_sequence_of_strengths_is_the_hull_of_risk_over_leaves(grow, prunings):
    """α_k and leaves are the lower convex hull of (leaves, least errors), which knows nothing of links."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        cut = grow(rng, inner=int(rng.integers(1, 8)), classes=2)
        if not cut.tree.counts.any():
            continue
        least = {}
        for kept in prunings(cut):
            least[len(kept)] = min(least.get(len(kept), Fraction(10**9)), sum(exact_risk(cut, leaf) for leaf in kept))
        size = min(n for n, risk in least.items() if risk == min(least.values()))
        hull = [(Fraction(0), size)]
        while size > 1:
            slope, size = min(((least[n] - least[size]) / (size - n), n) for n in least if n < size)
            hull.append((slope, size))
        total = cut.tree.counts[0].sum()
        path = CostComplexity().path(cut, PruningData(float(total)))
        found = {0.0: leaves(path.cut(CostComplexity(0.0)))}
        found |= {float(a): leaves(path.cut(CostComplexity(float(a)))) for a in path.steps()}
        assert list(found.values()) == [n for _, n in hull]
        assert list(found) == pytest.approx([float(a / Fraction(float(total))) for a, _ in hull])


def test_path_stands_for_one_strength_inside_each_interval(grow):
    cut = grow(np.random.default_rng(11), inner=7)
    evidence = PruningData(float(cut.tree.counts[0].sum()))
    family = CostComplexity("path")
    members = family.members(cut, evidence)
    path = family.path(cut, evidence)
    sizes = [leaves(path.cut(member)) for member in members]
    assert family.is_family
    assert not any(member.is_family for member in members)
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] == 1
    assert sizes == [leaves(path.cut(CostComplexity(float(a)))) for a in sorted({0.0, *path.steps()})]
    with pytest.raises(ValueError, match="members"):
        path.cut(family)


def test_costs_go_with_misclassification_alone():
    assert not list(CostComplexity().problems(costs=True))
    assert "gini" in next(iter(CostComplexity(impurity="gini").problems(costs=True)))


def test_a_single_leaf_stays_one(grow):
    cut = grow(np.random.default_rng(0), inner=0)
    assert leaves(CostComplexity().path(cut, PruningData(1.0)).cut(CostComplexity(3.0))) == 1
    assert CostComplexity("path").alphas(cut, PruningData(1.0)).tolist() == [0.0]


def test_with_a_cost_matrix_the_risk_is_the_mean_cost(grow, prunings, leaf_set):
    rng = np.random.default_rng(21)
    costs = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [0.5, 4.0, 0.0]])
    for _ in range(100):
        cut = grow(rng, inner=int(rng.integers(0, 6)))
        total = float(cut.tree.counts[0].sum())
        if total == 0:
            continue
        cheapest = np.argmin(cut.counts @ costs, axis=1).astype(np.int32)
        cut = replace(cut, prediction=cheapest)
        path = CostComplexity().path(cut, PruningData(total, cost_matrix=costs))
        for alpha in (0.0, 0.03, 0.2):
            price = {
                kept: sum(cut.tree.counts[leaf] @ costs[:, cheapest[leaf]] for leaf in kept) / total + alpha * len(kept)
                for kept in prunings(cut)
            }
            assert price[leaf_set(path.cut(CostComplexity(alpha)))] == pytest.approx(min(price.values()))
