"""What all pruners promise: no change to the cut they are given, truncations pruned on their own, one path for many."""

from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.tree import routing
from modelsel.tree.cutting import PruningData, ends, leaves, reached

STRENGTHS = {
    "unpruned": [{}],
    "reduced_error": [{"relabel": False}],
    "cost_complexity": [{"alpha": a} for a in (0.0, 0.02, 0.1, 1.0)],
    "error_based": [{"confidence": c, "raising": False} for c in (0.5, 0.25, 0.01)],
    "pessimistic": [{"standard_errors": s} for s in (0.0, 1.0, 3.0)],
    "minimum_error": [{"m": m} for m in (0.0, 2.0, "laplace")],
    "critical_value": [{"threshold": t} for t in (0.0, 0.5, 1.0)],
    "mdl": [{"weight": w} for w in (0.0, 1.0, 4.0)],
    "deviance_sequence": [{"step": s, "trees": 4} for s in (1, 2, 4)],
}


@pytest.mark.parametrize("kind", STRENGTHS)
def test_one_path_answers_all_strengths_as_a_path_of_its_own_would(kind, grow, leaf_set):
    rng = np.random.default_rng(len(kind))
    for _ in range(60):
        cut = grow(rng, inner=int(rng.integers(0, 8)), amounts="fractions")
        evidence = PruningData(float(cut.counts[0].sum()) or 1.0, pruning_counts=cut.tree.counts)
        pruners = [make("pruner", kind, **values) for values in STRENGTHS[kind]]
        shared = pruners[0].path(cut, evidence)
        assert len({pruner.sharing() for pruner in pruners}) == 1
        for pruner in pruners:
            assert leaf_set(shared.cut(pruner)) == leaf_set(pruner.path(cut, evidence).cut(pruner))


@pytest.mark.parametrize("kind", STRENGTHS)
def test_what_a_stopping_limit_cut_off_has_no_say(kind, grow, leaf_set):
    """The same answer when all that lies beneath the truncation is garbage."""
    rng = np.random.default_rng(len(kind))
    for _ in range(60):
        cut = grow(rng, inner=8)
        short = replace(cut, leaf=cut.leaf | (cut.tree.depth >= 2))
        hidden = ~reached(short)
        tree = replace(
            short.tree,
            counts=np.where(hidden[:, None], 99.0, short.tree.counts),
            goodness=np.where(hidden & ~np.isnan(short.tree.goodness), 99.0, short.tree.goodness),
        )
        other = replace(short, tree=tree)
        for values in STRENGTHS[kind]:
            pruner = make("pruner", kind, **values)
            answers = []
            for each in (short, other):
                evidence = PruningData(float(cut.counts[0].sum()) or 1.0, pruning_counts=each.tree.counts)
                answers.append(leaf_set(pruner.path(each, evidence).cut(pruner)))
            assert answers[0] == answers[1]


def test_ends_leads_every_node_to_the_leaf_above_it(grow, leaf_set):
    rng = np.random.default_rng(3)
    for _ in range(100):
        cut = grow(rng, inner=8)
        cut = replace(cut, leaf=cut.leaf | (rng.random(len(cut.leaf)) < 0.3))
        kept, end = leaf_set(cut), ends(cut)
        assert leaves(cut) == len(kept)
        for node in np.flatnonzero(cut.tree.test == 0):
            above = int(node)
            while above not in kept:
                above = int(cut.tree.parent[above])
            assert end[node] == above
        ended, standing = routing.ends(cut.tree, [cut, cut])  # compiled, where there are kernels: several cuts at once
        assert ended.tolist() == [end.tolist()] * 2
        assert standing.tolist() == [len(kept)] * 2
