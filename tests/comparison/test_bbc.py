"""BBC-CV: the same as drawing rows one resample at a time, honest under a known truth, whole groups where there are groups."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.simulations.corrected_interval import study
from modelsel.comparison.bbc import WIDER, bbc, deal_blocks, draws, effective_rows, share_interval, units
from modelsel.comparison.fold_predictions import FoldPredictions, _boards, bbc_of_folds
from modelsel.core.spec import make
from modelsel.core.types import Floats, Outputs, Scoreboard

BEST = make("rule", "best")


def board_of(losses: Floats, folds: int = 10, complexity: Floats | None = None, higher: bool = False) -> Scoreboard:
    """Rows × candidates; row i is assessed in fold i mod `folds`."""
    n = losses.shape[1]
    scores = np.stack([np.nanmean(losses[i::folds], axis=0) for i in range(folds)], axis=1)
    return Scoreboard(
        ids=tuple(f"c{i}" for i in range(n)),
        folds=scores,
        mean=scores.mean(axis=1),
        se=np.nanstd(losses, axis=0) / np.sqrt(len(losses)),
        complexity=np.arange(n, dtype=float) if complexity is None else complexity,
        unit=("leaves",) * n,
        eligible=np.isfinite(scores).all(axis=1),
        higher_is_better=higher,
    )


def by_hand(losses, board, rule, counts, groups, weights):  # type: ignore[no-untyped-def]
    """One resample after the other, rows repeated as often as drawn."""
    scores = []
    for draw in counts:
        rows = np.repeat(np.arange(len(losses)), draw[groups].astype(int))
        left = np.flatnonzero(draw[groups] == 0)
        mean = np.average(losses[rows], axis=0, weights=weights[rows])
        total = weights[rows].sum()
        share = weights[rows][:, None] * (losses[rows] - mean) / total
        # every draw of a group is a cluster of its own, so that repeats of one group do not add up to one larger cluster
        copies = np.concatenate([np.arange(int(n)) for n in draw[groups]])
        key = groups[rows] * 1000 + copies
        se = np.sqrt(sum(share[key == k].sum(axis=0) ** 2 for k in np.unique(key)))
        choice = rule.choose(type(board)(**{**vars(board), "mean": mean, "se": se}))
        scores.append(np.average(losses[left, choice], weights=weights[left]))
    return scores


@pytest.mark.parametrize("rule", ["best", "one_standard_error"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("binary", [False, True])
def test_all_resamples_at_once_are_each_alone(rule: str, grouped: bool, weighted: bool, binary: bool) -> None:
    """The interval is that of percentiles, and of errors that of a share."""
    rng = np.random.default_rng(7)
    losses = rng.random((40, 6)) if not binary else (rng.random((40, 6)) < 0.4).astype(float)
    board, part = board_of(losses), make("rule", rule)
    groups = np.arange(40) // 3 if grouped else np.arange(40)
    weights = rng.random(40) + 0.2 if weighted else np.ones(40)
    found = bbc(
        losses, board, part, winner=0, resamples=60, rng=np.random.default_rng(1),
        groups=groups if grouped else None, weights=weights if weighted else None, zero_one=binary,
    )  # fmt: skip
    counts = np.concatenate(list(draws(int(groups[-1]) + 1, 60, np.random.default_rng(1))))
    scores = by_hand(losses, board, part, counts, groups, weights)
    assert found is not None
    assert found.mean == pytest.approx(np.mean(scores), abs=1e-12)
    ends = np.quantile(scores, [0.025, 0.975])
    if binary:
        left = (counts == 0).sum(axis=1)
        ends = share_interval(np.array(scores), left, counts.shape[1], 0.95, effective_rows(40, weights))
    assert (found.low, found.high) == pytest.approx(tuple(ends), abs=1e-12)


def test_the_interval_of_one_candidate_s_errors_is_wilson_s() -> None:
    """From its rows out of bag the jackknife finds p (1 − p) / n again."""
    losses = np.r_[np.ones(60), np.zeros(240)][:, None]
    found = bbc(losses, board_of(losses), BEST, winner=0, resamples=4000, rng=np.random.default_rng(0), zero_one=True)
    error = np.sqrt(0.2 * 0.8 / 300) * (1 + WIDER / np.sqrt(300))
    textbook = wilson_by_hand(found.mean, 0.16 / error**2)  # type: ignore[union-attr]
    assert (found.low, found.high) == pytest.approx(textbook, abs=0.002)  # type: ignore[union-attr]


def wilson_by_hand(share: float, rows: float) -> tuple[float, float]:
    """The two p at which (p̂ − p)² = z² p (1 − p) / n."""
    z2 = 1.959964**2 / rows
    low, high = sorted(np.roots([1 + z2, -(2 * share + z2), share**2]).real.tolist())
    return low, high


def test_no_error_among_few_rows_is_no_proof_that_there_is_none() -> None:
    losses = np.zeros((30, 3))
    found = bbc(losses, board_of(losses), BEST, winner=0, rng=np.random.default_rng(0), zero_one=True)
    assert (found.mean, found.low, found.high) == (0.0, 0.0, pytest.approx(wilson_by_hand(0.0, 30)[1]))  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize(("signal", "size"), [(0.0, 1), (1.5, 1), (1.5, 5)])
def test_the_interval_of_errors_holds_the_truth_and_is_narrower_than_percentiles(signal: float, size: int) -> None:
    """A small version of benchmarks/simulations/corrected_interval.py: 120 runs; 107 of them or fewer have a chance of .01."""
    rng = np.random.default_rng([round(10 * signal), size])
    found = np.array([study("error", 300, 30, signal, size, rng, resamples=200) for _ in range(120)])
    true, _, low, high, *percentiles = found.T
    assert ((low <= true) & (true <= high)).sum() > 107
    assert (high - low).mean() < (percentiles[1] - percentiles[0]).mean()


@pytest.mark.slow
def test_the_best_of_worthless_candidates_is_worth_nothing() -> None:
    """200 candidates that guess, on 100 rows: the winner looks .13 better than it is, BBC-CV does not."""
    rng = np.random.default_rng(0)
    looks, corrected = [], []
    for _ in range(100):
        losses = (rng.random((100, 200)) < 0.5).astype(np.float32)
        board = board_of(losses)
        winner = BEST.choose(board)
        looks.append(board.mean[winner])
        corrected.append(bbc(losses, board, BEST, winner=winner, resamples=200, rng=rng).mean)  # type: ignore[union-attr]
    expected = 0.5 - 0.05 * 2.746  # mean of the largest of 200 standard normals
    assert np.mean(looks) == pytest.approx(expected, abs=0.01)
    assert np.mean(corrected) == pytest.approx(0.5, abs=0.01)


def test_unassessed_rows_and_gaps_take_no_part() -> None:
    rng = np.random.default_rng(3)
    losses = (rng.random((60, 4)) < 0.3).astype(float)
    board = board_of(losses)
    more = np.vstack([losses, np.full((20, 4), np.nan)])
    first = bbc(losses, board, BEST, winner=0, resamples=50, rng=np.random.default_rng(0))
    second = bbc(more, board, BEST, winner=0, resamples=50, rng=np.random.default_rng(0))
    assert first is not None
    assert second is not None
    assert first.to_dict() == second.to_dict()
    gap = losses.copy()
    gap[5, 0] = np.nan
    holed = bbc(gap, board, BEST, winner=0, resamples=50, rng=np.random.default_rng(0))
    assert holed is not None
    assert holed.same == 0.0


@pytest.mark.parametrize(("near", "cells"), [(1, 1 << 22), (100, 700), (1 << 17, 1 << 22)])
def test_draws_are_the_same_however_few_are_made_at_a_time(near: int, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelsel.statistics.sampling.NEAR", near)
    monkeypatch.setattr("modelsel.comparison.bbc.CELLS", cells)
    drawn = np.random.default_rng(2).integers(37, size=(90, 37))
    expected = [np.bincount(one, minlength=37) for one in drawn]
    assert np.array_equal(np.concatenate(list(draws(37, 90, np.random.default_rng(2)))), expected)


def test_units_dealt_into_blocks_by_lot_are_corrected_as_they_are_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums and weights are kept; score and interval agree but for the chance of 1,000 draws."""
    rng = np.random.default_rng(5)
    losses = (rng.random((20_000, 6)) < np.array([0.3, 0.31, 0.305, 0.4, 0.32, 0.3])).astype(float)
    of = units(losses, np.ones(6, bool), None, rng.random(20_000))
    alone = bbc(losses, board_of(losses), BEST, winner=0, rng=np.random.default_rng(1))
    monkeypatch.setattr("modelsel.comparison.bbc.MOST", 10_000)
    monkeypatch.setattr("modelsel.comparison.bbc.DEALT", 2_000)
    blocks = deal_blocks(of, np.random.default_rng(2))
    assert len(blocks.weight) == 2_000
    np.testing.assert_allclose(blocks.total.sum(axis=0), of.total.sum(axis=0))
    np.testing.assert_allclose(blocks.weight.sum(), of.weight.sum())
    together = bbc(losses, board_of(losses), BEST, winner=0, rng=np.random.default_rng(1))
    assert alone is not None
    assert together is not None
    width = alone.high - alone.low
    assert abs(together.mean - alone.mean) < 0.05 * width
    assert abs(together.high - together.low - width) < 0.15 * width


