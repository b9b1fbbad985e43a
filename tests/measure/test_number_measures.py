"""Measures of numbers say what scikit-learn says, row by row where they are means over rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as sk

from modelsel.core.spec import class_of, kinds_of, make
from modelsel.core.types import Fold, NumberOutputs, NumberTask, Resampling
from modelsel.measure.base import tie_scale
from modelsel.measure.capped import CappedError

Reference = Callable[[Any, Any, Any], float]
REFERENCE: dict[str, Reference] = {
    "mse": lambda y, p, w: sk.mean_squared_error(y, p, sample_weight=w),
    "rmse": lambda y, p, w: sk.root_mean_squared_error(y, p, sample_weight=w),
    "mae": lambda y, p, w: sk.mean_absolute_error(y, p, sample_weight=w),
    "r2": lambda y, p, w: sk.r2_score(y, p, sample_weight=w),
    "median_absolute_error": lambda y, p, w: sk.median_absolute_error(y, p, sample_weight=w),
    "mape": lambda y, p, w: sk.mean_absolute_percentage_error(y, p, sample_weight=w),
    "pinball": lambda y, p, w: sk.mean_pinball_loss(y, p, sample_weight=w, alpha=0.3),
    "poisson_deviance": lambda y, p, w: sk.mean_poisson_deviance(y, p, sample_weight=w),
    "within": lambda y, p, w: float(np.average(np.abs(y - p) > 0.5, weights=w)),
}
FEW, MANY = range(30), pytest.param(range(30, 300), marks=pytest.mark.slow)
SETTINGS: dict[str, dict[str, float]] = {"pinball": {"q": 0.3}, "within": {"tolerance": 0.5}}


def drawn(seed: int, candidates: int = 3) -> tuple[Any, Any, Any]:
    """Targets, predictions and weights above 0, in units of very different size."""
    rng = np.random.default_rng(seed)
    rows, unit = int(rng.integers(2, 60)), 10.0 ** rng.integers(-3, 4)
    truth = rng.gamma(2.0, size=rows) * unit
    return truth, np.abs(truth + rng.normal(size=(candidates, rows)) * unit) + 1e-3 * unit, rng.random(rows) + 0.1


@pytest.mark.parametrize("seeds", [FEW, MANY])
@pytest.mark.parametrize("kind", [kind for kind in kinds_of("measure") if "numbers" in class_of("measure", kind).reads])
def test_it_is_scikit_learns_figure_on_300_random_sets(kind: str, seeds: range) -> None:
    measure, reference = make("measure", kind, **SETTINGS.get(kind, {})), REFERENCE[kind]
    for seed in seeds:
        truth, said, weights = drawn(seed)
        for given in (None, weights):
            found = measure.score(truth, NumberOutputs(said), given, 0)
            wanted = [reference(truth, one, given) for one in said]
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-15, err_msg=f"{kind}, set {seed}")
            alone = [measure.score(truth, NumberOutputs(said[[i]]), given, 0)[0] for i in range(len(said))]
            assert found.tolist() == alone, "a candidate's figure depends on those beside it"


def test_weights_are_repeats_of_rows() -> None:
    truth, said, _ = drawn(7)
    times = np.random.default_rng(1).integers(1, 4, len(truth))
    rows = np.repeat(np.arange(len(truth)), times)
    for kind in REFERENCE:
        measure = make("measure", kind, **SETTINGS.get(kind, {}))
        weighed = measure.score(truth, NumberOutputs(said), times.astype(float), 0)
        repeated = measure.score(truth[rows], NumberOutputs(said[:, rows]), None, 0)
        np.testing.assert_allclose(weighed, repeated, rtol=1e-9, err_msg=kind)


def test_a_prediction_below_zero_has_no_poisson_deviance() -> None:
    found = make("measure", "poisson_deviance").score(np.array([1.0, 2.0]), NumberOutputs(np.array([[1.0, -1.0]])), None, 0)
    assert np.isnan(found).all()


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e6])
def test_what_rounding_is_relative_to_goes_with_the_unit(unit: float) -> None:
    rng = np.random.default_rng(0)
    task = NumberTask(name="t", features=(), values=np.zeros((50, 0)), rows=np.arange(50), target=rng.normal(size=50) * unit)
    assert tie_scale(make("measure", "mse"), task) == pytest.approx(np.var(task.target))


def test_a_target_that_a_measure_divides_by_nothing_of_is_told_before_any_fit() -> None:
    rows = np.arange(6)
    halves = Resampling("kfold", "t", (Fold(0, 0, rows[3:], rows[:3]), Fold(1, 0, rows[:3], rows[3:])))
    alone = Resampling("kfold", "t", (Fold(0, 0, rows[1:], rows[:1]),))

    def told(measure: str, target: list[float], folds: Resampling) -> list[str]:
        task = NumberTask(name="t", features=(), values=np.zeros((6, 0)), rows=rows, target=np.array(target))
        return [said.split(":")[0] for said in make("measure", measure).problems(task, folds)]

    varied, same = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 0.0, 7.0, 7.0, 7.0]
    assert told("mape", varied, halves) == told("r2", varied, halves) == []
    assert told("mape", same, halves) == ["mape divides by the target, which is 0 in 1 rows"]
    assert told("r2", same, halves) == ["r2 divides by the variance of the target, and all rows of fold 1 have one value"]
    assert told("r2", varied, alone) == ["r2 is not defined on 1 folds that assess a single row"]
    perfect, other = (make("measure", "r2").of(np.ones(2), np.array([said]), np.ones(2)) for said in ([1.0, 1.0], [1.0, 2.0]))
    assert [perfect.tolist(), other.tolist()] == [[1.0], [0.0]]


def test_a_row_that_is_off_by_just_the_tolerance_or_the_cap_does_not_count() -> None:
    capped, said = CappedError(tolerance=1.0, cap=3.0), NumberOutputs(np.array([[0.5, 1.0, 2.0, 3.0, 4.0]]))
    assert capped.off(np.zeros(5), said).tolist() == [False, False, True, True, True]
    assert capped.beyond(np.zeros(5), said).tolist() == [False, False, False, False, True]
