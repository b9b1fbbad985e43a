"""The soft walk: zero widths are the hard tree, the compiled walk is its twin, shares are what the ramp says."""

import numpy as np
import pytest

from modelsel.learner.trees.leaf import frequencies
from modelsel.tree.routing import route
from modelsel.tree.softening import Widths, layout, ramps, soft_classes, soft_route, values_at_tests, walk
from tests.tree.in_numpy import walk_in_numpy

POLICIES = [
    ("node_mode", "multiway"),
    ("fractional", "multiway"),
    ("branch", "multiway"),
    ("node_mode", "subset"),
    ("fractional", "equality"),
    ("surrogate", "subset"),
    ("surrogate_count", "subset"),
]


@pytest.mark.parametrize(("missing", "nominal"), POLICIES)
def test_widths_of_zero_are_the_hard_tree_exactly(table, grown, missing, nominal):
    rng = np.random.default_rng(len(missing) + len(nominal))
    task, other = table(rng, classes=3, missing=0.15), table(rng, rows=400, classes=3, missing=0.3)
    cut = grown(task, missing, nominal)
    rows = rng.integers(0, 400, 500)
    hard, soft = route(cut.tree, other, rows), soft_route(cut.tree, Widths.none(cut.tree), other, rows)
    assert (hard.owner == soft.owner).all()
    assert (hard.leaf == soft.leaf).all()
    assert (hard.part == soft.part).all()
    assert hard.unseen == soft.unseen


@pytest.mark.parametrize(("missing", "nominal"), POLICIES)
def test_the_compiled_walk_is_its_twin(table, grown, missing, nominal):
    rng = np.random.default_rng(7)
    task = table(rng, missing=0.1)
    cut = grown(task, missing, nominal)
    x = values_at_tests(cut.tree, task, np.arange(len(task)))
    for _ in range(5):
        some = rng.random(len(cut.tree)) < 0.7
        widths = Widths(rng.exponential(size=len(cut.tree)) * some, rng.exponential(size=len(cut.tree)) * rng.permutation(some))
        for root in (0, int(cut.tree.children(0)[0])):
            ours, twin = walk(cut.tree, widths, x, root), walk_in_numpy(cut.tree, widths, x, root)
            assert (ours[0] == twin[0]).all()
            assert (ours[1] == twin[1]).all()
            assert ours[2] == pytest.approx(twin[2], abs=1e-14)


def test_parts_of_a_row_sum_to_one_and_its_scores_are_their_mean(table, grown):
    from modelsel.kernels.trees import soft

    rng = np.random.default_rng(3)
    task = table(rng)
    cut = grown(task)
    widths = Widths(np.full(len(cut.tree), 0.8), np.full(len(cut.tree), 0.5))
    routed = soft_route(cut.tree, widths, task, np.arange(len(task)))
    assert np.bincount(routed.owner, routed.part) == pytest.approx(np.ones(len(task)))
    of_leaf = np.ascontiguousarray(frequencies(cut.counts)[:, 1])
    out = np.empty(len(task))
    soft.mean(values_at_tests(cut.tree, task, np.arange(len(task))), layout(cut.tree, widths), of_leaf, out)
    assert out == pytest.approx(routed.per_row(of_leaf), abs=1e-14)


@pytest.mark.parametrize(
    ("value", "a", "b", "left"),
    [
        (-1.0, 1, 2, 1), (-0.5, 1, 2, 0.75), (0, 1, 2, 0.5), (1, 1, 2, 0.25), (2, 1, 2, 0), (5, 1, 2, 0),
        (0, 0, 2, 1), (0.5, 0, 2, 0.375), (0, 1, 0, 0.5), (1e-9, 1, 0, 0), (0, 0, 0, 1), (1e-9, 0, 0, 0),
        (-np.inf, 1, 2, 1), (np.inf, 1, 2, 0),
    ],
)  # fmt: skip
def test_a_ramp_is_linear_in_two_pieces_and_a_width_of_zero_a_step(table, grown, value, a, b, left):
    cut = grown(table(np.random.default_rng(0)), depth=1)
    assert ramps(cut.tree)[0]
    widths = Widths(np.array([a, 0, 0.0]), np.array([b, 0, 0.0]))
    x = np.array([[value + (cut.tree.threshold[0] if np.isfinite(value) else 0)]])
    for walked in (walk, walk_in_numpy):
        _, leaf, part = walked(cut.tree, widths, x)
        found = dict(zip(leaf.tolist(), part.tolist()))
        assert found.get(1, 0.0) == pytest.approx(left, abs=1e-8)
        assert found.get(2, 0.0) == pytest.approx(1 - left, abs=1e-8)


def test_the_class_of_a_row_in_several_leaves_is_that_of_largest_mean_score(table, grown):
    task = table(np.random.default_rng(1), classes=3)
    cut = grown(task)
    widths = Widths(np.full(len(cut.tree), 0.6), np.full(len(cut.tree), 0.6))
    routed = soft_route(cut.tree, widths, task, np.arange(len(task)))
    classes, scores = soft_classes(cut, routed), routed.per_row(frequencies(cut.counts))
    fragments = np.bincount(routed.owner)
    assert (fragments > 1).any()
    assert (classes[fragments > 1] == scores.argmax(axis=1)[fragments > 1]).all()
    assert (classes[routed.owner] == cut.prediction[routed.leaf])[fragments[routed.owner] == 1].all()


def test_no_rows_are_no_fragments(table, grown):
    task = table(np.random.default_rng(1))
    cut = grown(task)
    assert len(soft_route(cut.tree, Widths.none(cut.tree), task, np.empty(0, np.int64)).leaf) == 0
