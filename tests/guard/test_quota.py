"""A quota: exact answers, then the ladder, then none; terms come with every set that shares rows, strictest first."""

from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.guard.checks.look_context import strictest
from modelsel.guard.facts import SealTerms
from modelsel.guard.release import LabelSummary, LookTerms, Released, ShownAnswer, count_channel
from modelsel.guard.reporting.audit import audit
from modelsel.reporting.verdict import further
from modelsel.statistics.certificate import SpendingState
from tests.guard.studies import Rule, Study, numbers

CUTS = [round(cut, 2) for cut in np.linspace(-1.5, 1.5, 40)]


def looks(study: Study, count: int) -> list[Any]:
    return [study.but(rule=Rule(turn % 4, CUTS[turn])).look() for turn in range(count)]


@pytest.mark.slow
def test_after_the_quota_answers_come_by_the_ladder_and_index_and_nats_go_on(home: Path) -> None:
    results = looks(Study(numbers(1000), home, settings={"quota": 2}), 5)
    assert [one.release for one in results] == ["predicted", "predicted", "ladder", "ladder", "ladder"]
    assert [one.look for one in results] == [1, 2, 3, 4, 5]
    assert [one.errors is None for one in results] == [False, False, True, True, True]
    for before, after in pairwise(results):
        assert after.spent == pytest.approx(before.spent + before.price)
    assert ["G053" in one.flags for one in results] == [False, False, True, True, True]


@pytest.mark.slow
def test_the_board_starts_at_the_best_exact_answer_and_shows_the_interval_of_the_model_that_set_it(home: Path) -> None:
    study = Study(numbers(1000), home, settings={"quota": 2})
    good, bad = study.but(rule=Rule(0)).look(), study.but(rule=Rule(3)).look()
    assert good.errors < bad.errors
    stays = study.but(rule=Rule(2)).look()
    assert stays.score == pytest.approx(good.score, abs=0.025)
    assert stays.interval == good.interval
    assert stays.price == pytest.approx(log(2), abs=1e-5)


@pytest.mark.slow
def test_where_the_next_interval_would_say_nothing_there_is_no_answer(home: Path) -> None:
    study = Study(numbers(60, columns=4), home, settings={"release": "full", "quota": 2})
    results = looks(study, 12)
    refused = [one.refused is not None for one in results]
    assert not any(refused[:2])
    assert refused[-1]
    assert "guard.quota=2 is used up" in results[-1].refused
    assert "G051" in results[-1].flags
    assert results[-1].score is None


@pytest.mark.slow
def test_the_audit_foretells_what_the_quota_leaves(home: Path) -> None:
    study = Study(numbers(1000), home, settings={"quota": 2})
    foretold = []
    for turn in range(5):
        result = study.but(rule=Rule(turn % 4, CUTS[turn])).look()
        foretold.append((audit(study.gate(), study.sealing())["next"], result))
    assert [upcoming["release"] for upcoming, _ in foretold] == ["predicted", "ladder", "ladder", "ladder", "ladder"]
    for (upcoming, _), (_, result) in pairwise(foretold[1:]):
        assert (upcoming["look"], upcoming["interval"]) == (result.look, None)
        assert upcoming["price"] == pytest.approx(result.price, abs=1e-5)  # no cut beats the board
        assert upcoming["steps"] == 20
        assert (result.score * 20) % 1 == pytest.approx(0)
        assert "show the board" in further(upcoming)


@pytest.mark.slow
def test_the_audit_foretells_that_nothing_would_be_shown(home: Path) -> None:
    study = Study(numbers(60, columns=4), home, settings={"release": "full", "quota": 2})
    refused = [one.refused for one in looks(study, 12)]
    upcoming = audit(study.gate(), study.sealing())["next"]
    assert refused[-1] is not None
    assert (upcoming["release"], upcoming["price"], upcoming["interval"]) == ("closed", 0.0, None)


@pytest.mark.slow
def test_a_quota_may_be_a_half_width_and_the_first_look_is_always_exact(home: Path) -> None:
    results = looks(Study(numbers(1000), home, settings={"quota": 0.08}), 6)
    release = [one.release for one in results]
    assert release[0] == "predicted"
    assert "ladder" in release
    assert release == sorted(release, reverse=True)
    (low, high) = next(one.interval for one in reversed(results) if one.release == "predicted")
    assert (high - low) / 2 < 0.1
    narrow = Study(numbers(1000), home / "narrow", settings={"quota": 0.001})
    assert [one.release for one in looks(narrow, 2)] == ["predicted", "ladder"]


@pytest.mark.parametrize("quota", [0.5, 1, 7])
def test_the_widest_half_width_and_whole_numbers_are_quotas(home: Path, quota: float) -> None:
    assert Study(numbers(), home, settings={"quota": quota}).look().refused is None


@pytest.mark.slow
def test_without_a_quota_answers_stay_exact(home: Path) -> None:
    results = looks(Study(numbers(1000), home, settings={"quota": None}), 8)
    assert {one.release for one in results} == {"predicted"}


