"""Rows that are known by another target: what is said of them, the declared way on, and what it does not open."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.outcome import TestResult
from modelsel.core.types import Feature, Finding, Task
from modelsel.guard.policy.base import Justify
from tests.guard.studies import Rule, Study, numbers

SAID = {"justify": Justify("other_target", "the yield of these plots is new, their quality was tested")}


def found(study: Study) -> tuple[TestResult, dict[str, Finding]]:
    result, gate = study.run()
    return result, {one.code: one for one in gate.findings}


@pytest.fixture
def quality(home: Path) -> Study:
    """A study has looked at these rows by their quality."""
    study = Study(numbers(), home, target="quality")
    study.look()
    return study


def by_yield(study: Study, **changes: object) -> Study:
    """The same rows, split anew, by other labels."""
    labels = np.random.default_rng(5).integers(0, 2, len(study.task)).astype(np.int32)
    changed = {"task": replace(study.task, target=labels), "target": "yield", "spec": "yield", "rule": Rule(1), **changes}
    return study.but(split_seed=1, **changed)


def test_unsaid_it_is_said_of_them_and_strict_refuses(quality: Study) -> None:
    result, codes = found(by_yield(quality, policy="strict"))
    assert result.refused is not None
    assert "same rows, another target" in codes["G033"].message
    assert codes["G033"].severity == "medium"
    assert not {"G020", "G021", "G022"} & codes.keys()


def test_rows_that_only_chose_by_the_other_target_are_refused_too(home: Path) -> None:
    study = Study(numbers(), home, target="quality")
    study.choose_only()
    assert found(by_yield(study, policy="strict"))[0].refused is not None


@pytest.mark.parametrize("policy", ["warn", "strict"])
def test_said_it_is_on_record_and_inherits_looks_and_nats_and_is_not_charged_again(quality: Study, policy: str) -> None:
    spent = quality.look()
    study = by_yield(quality, policy=policy, settings=SAID)
    result, codes = found(study)
    assert (result.refused, result.look, result.spent) == (None, 2, pytest.approx(first_price(quality)))
    assert result.n == spent.n  # no row is left out
    assert result.interval is not None
    assert codes["G033"].severity == "medium"
    again = study.look()
    assert (again.replay, again.price, again.look, again.interval) == (True, 0.0, 2, result.interval)


def first_price(study: Study) -> float:
    """What the first look cost: the same in a home of its own."""
    return study.but(home=study.home.with_name("elsewhere")).look().price


def test_other_labels_under_the_same_name_are_the_same_target(quality: Study) -> None:
    """Without words nobody may look again, and with them the rows that chose are left out all the same."""
    same = by_yield(quality, target="quality", policy="strict")
    assert same.look().refused is not None
    result, codes = found(same.but(settings=SAID))
    assert result.n < round(0.3 * len(quality.task))
    assert "G021" in codes


def test_equal_predictions_for_another_target_are_no_replay(home: Path) -> None:
    study = Study(numbers(), home, target="quality")
    first = study.look()
    labels = (1 - study.task.target).astype(np.int32)
    other = study.but(task=replace(study.task, target=labels), target="yield", spec="yield", settings=SAID)
    result = other.look()
    assert not result.replay
    assert result.errors == result.n - (first.errors or 0)


def test_the_board_of_another_target_is_not_shown(quality: Study) -> None:
    """After three looks answers come by the ladder: its first answer is this target's own."""
    for spec in ("two", "three"):
        quality.but(spec=spec, rule=Rule(len(spec) % 2, 0.3)).look()
    result = by_yield(quality, settings=SAID).look()
    assert result.score == pytest.approx(0.5, abs=0.2)


def design(target: str, home: Path) -> Study:
    """All 3⁵ combinations, and nothing that was measured but the target."""
    values = np.array([*product(range(3), repeat=5)], np.float64)
    features = tuple(Feature(f"factor {i}", "numeric") for i in range(5))
    labels = np.random.default_rng(len(target)).integers(0, 2, len(values)).astype(np.int32)
    task = Task(name="t", features=features, values=values, rows=np.arange(243), classes=("no", "yes"), target=labels)
    return Study(task, home, target=target, policy="strict", spec=target)


def test_a_complete_design_is_no_evidence_by_another_target_and_the_same_rows_by_this_one(home: Path) -> None:
    design("hardness", home).look()
    result, codes = found(design("gloss", home).but(split_seed=1))
    assert (result.refused, result.look) == (None, 1)
    assert "G024" in codes
    assert design("hardness", home).but(split_seed=1, spec="again").look().refused is not None
