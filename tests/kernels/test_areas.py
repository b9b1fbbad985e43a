"""The compiled sweep over sorted scores against the same in NumPy, and against all pairs counted one by one."""

import numpy as np
import pytest

from modelsel.core.types import Outputs
from modelsel.kernels.compiler import load
from modelsel.measure.auc import Auc, SweptAreas
from modelsel.statistics.auc import SortedScores

pytestmark = pytest.mark.skipif(load("areas") is None, reason="only the twin is there")


def by_pairs(positive, scores, weight):
    """Every positive row against every negative one, ties counted half."""
    gap = scores[positive][:, None] - scores[~positive]
    pair = weight[positive][:, None] * weight[~positive]
    return (pair * ((gap > 0) + 0.5 * (gap == 0))).sum() / pair.sum()


@pytest.mark.parametrize("seed", range(5))
def test_draws_of_rows_give_the_same_bits_as_before(seed):
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(0, [3, 20, 1000][seed % 3], (7, 60)) / 8.0, rng.random(60) < 0.4
    plain = SortedScores.of(scores)
    swept = SweptAreas(positive.astype(np.int32), (plain,))
    for draw in rng.multinomial(60, [1 / 60] * 60, 20).astype(float):
        areas = swept(draw)
        np.testing.assert_array_equal(areas, plain.area(positive, draw))
        assert areas == pytest.approx([by_pairs(positive, own, draw) for own in scores], abs=1e-12)


@pytest.mark.parametrize("which", ["kernels", "plain"])
@pytest.mark.parametrize("classes", [2, 3])
def test_kernel_and_twin_count_pairs(classes, which, code):
    """Of three classes the mean of each against the others, by its share (Provost & Domingos 2001)."""
    rng = np.random.default_rng(classes)
    shares = rng.dirichlet(np.ones(classes), (4, 40)).round(1)
    truth, draw = rng.integers(0, classes, 40).astype(np.int32), rng.integers(0, 3, 40).astype(float)
    with code(which):
        found = Auc().reweighted(truth, Outputs(np.zeros((4, 40), np.int32), shares), classes)(draw)
    sides = [(cls, draw[truth == cls].sum()) for cls in (range(classes) if classes > 2 else [1])]
    expected = [sum(by_pairs(truth == cls, own[:, cls], draw) * part for cls, part in sides) for own in shares]
    np.testing.assert_allclose(found, np.array(expected) / sum(part for _, part in sides), rtol=1e-12)


def test_fractions_of_weight_agree_to_rounding():
    rng = np.random.default_rng(9)
    scores, positive, weight = rng.integers(0, 9, (4, 50)) / 3.0, rng.random(50) < 0.5, rng.random(50)
    plain = SortedScores.of(scores)
    np.testing.assert_allclose(
        SweptAreas(positive.astype(np.int32), (plain,))(weight), plain.area(positive, weight), rtol=1e-13
    )


def test_one_class_alone_and_scores_that_are_no_numbers_have_no_area():
    positive, scores = np.array([True, True, False]), np.array([[0.1, 0.2, 0.3], [np.nan, 0.2, 0.3]])
    both = SweptAreas(positive.astype(np.int32), (SortedScores.of(scores),))
    assert np.isnan(both(np.array([1.0, 1.0, 0.0]))).all()
    assert np.isnan(both(None)).tolist() == [False, True]


@pytest.mark.parametrize("classes", [2, 3])
def test_a_score_and_its_reweighted_form_are_equal(classes):
    rng = np.random.default_rng(classes)
    shares = rng.dirichlet(np.ones(classes), (5, 40)).round(1)
    truth, outputs = rng.integers(0, classes, 40).astype(np.int32), Outputs(np.zeros((5, 40), np.int32), shares)
    draw = rng.integers(0, 3, 40).astype(float)
    np.testing.assert_array_equal(Auc().reweighted(truth, outputs, classes)(draw), Auc().score(truth, outputs, draw, classes))


@pytest.mark.parametrize("classes", [2, 4])
def test_many_weightings_at_once_are_those_one_by_one(classes):
    rng = np.random.default_rng(classes)
    shares = rng.dirichlet(np.ones(classes), (3, 50)).round(1)
    truth, outputs = rng.integers(0, classes, 50).astype(np.int32), Outputs(np.zeros((3, 50), np.int32), shares)
    weights = rng.integers(0, 3, (20, 50)).astype(float)
    weights[3, truth == 1], weights[4, truth != 1] = 0.0, 0.0  # a class without weight, and one class alone
    together = Auc().reweighted(truth, outputs, classes).many(weights)
    np.testing.assert_array_equal(together, [Auc().score(truth, outputs, own, classes) for own in weights])
