"""Prices and half widths of values that are no error count, each against its formula written down a second time."""

from math import inf, log, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from modelsel.core.spec import make
from modelsel.core.types import Outputs
from modelsel.guard.labels import prediction_digest
from modelsel.guard.release import LabelSummary, ScoreGridRelease, with_failure, worst_of
from modelsel.ledger.home import IdentityKey
from modelsel.statistics import prices

TRUTH = LabelSummary(200, 30, 0.25, (120, 80), 160.0)


def test_the_width_of_a_mean_is_hoeffdings_for_its_range_and_its_weights() -> None:
    for kind, bounds in (("error", (0.0, 1.0)), ("brier", (0.0, 2.0)), ("cost_matrix", (-1.0, 4.0))):
        half = ScoreGridRelease(kind, 200, 100, bounds, None, None).release(TRUTH).half
        assert half == pytest.approx((bounds[1] - bounds[0]) ** 2 / (2 * 160))


def test_the_width_of_an_auc_is_that_of_its_smaller_class() -> None:
    assert ScoreGridRelease("auc", 200, 100, (0.0, 1.0), None, None).release(TRUTH).half == pytest.approx(1 / 160)


@pytest.mark.parametrize("classes", [(120, 80), (100, 60, 40)])
def test_the_width_of_a_balanced_error_holds_for_all_classes_at_once(classes: tuple[int, ...]) -> None:
    half = ScoreGridRelease("balanced_error", 200, 100, (0.0, 1.0), None, None)
    found = half.release(LabelSummary(200, 30, 0.25, classes, 200.0)).half
    assert found is not None
    for nats in (1.0, 4.0, 12.0):
        exact = np.mean([sqrt((nats + log(len(classes))) / (2 * count)) for count in classes])
        assert sqrt(found * nats) >= exact - 1e-12 or nats < log(2)
    widest = np.mean([sqrt((log(2) + log(len(classes))) / (2 * count)) for count in classes])
    assert sqrt(found * log(2)) == pytest.approx(widest)  # and no wider than where the two meet


def test_no_width_is_known_of_a_measure_without_bounds_or_of_a_class_that_is_not_there() -> None:
    assert ScoreGridRelease("log_loss", 200, 100, (0.0, inf), None, None).release(TRUTH).half is None
    alone = LabelSummary(200, 30, 0.25, (200, 0), 200.0)
    assert ScoreGridRelease("auc", 200, 100, (0.0, 1.0), None, None).release(alone).half is None


def test_a_foreseen_value_costs_what_a_normal_distribution_about_it_leaves_to_its_cell() -> None:
    for kind, origin in (("brier", 0.0), ("kappa", -1.0)):
        grid = ScoreGridRelease(kind, 200, 50, (origin, origin + 2.0), (origin + 0.3, 400), None)
        spread = 1.0 * sqrt(1 / 200 + 1 / 400)  # half of the range at the most
        for score in (0.28, 0.32, 0.6, 2.0):
            cell = round(score * 25)
            low, high = (cell - 0.5) / 25 if cell else -inf, (cell + 0.5) / 25 if cell < 50 else inf
            mass = norm.cdf(high, 0.3, spread) - norm.cdf(low, 0.3, spread)
            expected = -log(prices.PRIOR / 51 + (1 - prices.PRIOR) * mass)
            found = grid.release(LabelSummary(200, 30, origin + score, (120, 80), 200.0)).price
            assert found == pytest.approx(with_failure(expected))


def test_the_most_that_a_value_may_cost_counts_cells_a_count_and_classes() -> None:
    said = {kind: ScoreGridRelease(kind, 200, 50, (0.0, 1.0), None, None).worst for kind in ("brier", "error", "auc")}
    cells = log(10 * 51)
    assert said["brier"] == pytest.approx(worst_of(cells))
    assert said["error"] == pytest.approx(worst_of(cells + log(10 * 201)))
    assert said["auc"] == pytest.approx(worst_of(cells + 19 * log(201)))


@pytest.mark.parametrize("kind", ["brier", "error", "auc", "balanced_error"])
def test_no_value_costs_more_than_the_most(kind: str) -> None:
    for expected in (None, (0.1, 1000)):
        grid = ScoreGridRelease(kind, 200, 50, (0.0, 1.0), expected, (0.1, 1000) if expected else None)
        for score in (0.0, 0.5, 1.0):
            assert grid.release(LabelSummary(200, 100, score, (120, 80), 200.0)).price <= grid.worst


def test_a_score_of_minus_nought_is_nought() -> None:
    key, measure = IdentityKey(b"k" * 32), make("measure", "brier")
    rows, said = np.arange(2, dtype=np.uint64), np.zeros((1, 2), np.int32)
    digests = {
        prediction_digest(measure, Outputs(said, np.array([[[1.0, zero], [zero, 1.0]]])), None, rows, key)
        for zero in (0.0, -0.0, -1e-9)
    }  # fmt: skip
    assert len(digests) == 1
