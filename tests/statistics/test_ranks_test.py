"""Tests over ranks: exact small cases and the diagram's bars."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.statistics.ranks import cliques, critical_difference, friedman, nemenyi, wilcoxon


def test_wilcoxon_counts_signs() -> None:
    d = np.array([1.5, -0.5, 2.5, 3.0, -1.0, 4.0])
    ranks = np.argsort(np.argsort(np.abs(d))) + 1
    observed = ranks[d > 0].sum()
    every = [sum(r for r, s in zip(ranks, signs) if s) for signs in product((0, 1), repeat=6)]
    middle = ranks.sum() / 2
    expected = np.mean([abs(w - middle) >= abs(observed - middle) for w in every])
    assert wilcoxon(d, np.zeros(6)) == pytest.approx(expected)
    assert wilcoxon(d, d) == 1.0
    assert wilcoxon([0.1, 0.2, 0.0], np.zeros(3)) == 0.5  # two differences of one sign: two of four patterns
    assert wilcoxon([1.0, 1.0, -1.0, 1.0], np.zeros(4)) == pytest.approx(10 / 16)


@settings(max_examples=40, deadline=None)
@given(ranks=st.lists(st.floats(1, 6), min_size=2, max_size=6), difference=st.floats(0.1, 3))
def test_bars_join_just_the_pairs_within_the_difference(ranks: list[float], difference: float) -> None:
    bars = cliques(ranks, difference)
    joined = {frozenset((a, b)) for bar in bars for a in bar for b in bar if a != b}
    near = {
        frozenset((a, b))
        for a in range(len(ranks))
        for b in range(len(ranks))
        if a != b and abs(ranks[a] - ranks[b]) <= difference + 1e-12
    }
    assert joined == near
    assert not any(set(a) < set(b) for a in bars for b in bars)


def test_nemenyi_is_at_the_level_at_the_critical_difference() -> None:
    difference = critical_difference(3, 10)
    p = nemenyi([1.0, 1.0 + difference, 1.0], 10)
    assert p[0, 1] == pytest.approx(0.05, abs=1e-6)
    assert p[0, 2] == pytest.approx(1.0)


def test_equal_scores_have_no_winner_and_rounding_is_no_difference() -> None:
    test = friedman(np.ones((5, 3)) + np.random.default_rng(0).random((5, 3)) * 1e-14)
    assert (test.chi2, test.tie_corrected[0]) == (0.0, 0.0)
    assert test.ranks.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(ValueError, match="two data sets"):
        friedman([[1.0, 2.0]])
