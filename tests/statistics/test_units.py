"""Intervals over units: the oracles of six digits, wealth by enumeration, inversion by brute force, what is released."""

from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics import balanced_accuracy_score, fbeta_score, precision_score, recall_score

from modelsel.statistics import unit_intervals as own
from modelsel.statistics import unit_measures as measures
from modelsel.statistics.certificate import SpendingState
from modelsel.statistics.unit_intervals import (
    ReleasedSymbols,
    ReleasePlan,
    UnitLosses,
    plan,
    release,
    released_interval,
    wealth_limits,
)

NATS = log(50)
SIZES = UnitLosses.of([0, 1, 0, 2, 5], [1, 2, 3, 4, 10])
SQUARES = UnitLosses.of((np.arange(100) / 99) ** 2, np.ones(100))
GROUPS = UnitLosses.of(np.repeat([30, 0], [12, 48]), np.full(60, 30))


def log_wealth(units: UnitLosses, mean: float, first: float) -> float:
    """ln of what the mixture of bets around `first` has made of one, against the mean loss being `mean` or less."""
    return own._log_mixture(*units.distinct, mean, own.bets(first), np.log(own.PRIORS))


@pytest.mark.parametrize(("units", "nats", "first", "low", "high"), [
    (UnitLosses.of(np.repeat([1, 0], [200, 1800]), np.ones(2000)), NATS, (0.2, 0.1), 0.074795, 0.122535),
    (UnitLosses.of(np.zeros(50), np.ones(50)), NATS, (0.5, 0.99), 0, 0.076152),
    (SIZES, NATS, (0.5, 0.5), 0.036952, 0.915558),
    (SIZES, 20.0, (0.9, 0.9), 0.000213, 0.996709),
    (SQUARES, NATS, (0.3, 0.3), 0.253397, 0.434281),
    (SQUARES, 700.0, (0.9, 0.9), 0.000112, 0.999566),
    (GROUPS, NATS, (0.4, 0.3), 0.060933, 0.383753),
])  # fmt: skip
def test_limits_of_wealth_are_those_of_the_oracles(units, nats: float, first, low: float, high: float) -> None:
    assert wealth_limits(units, nats, first) == pytest.approx((low, high), abs=6e-7)


def test_wealth_and_chernoff_limits_of_the_oracles() -> None:
    assert log_wealth(SIZES, 0.05, 0.5) == pytest.approx(3.221653, abs=5e-7)
    assert own.chernoff_limits(0.1, 2000, NATS) == pytest.approx((0.082282, 0.119802), abs=5e-7)
    assert own.chernoff_limits(0.9, 100, NATS) == pytest.approx((0.796157, 0.963330), abs=5e-7)
    assert own.chernoff_limits(0.0, 100, NATS) == (0.0, pytest.approx(1 - exp(-NATS / 100)))


def test_mean_wealth_over_all_answers_is_at_most_one() -> None:
    """Four unlike units, errors whole units: every outcome with its chance. Exactly one where all rates are equal."""
    den = np.array([1, 0.2, 0.5, 0.7])

    def mean_wealth(rates: list[float]) -> float:
        mean, total = float(den @ rates / den.sum()), 0.0
        for wrong in product([0, 1], repeat=4):
            chance = float(np.prod(np.where(wrong, rates, 1 - np.array(rates))))
            total += chance * exp(log_wealth(UnitLosses.of(den * wrong, den, 1.0), mean, 0.5))
        return total

    assert mean_wealth([0.9, 0.05, 0.3, 0.1]) == pytest.approx(0.866396, abs=5e-7)
    assert mean_wealth([0.3] * 4) == pytest.approx(1, abs=1e-12)
    rng = np.random.default_rng(0)
    assert max(mean_wealth(list(rng.random(4))) for _ in range(20)) <= 1 + 1e-12


