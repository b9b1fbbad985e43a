"""The certificate against the published figures, and against the exact enumeration of every possible test set."""

from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from modelsel.statistics import prices
from modelsel.statistics.certificate import (
    SpendingState,
    hoeffding,
    index_weight,
    interval,
    lower_limit,
    upper_limit,
)

N, E = 2000, 200
LEVEL = log(2 / 0.05)


def at(look: int, spent: float, low: int = E, high: int = E) -> list[float]:
    return [round(limit, 6) for limit in interval(low, high, N, SpendingState(look, spent).nats(0.05))]


FULL = {
    1: [0.086618, 0.114670], 2: [0.071228, 0.134859], 3: [0.063158, 0.147396], 5: [0.052723, 0.166275],
    10: [0.037555, 0.201506], 20: [0.022117, 0.254718], 100: [0.000843, 0.509544],
}  # fmt: skip
GRID = {
    1: [0.081937, 0.119433], 2: [0.070465, 0.134752], 3: [0.064221, 0.144239], 5: [0.055984, 0.158306],
    10: [0.043434, 0.184241], 20: [0.029490, 0.223080], 100: [0.003225, 0.412536],
}  # fmt: skip
FORESEEN = {
    2: [0.075705, 0.127446], 3: [0.072461, 0.131904], 5: [0.068360, 0.137850], 10: [0.061881, 0.148041],
    20: [0.053611, 0.162743], 100: [0.026292, 0.234343],
}  # fmt: skip
PASSED = {2: [0.080778, 0.121832], 5: [0.074229, 0.130573], 10: [0.068666, 0.138671], 100: [0.036181, 0.205338]}
COMMITTED = {2: [0.082059, 0.120213], 5: [0.078111, 0.125296], 10: [0.075913, 0.128248], 100: [0.070244, 0.136306]}


@pytest.mark.parametrize("look", FULL)
def test_full_precision_answers_cost_what_the_table_says(look: int) -> None:
    assert at(look, (look - 1) * prices.full(N)) == FULL[look]


@pytest.mark.parametrize("look", GRID)
def test_rounded_answers_use_all_counts_that_round_to_them(look: int) -> None:
    assert prices.counts_of(10, N, 100) == (190, 209)
    assert at(look, (look - 1) * prices.grid(100), 190, 209) == GRID[look]


@pytest.mark.parametrize("look", FORESEEN)
def test_foreseen_answers_cost_little(look: int) -> None:
    assert at(look, (look - 1) * prices.predicted_grid(10, 100, N, 0.1, 2000), 190, 209) == FORESEEN[look]


@pytest.mark.parametrize("look", PASSED)
def test_a_pass_costs_one_bit(look: int) -> None:
    assert at(look, (look - 1) * prices.PASS_OR_FAIL) == PASSED[look]


@pytest.mark.parametrize("look", COMMITTED)
def test_a_committed_look_pays_its_index_alone(look: int) -> None:
    assert at(look, 0.0) == COMMITTED[look]


@pytest.mark.parametrize(
    ("space", "limits"),
    [(10, [0.080778, 0.121832]), (100, [0.077068, 0.126686]), (1000, [0.073946, 0.130969]),
     (10**4, [0.071228, 0.134859]), (10**6, [0.066617, 0.141830])],
)  # fmt: skip
def test_a_declared_space_bounds_any_number_of_looks(space: int, limits: list[float]) -> None:
    nats = SpendingState(10**6, 1e9, space, member=True).nats(0.05)
    assert [round(limit, 6) for limit in interval(E, E, N, nats)] == limits


@pytest.mark.parametrize(("nats", "limit"), [(3, 0.111738), (10, 0.128627), (100, 0.217916), (600, 0.453866), (1000, 0.574817)])
def test_tail_inversion(nats: float, limit: float) -> None:
    assert round(upper_limit(E, N, nats), 6) == limit


@pytest.mark.parametrize(
    ("errors", "n", "limits"),
    [(200, 2000, [0.087196, 0.113990]), (5, 100, [0.016432, 0.112835]), (100, 1000, [0.082105, 0.120288]),
     (400, 4000, [0.090873, 0.109716]), (2000, 4000, [0.484385, 0.515615])],
)  # fmt: skip
def test_a_single_look_is_clopper_pearson(errors: int, n: int, limits: list[float]) -> None:
    assert [round(limit, 6) for limit in interval(errors, errors, n, LEVEL)] == limits