def test_a_single_unit_cannot_be_corrected() -> None:
    losses = np.zeros((10, 2))
    assert bbc(losses, board_of(losses), BEST, winner=0, groups=np.zeros(10, int), rng=np.random.default_rng(0)) is None


def answered(seed: int, rows: int, candidates: int, folds: int = 5) -> list[FoldPredictions]:
    rng = np.random.default_rng(seed)
    truth = np.arange(rows).astype(np.int32) % 2
    p = rng.random((candidates, rows))
    scores = np.stack([1 - p, p], axis=2)
    return [
        FoldPredictions(at, truth[at], Outputs((p[:, at] > 0.5).astype(np.int32), scores[:, at]), 0)
        for at in (np.arange(i, rows, folds) for i in range(folds))
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["balanced_error", "auc", "kappa", "recall", "specificity", "average_precision", "lift", "expected_calibration_error"],
)
def test_fold_by_fold_is_scoring_the_drawn_rows(name: str) -> None:
    measure, folds = make("measure", name), answered(2, 60, 5)
    board = board_of(np.zeros((60, 5)), folds=5, higher=measure.higher_is_better)
    found = bbc_of_folds(
        folds, np.arange(5), board, BEST, measure, 2, winner=0, rng=np.random.default_rng(4)
    )  # fmt: skip
    scores = []
    for draw in np.concatenate(list(draws(60, 500, np.random.default_rng(4)))):
        inside = [measure.score(f.truth, f.outputs, draw[f.rows], 2) for f in folds]
        outside = [measure.score(f.truth, f.outputs, (draw[f.rows] == 0).astype(float), 2) for f in folds]
        mean = np.nanmean(inside, axis=0)
        choice = int(np.argmax(mean.round(12)) if measure.higher_is_better else np.argmin(mean.round(12)))
        scores.append(np.nanmean([each[choice] for each in outside]))
    assert found is not None
    assert found.mean == pytest.approx(np.mean(scores), abs=1e-9)