def units_of(draw) -> UnitLosses:
    many = draw(st.integers(1, 12))
    den = np.array(draw(st.lists(st.integers(1, 9), min_size=many, max_size=many)), float)
    share = np.array(draw(st.lists(st.sampled_from([0, 0.1, 0.5, 0.9, 1]), min_size=many, max_size=many)))
    return UnitLosses.of(share * den, den, den.max() + draw(st.integers(0, 3)))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_lower_limit_is_where_brute_force_sees_wealth_reach_its_level(data) -> None:
    units, nats, bet = units_of(data.draw), data.draw(st.sampled_from([0.7, 3.9, 20.0])), data.draw(st.floats(0.02, 0.98))
    low = own.lower_limit(units, nats, bet)
    odds = bet / (1 - bet) * 1.6 ** np.arange(-8, 9)
    prior = np.array([0.6 if j == 0 else 2.0 ** -abs(j) for j in range(-8, 9)])
    prior[prior != 0.6] *= 0.4 / prior[prior != 0.6].sum()
    for mean in np.geomspace(1e-9, 1, 60):
        wealth = sum(
            p * np.prod(1 + c * (units.num / mean - units.den) / units.bound) for p, c in zip(prior, odds / (1 + odds))
        )
        assert (wealth >= exp(nats)) == (mean <= low) or abs(mean / low - 1) < 1e-9


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_limits_stand_around_the_score_and_widen_with_nats(data) -> None:
    units = units_of(data.draw)
    narrow, wide = (wealth_limits(units, nats, (0.4, 0.4)) for nats in (2.0, 6.0))
    assert 0 <= wide[0] <= narrow[0] <= units.score + 1e-12
    assert units.score - 1e-12 <= narrow[1] <= wide[1] <= 1
    turned = wealth_limits(units.reverse, 2.0, (0.4, 0.4))
    assert (1 - turned[1], 1 - turned[0]) == pytest.approx(narrow, abs=1e-9)
    assert wealth_limits(UnitLosses.of(units.num * 3, units.den * 3, units.bound * 3), 2.0, (0.4, 0.4)) == pytest.approx(narrow)


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 1), st.floats(0.5, 1e4), st.floats(0.1, 800))
def test_chernoff_limits_invert_the_divergence(score: float, units: float, nats: float) -> None:
    low, high = own.chernoff_limits(score, units, nats)
    assert 0 <= low <= score + 1e-12
    assert score - 1e-12 <= high <= 1
    for limit in (low, high):
        if 1e-12 < limit < 1 - 1e-9 and 1e-9 < score < 1 - 1e-9:
            divergence = score * log(score / limit) + (1 - score) * log((1 - score) / (1 - limit))
            assert units * divergence == pytest.approx(nats, rel=1e-4)


def test_chernoff_over_unlike_units_of_unequal_size_misses_within_its_level() -> None:
    """All outcomes of eight unlike units: chance that the limits miss, both sides, against 2 e^-nats."""
    den = np.array([1, 1, 2, 3, 5, 5, 1, 4.0])
    rates = np.array([0.9, 0.1, 0.5, 0.2, 0.05, 0.4, 0.3, 0.6])
    mean, nats, missed = float(den @ rates / den.sum()), log(10), {"chernoff": 0.0, "hoeffding": 0.0, "wealth": 0.0}
    number, size = own.effective_units(den, 5.0)
    for wrong in product([0, 1], repeat=8):
        chance = float(np.prod(np.where(wrong, rates, 1 - rates)))
        units = UnitLosses.of(den * wrong, den)
        limits = {"chernoff": own.chernoff_limits(units.score, number, nats),
                  "hoeffding": own.hoeffding_limits(units.score, size, nats),
                  "wealth": wealth_limits(units, nats, (0.4, 0.3))}  # fmt: skip
        for name, (low, high) in limits.items():
            missed[name] += chance * (not low <= mean <= high)
    assert all(0 <= share <= 2 * exp(-nats) for share in missed.values())


def test_losses_of_very_many_equal_units_are_rounded_to_the_safe_side(monkeypatch) -> None:
    losses = np.random.default_rng(0).beta(0.5, 4, 3000)
    exact = wealth_limits(UnitLosses.of(losses, np.ones(3000)), 5.0, (0.2, 0.3))
    monkeypatch.setattr(own, "MANY", 100)
    coarse = wealth_limits(UnitLosses.of(losses, np.ones(3000)), 5.0, (0.2, 0.3))
    assert exact[0] - 2**-13 < coarse[0] < exact[0] < exact[1] < coarse[1] < exact[1] + 2**-13


@pytest.mark.parametrize(
    ("num", "den", "bound"), [([2], [1], None), ([-1], [1], None), ([0], [2], 1), ([], [], 1), ([0], [0], None)]
)
def test_units_that_cannot_be_are_refused(num, den, bound) -> None:
    with pytest.raises(ValueError):
        UnitLosses(np.array(num, float), np.array(den, float), float(max(den, default=1) if bound is None else bound))


# ---- what is released


def study(seed: int, number: int, kind: str) -> tuple[UnitLosses, UnitLosses]:
    rng = np.random.default_rng(seed)
    if kind == "groups":
        den = rng.integers(1, 30, 2 * number).astype(float)
        num = rng.binomial(den.astype(int), rng.beta(1, 6, 2 * number)).astype(float)
    else:
        den, num = np.ones(2 * number), rng.beta(0.3, 3, 2 * number)
    bound = float(den[number:].max())
    return UnitLosses.of(num[:number], den[:number]), UnitLosses.of(num[number:], den[number:], bound)


