"""What every rule in conf/rule/ promises."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.core.types import Fold, Resampling, Scoreboard

CONF = Path(__file__).parents[2] / "conf" / "rule"
SPECS = {path.stem: {"kind": path.stem, **yaml.safe_load(path.read_text())} for path in sorted(CONF.glob("*.yaml"))}


BEST = make("rule", "best")


def board(
    mean: list[float],
    complexity: list[float] | None = None,
    unit: list[str] | None = None,
    eligible: list[bool] | None = None,
    se: float = 0.02,
    higher: bool = False,
) -> Scoreboard:
    n = len(mean)
    return Scoreboard(
        ids=tuple(f"c{i}" for i in range(n)),
        folds=np.tile(np.array(mean)[:, None], (1, 3)),
        mean=np.array(mean),
        se=np.full(n, se),
        complexity=np.array(complexity or list(range(n)), float),
        unit=tuple(unit or ["leaves"] * n),
        eligible=np.array(eligible or [True] * n),
        higher_is_better=higher,
    )


def choose(name: str, of: Scoreboard, **changes: object) -> int:
    return int(make("rule", **{**SPECS[name], **changes}).choose(of))


@pytest.mark.parametrize("name", SPECS)
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_choice_is_eligible_and_flipping_the_sign_changes_nothing(name: str, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    mean = [data.draw(st.integers(1, 9)) / 10 for _ in range(n)]
    eligible = [data.draw(st.booleans()) for _ in range(n)]
    eligible[data.draw(st.integers(0, n - 1))] = True
    complexity = [float(data.draw(st.integers(1, 5))) for _ in range(n)]
    lower = board(mean, complexity, eligible=eligible)
    winner = choose(name, lower)
    assert eligible[winner]
    if name != "within_percent":  # relative to the score's own size, which the flip changes
        assert choose(name, board([1 - m for m in mean], complexity, eligible=eligible, higher=True)) == winner


@pytest.mark.parametrize("name", SPECS)
def test_ties_go_to_the_simpler_then_to_the_first_declared(name: str) -> None:
    assert choose(name, board([0.3, 0.1, 0.1, 0.1], [1, 5, 3, 3], se=0.0)) == 2
    assert choose(name, board([0.3, 0.1, 0.1 + 1e-14], [1, 3, 3], se=0.0)) == 1


@pytest.mark.parametrize("name", SPECS)
def test_nobody_eligible_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="no candidate is eligible"):
        choose(name, board([0.1, np.nan], eligible=[False, False]))


def test_one_standard_error_takes_the_simplest_within_reach() -> None:
    of = board([0.20, 0.119, 0.11, 0.10], [1, 2, 4, 9])
    assert choose("one_standard_error", of) == 1
    assert choose("one_standard_error", of, errors=0.5) == 2
    assert choose("one_standard_error", of, errors=0) == 3


def test_one_standard_error_moves_within_the_unit_of_the_best() -> None:
    of = board([0.11, 0.115, 0.10], [1, 2, 9], ["rows", "leaves", "leaves"])
    assert choose("one_standard_error", of) == 1


def test_one_standard_error_of_equally_simple_ones_takes_the_better() -> None:
    assert choose("one_standard_error", board([0.119, 0.11, 0.10], [2, 2, 9])) == 1


def test_one_standard_error_without_one_is_an_error() -> None:
    with pytest.raises(ValueError, match="standard error"):
        choose("one_standard_error", board([0.1, 0.2], se=np.nan))
    with pytest.raises(ValueError, match="bits"):
        choose("one_standard_error", board([0.1, 0.2]), across="bits")


def folds(each: int, repeats: int) -> Resampling:
    rows = np.arange(4)
    return Resampling("s", "t", tuple(Fold(i, i // each, rows[:2], rows[2:]) for i in range(each * repeats)))


@pytest.mark.parametrize("name", SPECS)
def test_a_rule_without_its_standard_error_is_refused_beforehand(name: str) -> None:
    rule = make("rule", **SPECS[name])
    assert list(rule.problems(folds(5, 2), False)) == list(rule.problems(folds(1, 1), True)) == []
    assert bool(list(rule.problems(folds(1, 3), False))) == (name == "one_standard_error")


def test_within_percent_is_relative_to_the_best() -> None:
    of = board([0.104, 0.106, 0.10], [2, 1, 9])
    assert choose("within_percent", of) == 0
    assert choose("within_percent", of, percent=6) == 1
    assert choose("within_percent", board([0.86, 0.84, 0.9], [2, 1, 9], higher=True)) == 0


def test_fewest_leaves_within_looks_at_trees_only() -> None:
    of = board([0.109, 0.105, 0.10], [3, 1, 50], ["leaves", "rows", "rows"])
    assert choose("fewest_leaves_within", of) == 0
    assert choose("fewest_leaves_within", of, margin=0.005) == 2


@pytest.mark.parametrize("higher", [False, True])
def test_the_best_of_many_rows_of_means_is_that_of_each_row(higher: bool) -> None:
    rng = np.random.default_rng(3)
    means = rng.integers(0, 4, (200, 6)) / 4 + np.where(rng.random((200, 6)) < 0.3, 1e-14, 0.0)  # ties, some but for rounding
    means[:, 4] = np.nan
    shown = Scoreboard(
        ids=tuple("abcdef"), folds=np.zeros((6, 2)), mean=means[0], se=np.zeros(6), higher_is_better=higher,
        complexity=np.array([3.0, 2.0, np.nan, 2.0, 1.0, 0.5]), unit=("leaves", "rows", "leaves", "leaves", "rows", "rows"),
        eligible=np.array([True, True, True, True, False, True]),
    )  # fmt: skip
    found = BEST.choose_each(shown, means)
    assert found.tolist() == [BEST.choose(replace(shown, mean=own)) for own in means]
    assert len(set(found.tolist())) > 2
    with pytest.raises(ValueError, match="no candidate is eligible"):
        BEST.choose_each(replace(shown, eligible=np.zeros(6, bool)), means)
