"""Entropies and their kin: identities, textbook numbers, SciPy, and the scores that Weka and scikit-learn gave."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import entropy as scipy_entropy

from modelsel.statistics.information import (
    conditional_entropy,
    entropy,
    gini,
    joint_counts,
    mutual_information,
    smooth,
    symmetric_uncertainty,
)

joints = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 9))
)
OUTLOOK = [[2, 3], [4, 0], [3, 2]]  # Sunny, Overcast, Rain × Yes, No (Mitchell 1997)


@pytest.mark.slow
@given(joints)
def test_mutual_information_is_what_either_attribute_tells_about_the_other(joint):
    a, b = joint.sum(axis=1), joint.sum(axis=0)
    assert mutual_information(joint) == pytest.approx(entropy(a) - conditional_entropy(joint), abs=1e-12)
    assert mutual_information(joint) == pytest.approx(entropy(b) - conditional_entropy(joint.T), abs=1e-12)
    assert mutual_information(joint) == pytest.approx(entropy(a) + entropy(b) - entropy(joint.ravel()), abs=1e-12)


@given(joints)
def test_symmetric_uncertainty_is_symmetric_and_a_share(joint):
    assert symmetric_uncertainty(joint) == pytest.approx(symmetric_uncertainty(joint.T), abs=1e-12)
    assert 0 <= symmetric_uncertainty(joint) <= 1 + 1e-12


@given(arrays(np.int64, st.integers(1, 8), elements=st.integers(0, 50)).filter(lambda c: c.sum() > 0))
def test_entropy_and_gini_are_those_of_the_textbook(counts):
    assert entropy(counts) == pytest.approx(scipy_entropy(counts, base=2), abs=1e-12)
    n = counts.sum()
    different_pairs = sum(int(a) * int(n - a) for a in counts)
    assert gini(counts) == pytest.approx(different_pairs / n**2, abs=1e-12)


@given(st.integers(1, 8))
def test_a_uniform_distribution_is_the_most_uncertain(levels):
    assert entropy(np.ones(levels)) == pytest.approx(np.log2(levels))


def test_nothing_counted_is_nothing_uncertain():
    assert entropy([0, 0]) == gini([0, 0]) == mutual_information([[0, 0]]) == 0


def test_leading_axes_are_a_batch():
    batch = np.array([OUTLOOK, [[1, 0], [0, 1], [0, 0]]])
    assert mutual_information(batch).tolist() == [float(mutual_information(table)) for table in batch]


def test_the_gain_of_outlook_is_the_printed_one():
    assert mutual_information(OUTLOOK) == pytest.approx(0.246750, abs=5e-7)


@given(joints.filter(lambda joint: joint.sum() > 0), st.floats(0, 10))
def test_laplace_is_the_m_estimate_with_a_uniform_prior(joint, strength):
    assert smooth(joint, strength) == pytest.approx(smooth(joint, m=strength * joint.shape[1]), abs=1e-12)
    assert smooth(joint, strength).sum(axis=1) == pytest.approx(np.ones(len(joint)))


def test_smoothing_nothing_gives_the_prior():
    assert smooth([0, 0], 0).tolist() == [0.5, 0.5]
    assert smooth([0, 0], m=0, prior=[0.1, 0.9]).tolist() == [0.1, 0.9]


def test_weights_count_like_repeats():
    a, b, times = [0, 1, 1, 0], [1, 0, 1, -1], [3, 1, 2, 4]
    assert joint_counts(a, b, times).tolist() == joint_counts(np.repeat(a, times), np.repeat(b, times)).tolist()


def test_scores_of_nominal_attributes_are_those_of_weka_and_scikit_learn(reference, enough):
    checked = 0
    for path in sorted((reference / "scores").glob("*.json")):
        answers = json.loads(path.read_text())
        for name, score in answers["attributes"].items():
            if score["type"] != "nominal":
                continue
            joint = np.array(score["table_value_by_class"])
            if joint.sum() == 0:
                continue
            where = f"{path.name} {name}"
            assert conditional_entropy(joint.T) == pytest.approx(score["conditional_entropy"], abs=1e-12), where
            assert mutual_information(joint) == pytest.approx(score["gain_known_rows"], abs=1e-12), where
            assert symmetric_uncertainty(joint) == pytest.approx(score["symmetrical_uncertainty_known"], abs=1e-12), where
            assert entropy(joint.sum(axis=1)) == pytest.approx(score["split_info_known"], abs=1e-12), where
            checked += 1
    assert enough(checked, 50)