def test_no_errors_at_all() -> None:
    assert lower_limit(0, 100, LEVEL) == 0.0
    assert round(upper_limit(0, 100, LEVEL), 6) == 0.036217
    assert upper_limit(0, 100, log(20)) == pytest.approx(1 - 0.05**0.01)
    assert upper_limit(100, 100, LEVEL) == 1.0


@given(st.integers(1, 400), st.data(), st.floats(1.0, 30.0))
@example(143, 142, 28.125552737619333)
@example(400, 399, 30.0)
@example(400, 1, 30.0)
def test_the_limits_have_exactly_the_tail_that_is_asked(n: int, drawn: int | st.DataObject, nats: float) -> None:
    """Exactly to .01 nats, or to the spacing of floats: beside 1 a limit and its neighbour lie further apart than that."""
    errors = drawn if isinstance(drawn, int) else drawn.draw(st.integers(0, n))
    if errors > 0:
        below, above = _beside(lower_limit(errors, n, nats))
        assert binom.logsf(errors - 1, n, below) - 0.01 <= -nats <= binom.logsf(errors - 1, n, above) + 0.01
    if errors < n:
        below, above = _beside(upper_limit(errors, n, nats))
        assert binom.logcdf(errors, n, above) - 0.01 <= -nats <= binom.logcdf(errors, n, below) + 0.01


def _beside(limit: float) -> tuple[float, float]:
    """The floats next to a limit."""
    return float(np.nextafter(limit, 0)), float(np.nextafter(limit, 1))


@pytest.mark.parametrize("nats", [301.0, 640.0, 700.0])
def test_where_all_rows_or_none_are_wrong_the_far_limits_are_a_power(nats: float) -> None:
    assert lower_limit(60, 60, nats) == pytest.approx(exp(-nats / 60), rel=1e-6)
    assert upper_limit(0, 60, nats) == pytest.approx(1 - exp(-nats / 60), rel=1e-9)


def test_the_chernoff_bound_takes_over_without_a_gap() -> None:
    exact, bound = upper_limit(E, N, 650.0), upper_limit(E, N, 650.01)
    assert exact < bound < exact + 0.002


def test_index_weights_sum_to_one() -> None:
    assert sum(index_weight(look) for look in range(1, 100_001)) == pytest.approx(1 - 1 / (5 * 100_000))


def test_hoeffding() -> None:
    assert [round(hoeffding(LEVEL, n), 6) for n in (100, 1000, 2000, 4000)] == [0.13581, 0.042947, 0.030368, 0.021473]


BUDGETS = {
    (1000, 0.05): (1, 1, 1, 1, 1), (1000, 0.1): (2, 3, 10, 14, 1558), (2000, 0.05): (1, 1, 3, 4, 11),
    (2000, 0.1): (5, 7, 26, 40, 5000), (10_000, 0.03): (2, 3, 8, 12, 573), (10_000, 0.05): (5, 9, 35, 54, 5000),
    (100_000, 0.02): (7, 15, 61, 95, 5000),
}  # fmt: skip


def looks_left(n: int, price: float, halfwidth: float, delta: float = 0.05, most: int = 5000) -> int:
    """The largest index whose Hoeffding half width is within `halfwidth` when each answer before costs `price` nats."""
    look = 0
    while look < most and hoeffding(SpendingState(look + 1, look * price).nats(delta), n) <= halfwidth:
        look += 1
    return look


@pytest.mark.parametrize("case", BUDGETS)
def test_budgets(case: tuple[int, float]) -> None:
    n, width = case
    each = (prices.full(n), prices.grid(100), 1.1, prices.PASS_OR_FAIL, 0.0)
    assert tuple(looks_left(n, price, width) for price in each) == BUDGETS[case]


def _misses(n: int, looks: int, delta: float, certified: bool) -> float:
    """Share of all 2^n label vectors (true rate one half) for which some look's interval misses one half.

    The analyst is the boosting attack: each look submits a fixed vector of predictions, the last one the majority of those
    that came out well.
    """
    rng = np.random.default_rng(3)
    fixed = rng.integers(0, 2, (looks - 1, n))
    labels = np.array(list(product((0, 1), repeat=n)))
    missed = np.zeros(len(labels), bool)
    counts = (labels[:, None, :] != fixed[None]).sum(axis=2)
    signs = np.where(counts <= n / 2, 1, -1)
    majority = (signs @ (2 * fixed - 1) > 0).astype(int)
    every = np.hstack([counts, (labels != majority).sum(axis=1)[:, None]])
    for look in range(1, looks + 1):
        nats = SpendingState(look, (look - 1) * prices.full(n)).nats(delta) if certified else log(2 / delta)
        table = np.array([low <= 0.5 <= high for low, high in (interval(e, e, n, nats) for e in range(n + 1))])
        missed |= ~table[every[:, look - 1]]
    return float(missed.mean())


