"""A criterion that somebody writes: ten lines of NumPy work at once, and a compiled form joins the fast path."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.core.types import Floats, positions
from modelsel.criterion.base import BaseCriterion, decrease, shares
from modelsel.kernels import types
from modelsel.kernels.compiler import function_of, load
from modelsel.tree.growing.columns import WeightedRows, columns
from modelsel.tree.growing.grow import _grow_compiled, grow
from modelsel.tree.growing.growth import MISSING, NOMINAL, GrowthParams
from tests.tree.test_grow import assert_same, drawn_task, valid


@dataclass(frozen=True)
class OwnGini(BaseCriterion):
    """Decrease of Σ p (1 − p); `convex` as the built-in: else all sets of levels are tried, and another may tie."""

    convex = True

    def goodness(self, tables: Floats) -> Floats:
        weight = tables.sum(axis=-1)
        total = weight.sum(axis=-1)
        squares = np.divide(np.square(tables).sum(axis=-1), weight, out=np.zeros_like(weight), where=weight > 0)
        return (squares.sum(axis=-1) - np.square(tables.sum(axis=-2)).sum(axis=-1) / total) / total


@dataclass(frozen=True)
class TenLines(BaseCriterion):
    """As on the page about criteria: nothing said but the goodness."""

    def goodness(self, tables: Floats) -> Floats:
        return decrease(lambda weights: 1 - np.square(shares(weights)).sum(axis=-1), tables)


def own_loop(table: Floats) -> float:
    """The same of one branches × classes table."""
    branches, classes = table.shape
    inner, total = 0.0, 0.0
    for b in range(branches):
        n, squares = 0.0, 0.0
        for c in range(classes):
            n += table[b, c]
            squares += table[b, c] ** 2
        if n > 0:
            inner += squares / n
        total += n
    outer = 0.0
    for c in range(classes):
        n = 0.0
        for b in range(branches):
            n += table[b, c]
        outer += n * n
    return float(inner - outer / total) / total


@dataclass(frozen=True)
class FastGini(OwnGini):
    loop = staticmethod(own_loop)


def records(criterion: BaseCriterion, task: Any, growth: GrowthParams) -> Any:
    """Of the compiled growers, None where the criterion has no form for them."""
    return _grow_compiled(WeightedRows.of(task, positions(task)), columns(task), criterion, growth) if criterion.loop else None


@pytest.mark.skipif(load("grow") is None, reason="only the NumPy grower is there")
def test_only_the_one_with_a_loop_is_grown_by_the_kernel() -> None:
    task = drawn_task(np.random.default_rng(3))
    assert records(OwnGini(), task, GrowthParams()) is None
    assert records(FastGini(), task, GrowthParams()) is not None


@pytest.mark.sampled(2)
@pytest.mark.parametrize("criterion", [OwnGini(), FastGini()], ids=["numpy", "compiled"])
@pytest.mark.parametrize("missing", MISSING)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_its_trees_are_those_of_the_built_in_on_mixed_data_with_missing_values(
    criterion: BaseCriterion, missing: str, seed: int
) -> None:
    task = drawn_task(np.random.default_rng(seed))
    for nominal in NOMINAL:
        growth = GrowthParams(missing, nominal)
        if valid("gini", growth):
            built_in = grow(task, positions(task), make("criterion", "gini"), growth)
            assert_same(grow(task, positions(task), criterion, growth), built_in)


@pytest.mark.slow
@pytest.mark.parametrize("missing", MISSING)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
@example(seed=613275)  # the best prefix is a level that weighs less than a leaf may
def test_goodness_alone_gives_the_same_trees_but_where_sets_of_levels_of_two_classes_tie(missing: str, seed: int) -> None:
    """There, up to ten levels, the first test is as good where branches may be as small as they like.

    A least weight of leaves can forbid the best prefix of the ordered levels: then all sets hold at least as good a one.
    """
    task = drawn_task(np.random.default_rng(seed))
    for nominal in NOMINAL:
        growth = GrowthParams(missing, nominal)
        if valid("gini", growth):
            own, built_in = both(task, growth)
            if nominal == "subset" and len(task.classes) == 2:
                assert np.nan_to_num(own.goodness[0]) >= np.nan_to_num(built_in.goodness[0]) - 1e-9
                free, ordered = both(task, replace(growth, min_leaf=0.0))
                assert free.goodness[0] == pytest.approx(ordered.goodness[0], abs=1e-9, nan_ok=True)
            else:
                assert_same(own, built_in)


def both(task: Any, growth: GrowthParams) -> tuple[Any, Any]:
    """The trees of the ten lines, which try every set of levels, and of the built-in, which tries prefixes of them in order."""
    own, built_in = (grow(task, positions(task), each, growth) for each in (TenLines(), make("criterion", "gini")))
    return own, built_in


TYPED = """
def typed_loop(table):
    squares, weight = 0.0, 0.0
    for branch in range(table.shape[0]):
        own, n = 0.0, 0.0
        for c in range(table.shape[1]):
            own += table[branch, c] ** 2
            n += table[branch, c]
        squares += own / n if n > 0 else 0.0
        weight += n
    return squares / weight
"""


@pytest.mark.skipif(load("grow") is None, reason="only the NumPy grower is there")
def test_a_compiled_form_that_was_typed_into_a_console_has_no_file_and_is_compiled_all_the_same() -> None:
    names: dict[str, Any] = {}
    exec(compile(TYPED, "<stdin>", "exec"), names)
    compiled = function_of(names["typed_loop"], types.goodness.signature)
    assert compiled(np.array([[3.0, 1.0], [0.0, 4.0]])) == pytest.approx((10 / 4 + 4) / 8)