@pytest.mark.slow
def test_worthless_rankings_are_worth_a_half() -> None:
    rng = np.random.default_rng(5)
    measure, corrected = make("measure", "auc"), []
    for seed in range(12):
        board = board_of(np.zeros((100, 50)), folds=5, higher=True)
        found = bbc_of_folds(answered(seed, 100, 50), np.arange(50), board, BEST, measure, 2, winner=0, rng=rng)
        corrected.append(found.mean)  # type: ignore[union-attr]
    assert np.mean(corrected) == pytest.approx(0.5, abs=0.03)


def test_candidates_that_say_the_same_are_scored_once_and_are_worth_the_same() -> None:
    folds, measure, asked = answered(3, 90, 4), make("measure", "auc"), []
    twice = [
        replace(fold, outputs=Outputs(*(np.repeat(part, 2, axis=0) for part in vars(fold.outputs).values()))) for fold in folds
    ]

    class Counted:
        """The measure, with a note of how many candidates it was asked about."""

        zero_one = False

        def reweighted(self, truth, outputs, classes):  # type: ignore[no-untyped-def]
            asked.append(len(outputs.predicted))
            return measure.reweighted(truth, outputs, classes)

    def corrected(some, candidates):  # type: ignore[no-untyped-def]
        board = board_of(np.random.default_rng(0).random((90, 1)).repeat(candidates, axis=1), 5, higher=True)
        rng = np.random.default_rng(1)
        return bbc_of_folds(some, np.arange(candidates), board, BEST, Counted(), 2, winner=0, rng=rng)

    alone, doubled = corrected(folds, 4), corrected(twice, 8)
    assert max(asked) == 4
    assert (doubled.mean, doubled.low, doubled.high) == (alone.mean, alone.low, alone.high)


@pytest.mark.parametrize("size", [2, 7, 1000])
def test_draws_do_not_depend_on_how_many_are_made_at_once(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = list(draws(size, 50, np.random.default_rng(3)))
    monkeypatch.setattr("modelsel.statistics.sampling.NEAR", 1)
    assert np.array_equal(np.concatenate(at_once), np.concatenate(list(draws(size, 50, np.random.default_rng(3)))))


class Worst(type(BEST)):  # type: ignore[misc]
    """A rule of somebody's own, which says how one is chosen and nothing else."""

    def choose(self, board: Scoreboard) -> int:
        return int(np.nanargmax(board.mean))


def test_a_rule_that_only_says_how_one_is_chosen_is_asked_for_each_draw() -> None:
    losses = np.random.default_rng(0).random((40, 3))
    board, groups = board_of(losses), np.arange(40)
    found = bbc(losses, board, Worst(), winner=0, resamples=20, rng=np.random.default_rng(1))
    counts = np.concatenate(list(draws(40, 20, np.random.default_rng(1))))
    assert found is not None
    assert found.mean == pytest.approx(np.mean(by_hand(losses, board, Worst(), counts, groups, np.ones(40))), abs=1e-12)


def test_the_error_of_a_drawn_board_is_that_of_the_folds_of_a_repeat() -> None:
    """Standard deviation over folds / √k, averaged over repeats: two of 4 folds, and one of 3."""
    each = np.random.default_rng(2).random((5, 11, 3))
    repeat = np.array([0] * 4 + [1] * 4 + [2] * 3)
    board = board_of(np.random.default_rng(0).random((40, 3)))
    found = _boards(board, np.arange(3), np.ones(3, bool), each, repeat)
    for draw, one in zip(each, found, strict=True):
        parts = [draw[repeat == number] for number in range(3)]
        expected = np.mean([part.std(axis=0, ddof=1) / np.sqrt(len(part)) for part in parts], axis=0)
        np.testing.assert_allclose(one.se, expected)
        np.testing.assert_allclose(one.mean, draw.mean(axis=0))