def test_every_label_vector_of_twelve_rows() -> None:
    """All 4096 test sets, four adaptive looks, δ = .5: the naive interval misses far too often, ours within δ."""
    assert 0.80 <= _misses(12, 4, 0.5, certified=False) <= 0.86
    assert 0.3877 <= _misses(12, 4, 0.5, certified=True) <= 0.3882


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.2, 0.5]))
def test_no_deterministic_analyst_gets_past_the_level(seed: int, delta: float) -> None:
    """A random analyst: what is submitted next is any function of all answers so far. n = 8, all 256 label vectors."""
    n, looks = 8, 4
    labels = np.array(list(product((0, 1), repeat=n)))
    missed = 0
    for truth in labels:
        story: tuple[int, ...] = ()
        wrong = False
        for look in range(1, looks + 1):
            guess = np.random.default_rng([seed, look, *story]).integers(0, 2, n)
            errors = int((guess != truth).sum())
            low, high = interval(errors, errors, n, SpendingState(look, (look - 1) * prices.full(n)).nats(delta))
            wrong |= not low <= 0.5 <= high
            story = (*story, errors)
        missed += wrong
    assert missed / len(labels) <= delta


def test_one_look_outside_a_declared_space_and_ten_inside_stay_within_delta() -> None:
    """Were ln 2 charged inside the space alone, eleven independent looks would miss together more often than δ."""
    n, delta, space = 200, 0.05, 10
    inside = _table(n, SpendingState(10**9, 0.0, space, member=True).nats(delta))

    def worst(outside: SpendingState) -> float:
        """The largest chance of a miss, over true rates."""
        table = _table(n, outside.nats(delta))
        rates = np.arange(0.01, 0.501, 0.002)
        return max(1 - _covers(table, rate) * _covers(inside, rate) ** space for rate in rates)

    assert round(worst(SpendingState(1, 0.0, space, member=False)), 3) == 0.042
    assert round(worst(SpendingState(1, 0.0)), 2) == 0.06


def _table(n: int, nats: float) -> np.ndarray:
    """The interval of every count."""
    return np.array([interval(e, e, n, nats) for e in range(n + 1)])


def _covers(table: np.ndarray, rate: float) -> float:
    held = (table[:, 0] <= rate) & (rate <= table[:, 1])
    return float(binom.pmf(np.arange(len(table)), len(table) - 1, rate)[held].sum())


def test_prices_are_probabilities() -> None:
    exact = sum(exp(-prices.price_of_count(e, 300, 0.13, 700)) for e in range(301))
    rounded = sum(exp(-prices.predicted_grid(c, 50, 300, 0.13, 700)) for c in range(51))
    assert exact == pytest.approx(1.0, abs=1e-9)
    assert rounded == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("errors", [200, 1000])
def test_up_to_650_nats_a_limit_is_exact_and_beyond_it_is_the_chernoff_bound(errors: int) -> None:
    for nats in (299.0, 300.0, 301.0, 650.0):
        assert binom.logsf(errors - 1, N, lower_limit(errors, N, nats)) == pytest.approx(-nats, abs=0.01)
        assert binom.logcdf(errors, N, upper_limit(errors, N, nats)) == pytest.approx(-nats, abs=0.01)
    for nats in (650.001, 900.0):
        q = errors / N
        for limit in (lower_limit(errors, N, nats), upper_limit(errors, N, nats)):
            apart = q * log(q / limit) + (1 - q) * log((1 - q) / (1 - limit))
            assert apart * N == pytest.approx(nats, rel=1e-6) or limit in (0.0, 1.0)


def test_beyond_every_divergence_a_limit_is_the_end() -> None:
    assert lower_limit(1, N, 1e5) == 0.0
    assert upper_limit(1999, N, 1e5) == 1.0


def test_the_state_pays_for_its_index_its_history_and_its_space() -> None:
    for look, spent, delta in ((1, 0.0, 0.05), (3, 7.5, 0.2)):
        weight = 0.8 if look == 1 else 1 / (5 * look * (look - 1))
        tree = spent - log(weight)
        assert SpendingState(look, spent).nats(delta) == pytest.approx(log(2 / delta) + tree)
        for space in (2, 10**6):
            assert SpendingState(look, spent, space, member=True).nats(delta) == pytest.approx(
                log(4 / delta) + min(tree, log(space))
            )
            assert SpendingState(look, spent, space).nats(delta) == pytest.approx(log(4 / delta) + tree)
