"""Findings of a look, each where it is due and not where it is not; and what mutation had left alive."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from modelsel.core.types import Feature, Task
from modelsel.guard.checks.leakage import _agreement, _near_copies, _nearest, _scale, _suspected_groups
from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.history import History
from modelsel.guard.matching import Relation
from modelsel.statistics.certificate import lower_limit, upper_limit
from tests.guard.studies import Rule, Study, numbers


def with_parts(study: Study, development: Task, test: Task) -> Study:
    other = study.but()
    object.__setattr__(other, "parts", lambda: (development, test))
    return other


def codes(study: Study) -> set[str]:
    return {finding.code for finding in study.run()[1].findings}


@pytest.mark.slow
def test_g011_the_same_study_trained_on_other_rows_is_told_and_another_rule_on_the_same_rows_is_not(home: Path) -> None:
    study = Study(numbers(), home, spec="s")
    study.look()
    development, test = study.parts()
    again = codes(study.but(rule=Rule(2)))
    assert "G010" in again
    assert "G011" not in again
    fewer = codes(with_parts(study.but(rule=Rule(1)), development.take(np.arange(200)), test))
    assert "G011" in fewer
    assert "G010" not in fewer
    other = codes(with_parts(study.but(rule=Rule(0, 0.3), spec="t"), development.take(np.arange(150)), test))
    assert "G011" not in other


def test_g023_is_no_matter_of_the_same_split(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    assert "G023" not in codes(study.but(rule=Rule(1)))


@pytest.mark.slow
def test_g031_near_copies_are_told_and_independent_rows_are_not(home: Path) -> None:
    study = Study(numbers(), home)
    development, test = study.parts()
    noise = np.random.default_rng(3).normal(size=test.values.shape) * 1e-3
    copied = replace(test, values=development.values[: len(test)] + noise)
    assert "G031" in codes(with_parts(study, development, copied))
    assert "G031" not in codes(study.but(home=home / "other"))


@pytest.mark.parametrize(("kept", "tested", "told"), [(40, 20, True), (39, 20, False), (40, 19, False)])
def test_comparing_nearest_distances_needs_twenty_rows_beside_forty(home: Path, kept: int, tested: int, told: bool) -> None:
    study = Study(numbers(), home)
    development = study.parts()[0].take(np.arange(kept))
    noise = np.random.default_rng(3).normal(size=(tested, 4)) * 1e-3
    test = replace(study.parts()[1].take(np.arange(tested)), values=development.values[:tested] + noise)
    sealing = with_parts(study, development, test).sealing()
    assert ("G031" in {finding.code for finding in _near_copies(sealing, study.gate().subject(sealing))}) == told


@pytest.mark.parametrize(
    ("kind", "distinct", "met", "told"),
    [("nominal", 40, 0.6, True), ("numeric", 40, 0.6, False), ("nominal", 40, 0.5, False), ("nominal", 20, 0.6, True),
     ("nominal", 19, 0.6, False), ("nominal", 100, 0.6, True), ("nominal", 101, 0.6, False)],
)  # fmt: skip
def test_g032_is_suspected_of_a_nominal_column_whose_levels_agree(
    home: Path, kind: str, distinct: int, met: float, told: bool
) -> None:
    levels = np.arange(200) % distinct
    asked = np.where(np.arange(20) < 20 * met, np.arange(20) % distinct, 150)
    parts = [replace(numbers(len(codes)), values=codes[:, None].astype(float), target=(codes % 2).astype(np.int32),
                     features=(Feature("who", kind, tuple(map(str, range(151))) if kind == "nominal" else ()),))
             for codes in (levels, asked)]  # fmt: skip
    assert ("G032" in {one.code for one in _suspected_groups(with_parts(Study(numbers(), home), *parts).sealing())}) == told


def test_the_nearest_row_is_that_of_brute_force() -> None:
    rng = np.random.default_rng(0)
    rows, pool = rng.normal(size=(7, 3)) * 0.3, rng.normal(size=(20, 3)) * 0.3
    rows[:, 2], pool[:, 2] = rng.integers(0, 2, 7), rng.integers(0, 2, 20)
    features = (Feature("a", "numeric"), Feature("b", "numeric"), Feature("c", "nominal", ("u", "v")))

    def distance(one: np.ndarray, other: np.ndarray) -> float:
        parts = [min(abs(float(one[i]) - float(other[i])), 1.0) for i in (0, 1)] + [float(one[2] != other[2])]
        return sum(parts) / 3

    assert _nearest(rows, pool, features) == pytest.approx([min(distance(row, one) for one in pool) for row in rows])
    own = [min(distance(pool[i], pool[j]) for j in range(20) if j != i) for i in range(5)]
    assert _nearest(pool[:5], pool, features, own=True) == pytest.approx(own)


def test_agreement_is_counted_in_standard_errors() -> None:
    """30 levels of 4 rows, each of one class, the classes alike: 90 pairs agree where 45 ± √22.5 would."""
    levels = np.repeat(np.arange(30), 4)
    task = replace(numbers(120), target=(levels % 2).astype(np.int32))
    assert _agreement(task, levels.astype(float)) == pytest.approx(45 / 22.5**0.5)


def test_g032_groups_on_both_sides_are_told_and_whole_groups_are_not(home: Path) -> None:
    study = Study(numbers(), home)
    development, test = study.parts()
    groups = (np.arange(len(development)) // 4, np.arange(len(test)) // 4)
    both = with_parts(study, replace(development, groups=groups[0]), replace(test, groups=groups[1]))
    assert "G032" in codes(both)
    whole = replace(test, groups=groups[1] + 1000)
    assert "G032" not in codes(with_parts(study.but(home=home / "other"), replace(development, groups=groups[0]), whole))


@pytest.mark.slow
def test_g050_a_budget_nearly_used_is_told_and_an_ample_one_is_not(home: Path) -> None:
    low, high = Study(numbers(1000), home / "first").look().interval or (0.0, 1.0)
    half = (high - low) / 2
    assert "G050" in codes(Study(numbers(1000), home / "tight", settings={"max_halfwidth": half * 1.1}))
    assert "G050" not in codes(Study(numbers(1000), home / "ample", settings={"max_halfwidth": half * 1.5}))


@dataclass
class Server:
    """An anchor that is away, or not."""

    away: bool
    name: str = "mlflow"

    def witness(self, facts: Mapping[str, str]) -> None:
        if self.away:
            raise OSError("the server is away")

    def recall(self, testset: str) -> Iterable[Mapping[str, str]]:
        return []


def test_g077_an_anchor_that_is_away_is_told_and_one_that_is_there_is_not(home: Path) -> None:
    assert "G077" in codes(Study(numbers(), home, anchors=(Server(True),)))
    assert "G077" not in codes(Study(numbers(), home / "other", anchors=(Server(False),)))


def standing(clean: int, exact: bool) -> LookContext:
    """A hundred rows of which so many never helped to choose."""
    seen = np.arange(100) >= clean
    chose = Relation("x", "selection", int(seen.sum()), float(seen.mean()), seen, exact=exact)
    return LookContext("d", 100, History(()), (chose,), None)


@pytest.mark.parametrize(
    ("clean", "exact", "certified"), [(50, True, True), (50, False, False), (29, True, False), (30, True, True)]
)
def test_certified_are_enough_rows_that_are_known_one_by_one(clean: int, exact: bool, certified: bool) -> None:
    assert standing(clean, exact).certified is certified


def log_tail(errors: int, n: int, p: float) -> float:
    """ln P(at most so many errors), summed in logarithms."""
    k = np.arange(errors + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return float(logsumexp(ways + k * np.log(p) + (n - k) * np.log1p(-p)))


@pytest.mark.parametrize(
    ("errors", "n", "nats"), [(200, 2000, 700.0), (200, 2000, 1000.0), (1000, 4000, 1500.0), (40, 4000, 800.0)]
)
def test_in_the_far_tail_limits_are_valid_and_nearly_exact(errors: int, n: int, nats: float) -> None:
    upper, lower = upper_limit(errors, n, nats), lower_limit(n - errors, n, nats)
    assert lower == pytest.approx(1 - upper, abs=1e-9)
    assert errors / n < upper < 1
    assert log_tail(errors, n, upper) <= -nats
    assert log_tail(errors, n, upper - 0.003) > -nats


def test_numbers_are_scaled_by_the_range_of_both_sides_and_what_is_none_is_far() -> None:
    """Of the sampled rows alone: no copy of either side is made."""
    first = np.array([[0.0, 3.0, np.inf], [2.0, np.nan, np.inf], [4.0, 3.0, np.nan]])
    second = np.array([[8.0, np.inf, np.nan], [-2.0, 3.0, np.inf]])
    features = tuple(Feature(name, "numeric") for name in "abc")
    parts = [replace(numbers(120), features=features, values=np.asfortranarray(side)) for side in (first, second)]
    kept, questions = _scale(SimpleNamespace(development=parts[0], sealed=parts[1]), np.array([2, 0]), np.array([0]))
    assert kept.tolist() == [[0.4, 3.0, 0.0], [0.0, 3.0, 0.0]]
    assert questions.tolist() == [[0.8, -1e6, 0.0]]