@pytest.mark.parametrize("wrong", [0.7, 2.5])
def test_what_is_no_quota_is_refused(home: Path, wrong: float) -> None:
    with pytest.raises(ConfigurationError, match=r"guard\.quota"):
        Study(numbers(), home, settings={"quota": wrong}).look()


@pytest.mark.slow
def test_a_quota_is_sealed_and_a_later_larger_one_changes_nothing(home: Path) -> None:
    study = Study(numbers(1000), home, settings={"quota": 1})
    study.look()
    result, gate = study.but(rule=Rule(1), settings={"quota": 50}).run()
    assert result.release == "ladder"
    assert "quota changed" in next(one.message for one in gate.findings if one.code == "G073")
    _, gate = study.but(rule=Rule(2), settings={"quota": 1}).run()
    assert "G073" not in [one.code for one in gate.findings]


def one_row_fewer(study: Study) -> Study:
    development, test = study.parts()
    fewer = study.but()
    object.__setattr__(fewer, "parts", lambda: (development, test.take(np.arange(1, len(test)))))
    return fewer


def but(study: Study, **changes: Any) -> Study:
    other = study.but(**changes)
    object.__setattr__(other, "parts", study.parts)
    return other


@pytest.mark.slow
def test_a_set_of_one_row_fewer_gives_no_count_that_the_ladder_refused(home: Path) -> None:
    study = Study(numbers(1000), home, policy="ladder", settings={"resolution": 0.05})
    first = study.look()
    fewer = one_row_fewer(study)
    other = but(fewer, policy="warn", settings={}, rule=Rule(1)).look()
    assert (other.release, other.errors, other.look) == ("ladder", None, 2)
    assert other.score == first.score  # the board is inherited too
    assert other.interval == first.interval


def test_a_set_of_one_row_fewer_inherits_the_quota_that_is_used(home: Path) -> None:
    study = Study(numbers(1000), home, settings={"quota": 1})
    study.look()
    other = but(one_row_fewer(study), settings={"quota": None}, rule=Rule(1)).look()
    assert (other.release, other.errors) == ("ladder", None)


def test_a_set_of_one_row_fewer_inherits_terms_that_no_look_has_used_yet(home: Path) -> None:
    study = Study(numbers(1000), home, policy="ladder", settings={"resolution": 0.05})
    study.choose_only()
    other = but(one_row_fewer(study), policy="warn", settings={}).look()
    assert (other.release, other.errors) == ("ladder", None)


@pytest.mark.slow
def test_another_table_inherits_nothing(home: Path) -> None:
    Study(numbers(1000), home, policy="ladder", settings={"resolution": 0.05}).look()
    assert Study(numbers(1000, seed=1), home).look().errors is not None


def test_other_measures_end_with_the_quota(home: Path) -> None:
    study = Study(numbers(1000), home, measure=make("measure", "auc"), settings={"quota": 1})
    assert study.look().score is not None
    assert "plain error rates only" in str(study.but(rule=Rule(1)).look().refused)


def test_the_noise_of_thresholdout_is_inherited(home: Path) -> None:
    terms = SealTerms.read({"release": "thresholdout", "delta": 0.05, "budget": 3, "noise": 1})
    both = strictest(terms.but(noise=2), [terms, terms.but(noise=2, budget=9)])
    assert (both.noise, both.budget) == (1, 3)


N, DELTA = 10, 0.5
LABELS = ((np.arange(2**N)[:, None] >> np.arange(N)) & 1).astype(np.int8)


def missed(labels: np.ndarray, seed: int, quota: int, steps: int) -> bool:
    """A deterministic analyst, whose next prediction depends on all answers so far: does any interval miss ½?"""
    past: list[ShownAnswer] = []
    spent, state, miss = 0.0, seed, False
    for look in range(1, 6):
        said = np.random.default_rng(state).integers(0, 2, N).astype(np.int8)
        terms = LookTerms("full" if look <= quota else "ladder", steps=None if look <= quota else steps)
        errors = int((said != labels).sum())
        shown: Released = count_channel(terms, N, (0.5, 1), past, look).release(LabelSummary(N, errors, errors / N, (), N))
        limits = shown.interval(N, SpendingState(look, spent).nats(DELTA))
        assert limits is not None
        miss |= not limits[0] <= 0.5 <= limits[1]
        spent += shown.price
        past.append(ShownAnswer(look, N, shown.symbol, shown.score, limits))
        state = crc32(f"{state} {shown.symbol} {shown.score}".encode())
    return miss


@pytest.mark.slow
@pytest.mark.parametrize(("quota", "steps"), [(0, 5), (1, 5), (2, 10)])
def test_all_intervals_hold_together_for_every_vector_of_labels(quota: int, steps: int) -> None:
    rates = [np.mean([missed(labels, seed, quota, steps) for labels in LABELS]) for seed in range(5)]
    assert max(rates) <= DELTA
    assert max(rates) > 0  # the enumeration can find a miss
