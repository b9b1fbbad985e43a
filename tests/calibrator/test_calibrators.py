"""Each calibrator against code that we did not write, and what all of them promise."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn import calibration
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression

from modelsel.calibrator.base import restore_calibration
from modelsel.calibrator.beta import Beta
from modelsel.calibrator.isotonic import Isotonic
from modelsel.calibrator.platt import Platt
from modelsel.calibrator.temperature import Temperature
from modelsel.core.spec import make
from modelsel.core.types import Description
from modelsel.statistics.logistic import logistic

CONF = Path(__file__).parents[2] / "conf" / "calibrator"
KINDS = sorted(path.stem for path in CONF.glob("*.yaml"))
GRID = np.linspace(0, 1, 101)


def sample(seed: int, rows: int, ties: bool = True):
    rng = np.random.default_rng(seed)
    score = rng.beta(0.7, 0.7, rows)
    score = score.round(2) if ties else score
    return score, rng.random(rows) < score**2, rng.random(rows) + 0.1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rows", [40, 600])
def test_platt_is_scikit_learns_sigmoid(seed: int, rows: int) -> None:
    score, positive, weights = sample(seed, rows)
    theirs = _SigmoidCalibration().fit(score, positive.astype(float), weights).predict(GRID)
    np.testing.assert_allclose(Platt().value(Platt().parameters(score, positive, weights), GRID), theirs, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rows", [40, 600])
def test_isotonic_is_scikit_learns(seed: int, rows: int) -> None:
    score, positive, weights = sample(seed, rows)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(score, positive, weights).predict(GRID)
    np.testing.assert_allclose(Isotonic().value(Isotonic().parameters(score, positive, weights), GRID), theirs, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("turned", [False, True])
def test_beta_has_the_largest_likelihood_of_all_that_do_not_fall(seed: int, turned: bool) -> None:
    score, positive, weights = sample(seed, 300)
    score = 1 - score if turned else score
    inside = np.clip(score, 1e-15, 1 - 1e-15)
    terms = np.column_stack([np.log(inside), -np.log(1 - inside), np.ones(300)])

    def loss(c: np.ndarray) -> float:
        return float(-weights @ (positive * (terms @ c) - np.logaddexp(0, terms @ c)))

    theirs = minimize(loss, [1, 1, 0], bounds=[(0, None), (0, None), (None, None)], options={"ftol": 1e-15, "gtol": 1e-9})
    learnt = Beta().parameters(score, positive, weights)
    assert (learnt[:2] >= 0).all()
    assert loss(learnt) <= theirs.fun + 1e-6


@pytest.mark.skipif(not hasattr(calibration, "_TemperatureScaling"), reason="scikit-learn has it from 1.8 on")
@pytest.mark.parametrize("classes", [2, 4])
def test_temperature_is_scikit_learns(classes: int) -> None:
    rng = np.random.default_rng(classes)
    scores = rng.dirichlet(np.full(classes, 0.3), 400)
    truth = np.array([rng.choice(classes, p=row**0.4 / (row**0.4).sum()) for row in scores]).astype(np.int32)
    weights = rng.random(400) + 0.1
    theirs = calibration._TemperatureScaling().fit(scores, truth, weights)
    ours = Temperature().fit(scores, truth, weights)
    assert ours.learnt[0][0] == pytest.approx(theirs.beta_, abs=1e-5)
    np.testing.assert_allclose(ours(scores), theirs.predict(scores), atol=1e-6)
    np.testing.assert_array_equal(ours(scores).argmax(axis=1), scores.argmax(axis=1))


def test_platts_slope_is_never_negative() -> None:
    score, positive, weights = sample(0, 200)
    theirs = _SigmoidCalibration().fit(1 - score, positive.astype(float), weights)
    assert theirs.a_ > 0  # in its sign: the order of the scores would be turned around
    slope, start = Platt().parameters(1 - score, positive, weights)
    assert slope == 0
    assert 1 / (1 + np.exp(-start)) == pytest.approx(np.average(positive, weights=weights), abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_what_every_calibrator_promises(kind: str, data: st.DataObject) -> None:
    """Scores of sum 1, finite whatever is seen; of two classes the order stays; the same after reading back; no row order."""
    calibrator = make("calibrator", **yaml.safe_load((CONF / f"{kind}.yaml").read_text()))
    classes, rows = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    scores = rng.dirichlet(np.full(classes, data.draw(st.sampled_from([0.05, 0.5, 2.0]))), rows)
    scores = np.eye(classes)[scores.argmax(axis=1)] if data.draw(st.booleans()) else scores
    truth = rng.integers(data.draw(st.integers(1, classes)), size=rows).astype(np.int32)
    weights = rng.choice([0.0, 0.5, 1.0], rows) if data.draw(st.booleans()) else np.ones(rows)
    found = calibrator.fit(scores, truth, weights)
    asked = rng.dirichlet(np.ones(classes), 20)
    said = found(asked)
    assert np.isfinite(said).all()
    assert (said >= 0).all()
    np.testing.assert_allclose(said.sum(axis=1), 1.0, atol=1e-9)
    if classes == 2:
        assert (np.diff(said[np.argsort(asked[:, 1]), 1]) >= -1e-9).all()
    description = found.describe()
    facts = json.loads(json.dumps(dict(description.facts)))
    np.testing.assert_array_equal(restore_calibration(Description(description.kind, facts, description.arrays))(asked), said)
    order = rng.permutation(rows)
    np.testing.assert_allclose(calibrator.fit(scores[order], truth[order], weights[order])(asked), said, atol=2e-4)


def test_of_one_class_nothing_is_learnt() -> None:
    scores = np.array([[0.2, 0.8], [0.6, 0.4]])
    for kind in ("platt", "isotonic", "beta"):
        found = make("calibrator", kind).fit(scores, np.zeros(2, np.int32), np.ones(2))
        np.testing.assert_allclose(found(scores), scores, atol=1e-15)


def test_a_damaged_calibration_is_refused() -> None:
    scores, truth = np.array([[0.2, 0.8], [0.6, 0.4], [0.7, 0.3]]), np.array([1, 0, 1], np.int32)
    whole = Platt().fit(scores, truth, np.ones(3)).describe()
    for arrays in ({}, {"learnt0": np.array([np.nan, 1.0])}, {"learnt1": whole.arrays["learnt0"]}):
        with pytest.raises((ValueError, KeyError)):
            restore_calibration(Description(whole.kind, whole.facts, arrays))


def test_logistic_regression_where_the_classes_are_apart_is_finite() -> None:
    columns = np.array([[0.0], [0.1], [0.9], [1.0]])
    assert np.isfinite(logistic(columns, np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4))).all()
    assert np.isfinite(logistic(np.zeros((4, 1)), np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4))).all()
