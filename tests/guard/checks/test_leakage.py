"""Leakage that rows alone show: each formula against another way to compute it, each limit on both of its sides."""

from dataclasses import replace
from math import exp, inf, log, nan, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from modelsel.core.types import Feature, Task
from modelsel.guard.checks import leakage
from modelsel.guard.checks.leakage import SURE, _agreement, _excess, _groups, _near_copies, _scale, _suspected_groups
from tests.guard.studies import numbers


def sides(development: Task, test: Task) -> Any:
    return SimpleNamespace(development=development, sealed=test)


def known(duplicated: np.ndarray, identifiable: bool = True) -> Any:
    return SimpleNamespace(duplicated=duplicated, identifiable=identifiable, digest="rows")


def found(rows: int, kept: int, duplicated: int = 0, identifiable: bool = True) -> bool:
    """Are test rows that are all copies found?"""
    development = numbers(kept)
    test = replace(numbers(rows, seed=1), values=numbers(kept).values[:rows] + 1e-3)
    return bool(list(_near_copies(sides(development, test), known(np.arange(rows) < duplicated, identifiable))))


@pytest.mark.parametrize(
    ("rows", "kept", "duplicated", "told"),
    [(20, 40, 0, True), (19, 40, 0, False), (20, 39, 0, False), (25, 40, 5, True), (25, 40, 6, False)],
)
def test_copies_are_sought_among_twenty_other_rows_beside_forty(rows: int, kept: int, duplicated: int, told: bool) -> None:
    assert found(rows, kept, duplicated) == told


def test_copies_are_sought_where_rows_can_be_told_apart() -> None:
    assert not found(20, 40, identifiable=False)