@pytest.mark.parametrize("kind", ["groups", "brier"])
@pytest.mark.parametrize("known", [True, False])
def test_the_interval_told_holds_the_limits_and_no_smaller_k_does(kind: str, known: bool) -> None:
    for seed in range(6):
        seen, sealed = study(seed, 80, kind)
        chosen = plan(seen, sealed.den if known else 80, 6.0, sealed.bound)
        told = release(chosen, sealed)
        low, high = released_interval(chosen, told)
        if chosen.bets is None:
            assert low <= sealed.score <= high
            assert told.k is None
            continue
        inside = wealth_limits(sealed, 6.0, chosen.bets)
        assert low <= inside[0]
        assert inside[1] <= high
        narrower = released_interval(chosen, ReleasedSymbols(told.cell, told.k - 1))
        assert not (narrower[0] <= inside[0] and inside[1] <= narrower[1])


@pytest.mark.slow
def test_probabilities_of_all_answers_sum_to_one() -> None:
    seen, sealed = study(0, 300, "brier")
    chosen = plan(seen, sealed.den, 20.0, 1.0)
    assert chosen.method == "wealth"
    assert own.cell_probabilities(chosen).sum() == pytest.approx(1)
    assert sum(exp(-own.price_of(k)) for k in range(-200, 200)) == pytest.approx(1)
    spent = [own.price(chosen, ReleasedSymbols(cell, k)) for cell in range(chosen.steps + 1) for k in range(-40, 60)]
    assert np.exp(-np.array([own.price(chosen, ReleasedSymbols(None)), *spent])).sum() == pytest.approx(1, abs=1e-6)


def test_symbols_that_do_not_fit_the_plan_are_refused() -> None:
    seen, sealed = study(0, 300, "brier")
    chosen = plan(seen, sealed.den, 20.0, 1.0)
    for told in (
        ReleasedSymbols(chosen.steps + 1, 1),
        ReleasedSymbols(-1, 1),
        ReleasedSymbols(3),
        ReleasedSymbols(3, -41),
        ReleasedSymbols(None, 1),
    ):
        with pytest.raises(ValueError, match="cannot be an answer"):
            own.price(chosen, told)
    assert released_interval(chosen, ReleasedSymbols(None)) == (0.0, 1.0)


@pytest.mark.parametrize("method", ["chernoff", "hoeffding", "binomial"])
@pytest.mark.parametrize("cell", [0, 3, 19, 20])
def test_a_score_alone_is_bounded_for_every_score_of_its_cell(method, cell: int) -> None:
    chosen = ReleasePlan(method, NATS, 100.0, 20, 0.2, 0.04, 0.1)
    low, high = released_interval(chosen, ReleasedSymbols(cell))
    for count in range(101):
        if int(np.floor(count / 100 * 20 + 0.5)) == cell:
            limits = {"chernoff": own.chernoff_limits, "hoeffding": own.hoeffding_limits}.get(method)
            within = limits(count / 100, 100, NATS) if limits else own.binomial_interval(count, count, 100, NATS)
            assert low <= within[0] + 1e-12
            assert within[1] <= high + 1e-12


def test_the_narrowest_forecast_is_chosen_before_labels() -> None:
    rng = np.random.default_rng(1)
    rows = UnitLosses.of((rng.random(2000) < 0.1).astype(float), np.ones(2000))
    assert plan(rows, np.ones(500), 5.0, 1.0, binary=True).method == "binomial"
    small = UnitLosses.of(rng.beta(2, 60, 2000), np.ones(2000))
    assert plan(small, np.ones(500), 5.0, 1.0).method == "wealth"
    assert plan(rows, np.array([1.0, 1, 1]), 3.0, 1.0, binary=True).forecast > 0.2
    floor = plan(UnitLosses.of(np.zeros(500), np.ones(500)), np.ones(50), NATS, 1.0, binary=True)
    assert released_interval(floor, ReleasedSymbols(0))[1] > 0.07


def test_brier_at_two_thousand_rows_is_less_than_half_as_wide_as_hoeffding() -> None:
    rng = np.random.default_rng(2)
    loss = [(expit(2 * z) - (rng.random(2000) < expit(2 * z))) ** 2 for z in rng.normal(0, 1.5, (2, 2000))]
    seen, sealed = (UnitLosses.of(one, np.ones(2000)) for one in loss)
    chosen = plan(seen, sealed.den, 20.0, 1.0)
    low, high = released_interval(chosen, release(chosen, sealed))
    assert (high - low) / 2 < 0.45 * (own.hoeffding_limits(0.5, 2000, 20.0)[1] - 0.5)


# ---- measures


