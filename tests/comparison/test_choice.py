"""Who cannot be told from the winner, the cheap bias, the summary of outer folds."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from modelsel.comparison import selection
from modelsel.comparison.bbc import Corrected
from modelsel.comparison.indistinguishable import confidence_sets, difference_errors, indistinguishable, p_values
from modelsel.comparison.nested import sum_up_outer
from modelsel.comparison.selection import tibshirani
from modelsel.core.spec import make
from modelsel.core.types import Feature, Floats, Scoreboard, Task
from modelsel.statistics.paired import corrected_t, holm, mcnemar
from tests.extras import needs


def board_of(folds: Floats, higher: bool = False, eligible: list[bool] | None = None) -> Scoreboard:
    n = len(folds)
    return Scoreboard(tuple(f"c{i}" for i in range(n)), folds, folds.mean(axis=1), np.zeros(n), np.arange(n, dtype=float),
                      ("leaves",) * n, np.array(eligible or [True] * n), higher)  # fmt: skip


def near(board: Scoreboard, winner: int, losses: Any, **further: Any) -> tuple[int, ...]:
    return confidence_sets(board, winner, losses, np.random.default_rng(0), **further).indistinguishable


def test_folds_tell_candidates_apart_by_the_corrected_test_and_holm() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(0.2, 0.02, 10)
    folds = np.array([base, base + rng.normal(0.0, 0.01, 10), base + 0.1 + rng.normal(0, 0.01, 10), base + 0.5])
    board = board_of(folds)
    assert indistinguishable(board, 0, 1 / 9) == (1,)
    p = [float(corrected_t(folds[i] - folds[0], 1 / 9).p) for i in (1, 2, 3)]
    assert p_values(board, 0, np.array([1, 2, 3]), 1 / 9, None) == pytest.approx(p, abs=1e-9)
    assert [i + 1 for i in np.flatnonzero(holm(p) > 0.05)] == [1]


def test_who_left_a_race_counts_in_the_correction_and_is_listed_by_nobody() -> None:
    base, further = np.full(10, 0.2), 0.02 + 0.015 * np.linspace(-1, 1, 10)
    board = board_of(np.array([base, base + further, np.full(10, np.nan)]), eligible=[True, True, False])
    p = float(corrected_t(further, 1 / 9).p)
    assert 0.05 / 31 < p < 0.05
    assert indistinguishable(board, 0, 1 / 9) == ()
    assert indistinguishable(board, 0, 1 / 9, more=30) == (1,)


def test_a_higher_score_is_no_nearer_than_a_lower_cost() -> None:
    rng = np.random.default_rng(1)
    folds = rng.normal(0.3, 0.03, (6, 10))
    winner = int(folds.mean(axis=1).argmin())
    assert indistinguishable(board_of(folds), winner, 1 / 9) == indistinguishable(
        board_of(1 - folds, higher=True), winner, 1 / 9
    )


def test_equal_and_ineligible_candidates() -> None:
    folds = np.tile(np.linspace(0.1, 0.2, 5), (3, 1))
    assert indistinguishable(board_of(folds, eligible=[True, True, False]), 0, 0.25) == (1,)
    assert indistinguishable(board_of(folds[:1]), 0, 0.25) == ()


def test_one_holdout_is_compared_row_by_row() -> None:
    losses = np.zeros((60, 3), np.float32)
    losses[:12, 1] = 1  # twelve rows that only the winner gets right
    losses[:3, 2] = 1
    losses = np.vstack([losses, np.full((40, 3), np.nan, np.float32)])
    board = board_of(np.nanmean(losses, axis=0)[:, None])
    assert p_values(board, 0, np.array([1, 2]), 0.4, losses) == pytest.approx(mcnemar([12, 3], [0, 0]))
    assert near(board, 0, losses) == (2,)
    assert indistinguishable(board, 0, 0.4) == (2, 1)


def test_real_losses_of_one_holdout_are_compared_row_by_row() -> None:
    rng = np.random.default_rng(2)
    losses = rng.random((50, 1)) + np.array([[0.0, 0.001, 0.3]]) + rng.normal(0, 0.02, (50, 3))
    board = board_of(losses.mean(axis=0)[:, None])
    assert near(board, int(board.mean.argmin()), losses)[0] in (0, 1)
    assert 2 not in near(board, 0, losses)


def test_candidates_without_rows_widen_the_set_and_ineligible_ones_are_in_none() -> None:
    rng = np.random.default_rng(4)
    losses = (rng.random((400, 40)) < np.linspace(0.2, 0.35, 40)).astype(np.float32)
    losses[:, 7] = np.nan
    board = board_of(losses.mean(axis=0)[:, None], eligible=[one not in (5, 7) for one in range(40)])
    winner = int(np.nanargmin(np.where(board.eligible, board.cost, np.nan)))
    found = confidence_sets(board, winner, losses, np.random.default_rng(0))
    assert {5, 7, winner}.isdisjoint(found.indistinguishable)
    assert found.every_best is not None
    assert winner in found.every_best
    assert {5, 7}.isdisjoint(found.every_best)
    assert list(found.indistinguishable) == sorted(found.indistinguishable, key=lambda one: board.cost[one])
    wider = near(board, winner, losses, more=4000)
    assert set(found.indistinguishable) < set(wider)


def test_the_cheap_bias_is_the_mean_regret_of_the_winner_over_folds() -> None:
    folds = np.array([[0.1, 0.3, 0.2], [0.2, 0.2, 0.4], [0.0, 0.9, 0.9]])
    assert tibshirani(board_of(folds), 0) == pytest.approx(0.2 + 0.2 / 3)
    assert tibshirani(board_of(1 - folds, higher=True), 0) == pytest.approx(0.8 - 0.2 / 3)


def test_outer_folds_are_summed_up_with_the_corrected_variance() -> None:
    scores = [0.2, 0.25, 0.15, 0.3, 0.2]
    found = sum_up_outer(scores, 0.25, ["cart", "cart", "knn", "cart", "knn"])
    half = 2.776445105 * np.sqrt((1 / 5 + 1 / 4) * np.var(scores, ddof=1))
    assert (found.low, found.high) == pytest.approx((0.22 - half, 0.22 + half))
    assert found.agreement == 0.6
    assert "approximate" in found.label


def test_nested_selection_among_worthless_candidates_finds_nothing() -> None:
    """200 candidates that guess, on 100 rows: what the inner folds pick is scored on rows that had no say."""
    rng, means = np.random.default_rng(3), []
    for _ in range(300):
        losses = (rng.random((100, 200)) < 0.5).astype(float)
        outer = np.arange(100) % 10
        picked = [int(losses[outer != fold].mean(axis=0).argmin()) for fold in range(10)]
        scores = [float(losses[outer == fold, choice].mean()) for fold, choice in enumerate(picked)]
        means.append(sum_up_outer(scores, 1 / 9, [str(choice) for choice in picked]).mean)
    assert np.mean(means) == pytest.approx(0.5, abs=0.01)


def test_the_ratio_of_a_scheme_counts_distinct_rows() -> None:
    task = Task(name="t", features=(Feature("x", "numeric"),), values=np.zeros((100, 1)), rows=np.arange(100),
                classes=("a", "b"), target=(np.arange(100) % 2).astype(np.int32))  # fmt: skip
    ratio = {name: make("scheme", name).instantiate(task, 0).ratio for name in ("kfold", "holdout", "bootstrap")}
    assert ratio["kfold"] == pytest.approx(1 / 9)
    assert ratio["holdout"] == pytest.approx(3 / 7)
    assert ratio["bootstrap"] == pytest.approx(0.368 / 0.632, abs=0.05)


def test_the_error_of_a_difference_is_the_variance_that_the_test_divides_by() -> None:
    """sqrt((1/J + n_test / n_train) Σ (d − d̄)² / (J − 1)), written out; NaN for the winner and who is not eligible."""
    folds = np.random.default_rng(2).normal(0.3, 0.05, (4, 5))
    board = board_of(folds, eligible=[True, True, False, True])
    errors = difference_errors(board, 3, 0.25, None, np.ones(20), None)
    assert np.isnan(errors[[2, 3]]).all()
    for one in (0, 1):
        d = [a - b for a, b in zip(folds[one], folds[3], strict=True)]
        middle = sum(d) / 5
        assert errors[one] == pytest.approx(((1 / 5 + 0.25) * sum((x - middle) ** 2 for x in d) / 4) ** 0.5)
    t = (folds[:2] - folds[3]).mean(axis=1) / errors[:2]
    assert p_values(board, 3, np.array([0, 1]), 0.25, None) == pytest.approx(2 * stats.t.sf(np.abs(t), 4))


@pytest.mark.parametrize("grouped", [False, True])
def test_on_one_holdout_the_error_of_a_difference_is_that_of_the_row_differences(grouped: bool) -> None:
    """Against a weighted mean and its linearised variance by statsmodels, clustered where rows stand in groups."""
    api = needs("statsmodels.api")
    rng = np.random.default_rng(3)
    losses = rng.integers(0, 2, (40, 3)).astype(np.float32)
    losses[::4] = np.nan  # rows that were not assessed
    weights, groups = rng.uniform(0.5, 2, 40), np.repeat(np.arange(10), 4)
    board = board_of(np.nanmean(losses, axis=0)[:, None])
    errors = difference_errors(board, 0, 0.5, losses, weights, groups if grouped else None)
    assert np.isnan(errors[0])
    known = ~np.isnan(losses[:, 0])
    for one in (1, 2):
        model = api.WLS((losses[:, one] - losses[:, 0])[known], np.ones(known.sum()), weights=weights[known])
        kind = {"cov_type": "HC0"} if not grouped else {
            "cov_type": "cluster", "cov_kwds": {"groups": groups[known], "use_correction": False}}  # fmt: skip
        assert errors[one] == pytest.approx(float(model.fit(**kind).bse[0]))
    assert np.isnan(difference_errors(board, 0, 0.5, None, weights, None)).all()


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine])
def test_on_a_holdout_of_real_tables_errors_and_p_are_those_of_statsmodels(load: Any) -> None:
    """Three of scikit-learn's classifiers on the same half: a t test of row differences, and McNemar's exact test."""
    api = needs("statsmodels.api")
    tables = needs("statsmodels.stats.contingency_tables")
    seen, held, truth, answer = train_test_split(*load(return_X_y=True), test_size=0.5, random_state=0)
    models = (GaussianNB(), DecisionTreeClassifier(max_depth=1, random_state=0), KNeighborsClassifier(25))
    said = [model.fit(seen, truth).predict_proba(held) for model in models]
    wrong = np.column_stack([one.argmax(axis=1) != answer for one in said]).astype(np.float32)
    board, others = board_of(wrong.mean(axis=0)[:, None]), np.array([1, 2])
    errors = difference_errors(board, 0, 1.0, wrong, np.ones(len(wrong)), None)
    p = []
    for one in others:
        mine, theirs = wrong[:, 0] > 0, wrong[:, one] > 0
        model = api.OLS((wrong[:, one] - wrong[:, 0]).astype(float), np.ones(len(wrong))).fit(cov_type="HC0")
        assert errors[one] == pytest.approx(float(model.bse[0]))
        counts = [[(a & b).sum() for b in (theirs, ~theirs)] for a in (mine, ~mine)]
        p.append(float(tables.mcnemar(counts, exact=True).pvalue))
    assert p_values(board, 0, others, 1.0, wrong) == pytest.approx(p)
    best = int(board.mean.argmin())
    assert near(board, best, wrong) == near(board_of(1 - board.folds, higher=True), best, 1 - wrong)
    squares = np.column_stack([((one - np.eye(one.shape[1])[answer]) ** 2).sum(axis=1) for one in said])
    board = board_of(squares.mean(axis=0)[:, None])
    tested = [api.OLS(squares[:, one] - squares[:, 0], np.ones(len(squares))).fit().pvalues[0] for one in others]
    assert p_values(board, 0, others, 1.0, squares) == pytest.approx([float(one) for one in tested], rel=1e-6)


def test_what_an_interval_is_not_good_for_is_told_by_the_rows_that_were_assessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "tibshirani", lambda board, winner: winner)
    monkeypatch.setattr(selection, "coverage_caution", lambda measure, rows, groups: f"{rows} rows, groups {groups}")
    work = SimpleNamespace(task=SimpleNamespace(groups=None), measure=make("measure", "error"))
    losses = SimpleNamespace(fold=np.array([[0, -1], [0, 1], [1, 0], [-1, -1]]))
    results = SimpleNamespace(book=SimpleNamespace(work=work), losses=losses, board=None)
    found = Corrected(0.1, 0.0, 0.2, 0.5, 10)
    told = selection._correction_facts(results, 2, found)  # type: ignore[arg-type]
    assert told == {**found.to_dict(), "tibshirani": 2, "caution": "3 rows, groups None"}