def test_copies_are_suspected_where_chance_would_bring_so_many_near_less_than_once_in_a_million(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, kept = 100, 200
    limit = sqrt(-log(SURE) * (rows + kept) / (2 * rows * kept))  # exp(−2 D² ab/(a + b)) = SURE
    for excess, told in ((limit * 0.999, False), (limit * 1.001, True)):
        monkeypatch.setattr(leakage, "_excess", lambda across, within, excess=excess: excess)
        said = list(_near_copies(sides(numbers(kept), numbers(rows, seed=1)), known(np.zeros(rows, bool))))
        assert bool(said) == told
    monkeypatch.setattr(leakage, "SURE", exp(-2 * 0.25 * rows * kept / (rows + kept)))
    monkeypatch.setattr(leakage, "_excess", lambda across, within: 0.5)
    assert not list(_near_copies(sides(numbers(kept), numbers(rows, seed=1)), known(np.zeros(rows, bool))))


def test_at_most_five_hundred_rows_are_asked_and_a_thousand_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    monkeypatch.setattr(leakage, "_excess", lambda across, within: sizes.append((len(across), len(within))) or 0.0)
    scaled = leakage._scale
    monkeypatch.setattr(
        leakage, "_scale", lambda one, pool, asked: sizes.append((len(pool), len(asked))) or scaled(one, pool, asked)
    )
    list(_near_copies(sides(numbers(1500), numbers(700, seed=1)), known(np.zeros(700, bool))))
    assert sizes == [(1000, 500), (500, 500)]


def test_the_excess_is_that_of_a_one_sided_test_of_two_samples() -> None:
    rng = np.random.default_rng(0)
    for across, within in ((rng.integers(0, 9, 30), rng.integers(2, 12, 70)), (rng.random(7) + 1, rng.random(11))):
        expected = ks_2samp(across, within, alternative="greater").statistic
        assert _excess(across.astype(float), within.astype(float)) == pytest.approx(expected)


def test_numbers_are_scaled_by_the_range_of_both_sides_and_names_are_not() -> None:
    features = (Feature("a", "numeric"), Feature("b", "numeric"), Feature("c", "nominal", ("u", "v")), Feature("d", "numeric"))
    kept, asked = np.array([[2.0, 7, 1, nan], [4, 7, 0, nan]]), np.array([[12.0, 7, 1, nan], [inf, nan, 0, -inf]])
    one, other = replace(numbers(2), features=features, values=kept), replace(numbers(2), features=features, values=asked)
    ours, theirs = _scale(sides(one, other), np.arange(2), np.arange(2))
    assert ours.tolist() == [[0.2, 7, 1, 0], [0.4, 7, 0, 0]]  # of 10; a column of one value as it is; none at all: nought
    assert theirs.tolist() == [[1.2, 7, 1, 0], [-1e6, -1e6, 0, 0]]


@pytest.mark.parametrize(("ours", "theirs", "told"), [(0, 0, True), (0, 9, False), (None, 0, False), (0, None, False)])
def test_groups_are_compared_where_both_sides_have_some(ours: int | None, theirs: int | None, told: bool) -> None:
    one, other = (replace(numbers(4), groups=None if first is None else np.arange(4) // 2 + first) for first in (ours, theirs))
    assert bool(list(_groups(sides(one, other)))) == told


def named(levels: np.ndarray, target: np.ndarray, asked: np.ndarray, kind: str = "nominal") -> Any:
    feature = Feature("who", kind, tuple(map(str, range(1000))) if kind == "nominal" else ())
    one, other = (
        replace(numbers(len(codes)), values=codes[:, None].astype(float), features=(feature,), target=labels.astype(np.int32))
        for codes, labels in ((levels, target), (asked, np.zeros(len(asked))))
    )
    return sides(one, other)


@pytest.mark.parametrize(
    ("n", "distinct", "told"),
    [(2000, 20, True), (2100, 20, False), (1900, 19, False), (200, 100, True), (199, 100, False), (200, 101, False)],
)
def test_a_column_of_names_may_be_of_groups_where_it_has_some_but_not_too_many(n: int, distinct: int, told: bool) -> None:
    levels = np.arange(n) % distinct
    assert bool(list(_suspected_groups(named(levels, levels % 2, levels[:40])))) == told
    assert not list(_suspected_groups(named(levels, levels % 2, levels[:40], "numeric")))


@pytest.mark.parametrize(("met", "told"), [(20, False), (21, True)])
def test_more_than_half_of_the_test_rows_have_to_be_of_the_same_groups(met: int, told: bool) -> None:
    levels = np.arange(200) % 50
    asked = np.where(np.arange(40) < met, 1, 900)
    assert bool(list(_suspected_groups(named(levels, levels % 2, asked)))) == told
    assert not list(_suspected_groups(named(levels, np.arange(200) // 50 % 2, asked)))  # no label goes with them


@pytest.mark.parametrize(("apart", "errors"), [(12, 5.0), (10, 5.5)])
def test_labels_have_to_agree_by_more_than_five_standard_errors(apart: int, errors: float) -> None:
    """64 pairs, of which 32 ± 4 would agree; labels are shared out evenly."""
    alike = 64 - apart
    target = np.r_[np.repeat(np.arange(alike) % 2, 2), np.tile([0, 1], apart)]
    levels = np.repeat(np.arange(64), 2)
    task = named(levels, target, levels[:40])
    assert _agreement(task.development, levels.astype(float)) == errors
    assert bool(list(_suspected_groups(task))) == (errors > 5)
    assert _agreement(task.development, np.where(levels < 10, nan, levels)) == pytest.approx(
        _agreement(task.development.take(np.arange(20, 128)), levels[20:].astype(float))
    )


def test_the_agreement_of_uneven_labels_is_that_of_any_two_rows() -> None:
    levels, target = np.repeat(np.arange(50), 2), (np.arange(100) < 30).astype(np.int32)
    task = replace(numbers(100), target=target)
    by_chance = 0.3**2 + 0.7**2
    assert _agreement(task, levels.astype(float)) == pytest.approx(
        50 * (1 - by_chance) / sqrt(50 * by_chance * (1 - by_chance))
    )
    assert _agreement(replace(task, target=np.zeros(100, np.int32)), levels.astype(float)) == 0
