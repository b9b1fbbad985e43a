"""What the modes of release show, what they charge, and which measures can be certified."""

from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.guard import entries
from modelsel.guard.gate import Gate
from modelsel.guard.release import FAILED, CountGrid, Counts, LabelSummary, LadderRelease, PassFail, ScoreGridRelease
from tests.guard.studies import Rule, Study, numbers, uncertified


def truth(errors: int, n: int) -> LabelSummary:
    return LabelSummary(n, errors, errors / n, (n // 2, n - n // 2), float(n))


@pytest.mark.parametrize(
    "channel",
    [Counts(60, None), Counts(60, (0.2, 150)), CountGrid(60, 20, None), CountGrid(60, 20, (0.2, 150)), PassFail(60, 0.25),
     LadderRelease(60, 20), LadderRelease(60, 20, 3, 2, 6)],
)  # fmt: skip
def test_the_probabilities_of_all_answers_and_of_failure_sum_to_one_at_most(channel: Counts) -> None:
    answers = {(r.symbol, r.score, r.errors): r.price for r in (channel.release(truth(e, 60)) for e in range(61))}
    total = sum(exp(-price) for price in answers.values()) + FAILED
    assert total <= 1 + 1e-9
    assert max(answers.values()) <= channel.worst


COUNTING = [Counts(60, (0.2, 150)), CountGrid(60, 20, None), PassFail(60, 0.25), LadderRelease(60, 20, 3, 2, 6)]


@pytest.mark.slow
@given(st.integers(0, 60), st.sampled_from(COUNTING))
def test_the_true_count_is_among_those_that_the_answer_leaves(errors: int, channel: Counts) -> None:
    released = channel.release(truth(errors, 60))
    assert released.low is not None
    assert released.high is not None
    assert released.low <= errors <= released.high


def test_pass_or_fail_shows_one_bit(home: Path) -> None:
    study = Study(numbers(), home, settings={"release": "passfail", "target": 0.5})
    result = study.look()
    assert (result.score, result.errors) == (None, None)
    assert result.price == pytest.approx(log(2), abs=1e-5)
    assert result.interval is not None
    assert result.interval[0] == 0.0


@pytest.mark.slow
def test_the_ladder_moves_only_for_a_better_model(home: Path) -> None:
    study = Study(numbers(1000), home, policy="ladder", settings={"resolution": 0.05})
    boards = [study.but(rule=Rule(column, cut)).look() for column, cut in ((3, 0.0), (2, 0.0), (0, 0.0), (0, 0.3), (2, 0.4))]
    scores = [result.score for result in boards if result.score is not None]
    assert scores == sorted(scores, reverse=True)
    assert scores[2] < scores[0]
    assert all(result.errors is None for result in boards)
    assert boards[1].price < 1.0
    assert boards[-1].score == boards[-2].score


@pytest.fixture
def noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a seed: once in thousands of times it is so large that an answer is another."""
    monkeypatch.setattr(entries.secrets, "randbits", lambda bits: bits)


@pytest.mark.usefixtures("noise")
def test_thresholdout_answers_with_cross_validation_until_its_budget_is_spent(home: Path) -> None:
    study = Study(numbers(1000), home, policy="thresholdout", settings={"budget": 1})
    agreeing, gate = study.run()
    wrong = study.rule(study.parts()[0]).predicted[0] != study.parts()[0].target
    assert agreeing.score == pytest.approx(float(wrong.mean()))
    assert agreeing.interval is None
    assert "G052" in agreeing.flags
    assert uncertified(gate) == ("thresholdout's answers have no certified interval", "use guard=warn or guard=ladder for one")


@pytest.mark.usefixtures("noise")
def test_thresholdout_gives_noise_where_cross_validation_is_wrong_and_then_ends(home: Path) -> None:
    from dataclasses import replace

    study = Study(numbers(1000), home, policy="thresholdout", settings={"budget": 1})
    sealing = study.sealing()

    def overfitted(rule: Rule) -> object:
        request = study.but(rule=rule).request(sealing)
        return study.gate().look(replace(request, selected=replace(request.selected, cv_mean=0.01, cv_error=0.01)))

    first, second = overfitted(Rule(2)), overfitted(Rule(3))
    assert first.score > 0.2  # type: ignore[attr-defined]
    assert "budget" in str(second.refused) or "used" in str(second.refused)  # type: ignore[attr-defined]


def dies(*_: object) -> None:
    raise SystemExit  # stands for a killed process: the intent is on record and nothing else


def interrupted(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Gate, "_release_answer", dies)
        with pytest.raises(SystemExit):
            study.look()


@pytest.mark.slow
@pytest.mark.usefixtures("noise")
def test_a_look_without_answer_is_one_of_the_budget_of_thresholdout(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(numbers(1000), home, policy="thresholdout", settings={"budget": 1})
    interrupted(study, monkeypatch)
    refused = study.but(rule=Rule(1), settings={"budget": 5}).look().refused
    assert refused == "all 1 answers that may differ from cross-validation are used"
    resolved = study.look()  # agrees with cross-validation, so that the budget is whole again
    assert resolved.look == 1
    assert study.but(rule=Rule(1)).look().refused is None


@pytest.mark.slow
def test_an_answer_of_the_ladder_that_nobody_saw_moves_no_board_and_is_charged(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study(numbers(1000), home, policy="ladder", settings={"resolution": 0.05})
    board = study.but(rule=Rule(3)).look()
    interrupted(study, monkeypatch)
    worse = study.but(rule=Rule(2)).look()
    assert (worse.look, worse.score) == (3, board.score)
    assert worse.spent == pytest.approx(board.price - log(FAILED))
    late = study.look()
    assert late.look == 2
    assert late.score is not None
    assert board.score is not None
    assert late.score < board.score
    assert study.but(rule=Rule(1)).look().score == late.score


@pytest.mark.parametrize("kind", ["auc", "balanced_error", "brier"])
def test_bounded_measures_are_certified(home: Path, kind: str) -> None:
    study = Study(numbers(1000), home, measure=make("measure", kind))
    result = study.look()
    _, test = study.parts()
    exact = float(study.measure.score(test.target, study.rule(test), None, 2)[0])
    assert result.score == pytest.approx(exact, abs=1 / 300)
    assert result.interval is not None
    assert result.interval[0] < exact < result.interval[1]
    assert result.errors is None


@pytest.mark.parametrize("kind", ["log_loss", "kappa", "f1", "mcc"])
def test_other_measures_have_no_interval_and_say_so(home: Path, kind: str) -> None:
    result, gate = Study(numbers(), home, measure=make("measure", kind)).run()
    assert result.score is not None
    assert result.interval is None
    assert "G052" in result.flags
    why, do = uncertified(gate)
    assert why.startswith(kind)
    assert do == "choose measure=error for a certified interval"


def test_with_row_weights_the_count_is_unweighted_and_the_score_is_not(home: Path) -> None:
    from dataclasses import replace

    task = numbers(1000)
    weighted = replace(task, weights=np.random.default_rng(0).uniform(0.5, 2, len(task)))
    study = Study(weighted, home)
    result = study.look()
    _, test = study.parts()
    wrong = study.rule(test).predicted[0] != test.target
    assert (result.errors, result.n) == (int(wrong.sum()), 300)
    assert result.score == pytest.approx(float(np.average(wrong, weights=test.weights)), abs=1 / 300)
    assert result.interval is not None


def _covered(kind: str, seed: int) -> bool:
    """One look with a real-valued channel at samples of known truth."""
    rng = np.random.default_rng(seed)
    n = 300
    positive = rng.random(n) < 0.3
    score = rng.normal(size=n) + positive  # AUC Φ(1/√2)
    if kind == "auc":
        order = np.argsort(np.argsort(score)) + 1
        ones = int(positive.sum())
        value, true = (order[positive].sum() - ones * (ones + 1) / 2) / (ones * (n - ones)), 0.760250
    else:
        wrong = np.where(positive, score <= 0.5, score > 0.5)
        value, true = (wrong[positive].mean() + wrong[~positive].mean()) / 2, 0.308538
    channel = ScoreGridRelease(kind, n, n, (0.0, 1.0), None, None)
    found = LabelSummary(n, 0, float(value), (n - int(positive.sum()), int(positive.sum())), float(n))
    limits = channel.release(found).interval(n, log(2 / 0.2))
    assert limits is not None
    return limits[0] <= true <= limits[1]


@pytest.mark.parametrize("kind", ["auc", "balanced_error"])
def test_intervals_of_other_measures_cover(kind: str) -> None:
    assert np.mean([_covered(kind, seed) for seed in range(200)]) >= 0.8


def test_auc_and_balanced_error_charge_the_class_sizes_that_their_width_shows() -> None:
    channel = ScoreGridRelease("auc", 300, 300, (0.0, 1.0), None, None)
    assert channel.release(truth(30, 300)).price == pytest.approx(2 * log(301), abs=1e-5)


def test_the_cells_of_a_value_sum_to_one() -> None:
    channel = ScoreGridRelease("brier", 100, 40, (0.0, 2.0), (0.3, 200), None)
    total = sum(exp(-channel.release(LabelSummary(100, 0, cell / 20, (50, 50), 100.0)).price) for cell in range(41))
    assert total == pytest.approx(1 - FAILED)


def test_a_limit_on_the_width_refuses(home: Path) -> None:
    result = Study(numbers(), home, settings={"max_halfwidth": 0.05}).look()
    assert "max_halfwidth" in str(result.refused)


@pytest.mark.slow
def test_looks_without_end_leave_no_information(home: Path) -> None:
    study = Study(numbers(60, columns=8), home, settings={"release": "full"})
    results = [study.but(rule=Rule(column)).look() for column in range(8)]
    assert "G051" not in results[0].flags
    assert "G051" in results[-1].flags