def labels(seed: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, 60)
    predicted = np.where(rng.random(60) < 0.7, truth, rng.integers(0, classes, 60))
    return truth, predicted, rng.integers(0, 9, 60), rng.integers(1, 4, 60).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_ratios_are_the_measures_of_scikit_learn(seed: int) -> None:
    truth, predicted, units, weights = labels(seed)
    weighted = {"sample_weight": weights}
    expected = {
        "recall": recall_score(truth, predicted, **weighted),
        "specificity": recall_score(truth, predicted, pos_label=0, **weighted),
        "precision": precision_score(truth, predicted, **weighted),
    }
    for name, value in expected.items():
        assert 1 - getattr(measures, name)(truth, predicted, 1).over(units, weights).score == pytest.approx(value)
    for beta in (0.5, 1, 2):
        found = measures.f_beta(truth, predicted, 1, beta).over(units, weights)
        assert 1 - found.score == pytest.approx(fbeta_score(truth, predicted, beta=beta, **weighted))
        assert found.bound >= found.den.max()
        assert not found.sizes_known


def test_losses_of_rows_are_rescaled_to_one() -> None:
    truth, predicted, units, weights = labels(0, 3)
    costs = np.array([[0, 1, 4], [2, 0, 1], [10, 3, 0.0]])
    assert measures.cost(truth, predicted, costs).over(units).score * 10 == pytest.approx(costs[truth, predicted].mean())
    scores = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    squares = ((scores - np.eye(3)[truth]) ** 2).sum(axis=1)
    assert measures.brier(truth, scores).over(units, weights).score * 2 == pytest.approx(np.average(squares, weights=weights))
    surprise = -np.log(scores[np.arange(60), truth])
    assert measures.log_loss(truth, scores, 1.5).over().score * 1.5 == pytest.approx(np.minimum(surprise, 1.5).mean())
    assert measures.above(truth, scores, 1.5).over().score == pytest.approx((surprise > 1.5).mean())
    counts = np.bincount(truth, minlength=3)
    balanced = measures.balanced_error(truth, predicted, counts).over()
    assert balanced.score == pytest.approx(1 - balanced_accuracy_score(truth, predicted))
    assert balanced.den.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="class counts"):
        measures.balanced_error(truth, predicted, counts + 1)


def test_chances_of_zero_are_capped() -> None:
    terms = measures.log_loss(np.array([0, 1]), np.array([[0.0, 1.0], [0.0, 1.0]]), 4.0)
    assert terms.num.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("sizes", [[1, 1, 1, 2, 2], pytest.param([1, 1, 1, 1, 2, 2, 2, 3, 3, 5], marks=pytest.mark.slow)])
def test_every_label_vector_of_ten_units_under_a_greedy_analyst(sizes: list[int], known: bool) -> None:
    """All labels of ten (in short: five) unequal units, δ = .5: looks together miss within δ, with the symbols really released.

    The analyst turns units round one after the other and keeps what came out better; labels are fair, so that every model errs
    at one half. With `known` the plan chooses among all methods, else only wealth is left.
    """
    den, n, delta, made = np.array(sizes, float), len(sizes), 0.5, {}
    seen = UnitLosses.of(den * (np.arange(n) % 2), den)
    looks, order = (4, 3) if n > 5 else (3, 2), np.random.default_rng(0).permutation(n)

    def answer(story: tuple[tuple[float, float], ...], wrong: np.ndarray) -> tuple[float, float, bool]:
        """Score, price and whether ½ is missed; equal units are interchangeable."""
        key = (story, tuple(int(wrong[size == den].sum()) for size in np.unique(den)))
        if key not in made:
            nats = SpendingState(len(story) + 1, sum(paid for _, paid in story)).nats(delta)
            if (story, "plan") not in made:
                made[story, "plan"] = plan(seen, den if known else n, nats, den.max())
            chosen, sealed = made[story, "plan"], UnitLosses.of(den * wrong, den, den.max(), known)
            told = release(chosen, sealed)
            low, high = released_interval(chosen, told)
            made[key] = told.cell / chosen.steps, own.price(chosen, told), not low <= 0.5 <= high
        return made[key]

    together = 0
    for label in product([0, 1], repeat=n):
        best, before, story, misses = np.zeros(n, int), 1.0, (), False
        for look in range(looks[0]):
            tried = best.copy()
            tried[order[looks[1] * look :][: looks[1]]] ^= 1
            score, paid, missed = answer(story, (tried != np.array(label)).astype(float))
            story, misses = (*story, (score, paid)), misses or missed
            best, before = (tried, score) if score < before else (best, before)
        together += misses
    assert together / 2**n <= delta
    assert together > 0 or n == 5
