"""Distances against tables worked out by hand, and every search against sorting all distances."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task, positions
from modelsel.distance import search as search_module
from modelsel.distance import search as single
from modelsel.distance.base import FittedDistance, row_digests
from modelsel.distance.search import distances, nearest, plain_search, round_distance

KINDS = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "conf/distance").glob("*.yaml"))


def task_of(features, values, target=None, weights=None) -> Task:
    values = np.asarray(values, float)
    target = np.zeros(len(values)) if target is None else np.asarray(target)
    return Task(name="t", features=tuple(features), values=values, rows=np.arange(len(values)), classes=("x", "y"),
                target=target.astype(np.int32), weights=weights)  # fmt: skip


def table(kind, task, normalise="range", **values):
    """All distances between the rows of a task."""
    metric = make("distance", kind, **values).fit(task, positions(task), normalise)
    codes = metric.encode(task.values, task.features)
    return distances(metric, codes, codes)


# age, colour, grade (ordered), with a missing colour and a missing age
MIXED = task_of(
    [Feature("age", "numeric"), Feature("colour", "nominal", ("red", "blue")), Feature("grade", "ordered", ("C", "B", "A"))],
    [[20, 0, 0], [30, 0, 2], [40, 1, 1], [30, np.nan, 0], [np.nan, 1, 0]],
    [0, 0, 1, 1, 1],
)


def test_heom_is_the_table_worked_out_by_hand():
    found = table("heom", MIXED)  # ages by 20, grades by 2, a missing value 1
    assert found[0, 1] == pytest.approx(math.sqrt(0.5**2 + 0 + 1))
    assert found[0, 2] == pytest.approx(math.sqrt(1 + 1 + 0.5**2))
    assert found[1, 3] == pytest.approx(math.sqrt(0 + 1 + 1))
    assert found[3, 4] == pytest.approx(math.sqrt(1 + 1 + 0))
    assert found[4, 4] == pytest.approx(1.0)  # not even a row with itself
    assert np.array_equal(found, found.T)


def test_gower_is_the_table_worked_out_by_hand():
    found = table("gower", MIXED)
    assert found[0, 1] == pytest.approx((0.5 + 0 + 1) / 3)
    assert found[1, 3] == pytest.approx((0 + 1) / 2)  # the colour is not known in both
    assert found[3, 4] == pytest.approx(0 / 1)
    assert found[2, 4] == pytest.approx((0 + 0.5) / 2)


def test_hvdm_is_the_table_worked_out_by_hand():
    found = table("hvdm", MIXED)
    ages = np.array([20, 30, 40, 30])
    age, grade = 4 * ages.std(), 4 * np.array([0, 2, 1, 0, 0]).std()
    colours = math.sqrt((1 - 0) ** 2 + (0 - 1) ** 2)  # red is always x, blue always y
    assert found[0, 1] == pytest.approx(math.sqrt((10 / age) ** 2 + (2 / grade) ** 2))
    assert found[0, 2] == pytest.approx(math.sqrt((20 / age) ** 2 + colours**2 + (1 / grade) ** 2))
    assert found[3, 4] == pytest.approx(math.sqrt(1 + 1 + 0))


def test_a_level_without_rows_says_nothing_about_the_class_to_hvdm():
    task = task_of([Feature("f", "nominal", ("a", "b", "c"))], [[0], [0], [1], [1]], [0, 1, 1, 1])
    metric = make("distance", "hvdm").fit(task, positions(task), "range")
    codes = metric.encode(np.array([[0.0], [1.0], [2.0], [3.0]]), task.features)  # c has no row, 3 was never declared
    found = distances(metric, codes, codes)
    assert found[0] == pytest.approx([0, math.sqrt(0.5), math.sqrt(0.5), math.sqrt(0.5)])
    assert found[1, 2] == pytest.approx(1.0)
    assert found[2, 3] == 0.0


def test_the_minkowski_family_is_what_its_formulas_say():
    task = task_of([Feature("f", "numeric"), Feature("g", "numeric")], [[0, 0], [3, 4]])
    assert table("euclidean", task, "none")[0, 1] == pytest.approx(5)
    assert table("manhattan", task, "none")[0, 1] == pytest.approx(7)
    assert table("chebyshev", task, "none")[0, 1] == pytest.approx(4)
    assert table("minkowski", task, "none", p=3.0)[0, 1] == pytest.approx((27 + 64) ** (1 / 3))
    assert table("overlap", task)[0, 1] == 2


def test_a_missing_number_counts_as_the_largest_difference():
    task = task_of([Feature("f", "numeric")], [[0], [10], [np.nan]])
    assert table("manhattan", task, "none")[0, 2] == 10
    assert table("manhattan", task, "range")[0, 2] == 1
    assert table("manhattan", task, "deviation")[0, 2] == pytest.approx(10 / 5)


def test_rows_outside_the_range_are_not_clipped_and_a_constant_column_says_nothing():
    task = task_of([Feature("f", "numeric"), Feature("c", "numeric")], [[0, 7], [2, 7]])
    metric = make("distance", "heom").fit(task, positions(task), "none")
    near, far = metric.encode(np.array([[0.0, 7.0]]), task.features), metric.encode(np.array([[6.0, 99.0]]), task.features)
    assert distances(metric, near, far)[0, 0] == 3


@st.composite
def searches(draw):
    """A metric, stored rows and queries, full of ties."""
    n, seed = draw(st.integers(1, 70)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    chosen = draw(st.lists(st.sampled_from(["numeric", "nominal", "ordered"]), min_size=1, max_size=5))
    features = [Feature(f"f{i}", k, () if k == "numeric" else ("a", "b", "c")) for i, k in enumerate(chosen)]
    values = rng.integers(0, draw(st.sampled_from([2, 4])), (n + 9, len(chosen))).astype(float)
    if draw(st.booleans()):
        values += np.where([k == "numeric" for k in chosen], rng.normal(size=values.shape), 0.0)
    values[rng.random(values.shape) < draw(st.sampled_from([0.0, 0.25]))] = np.nan
    task = task_of(features, values, rng.integers(0, 2, n + 9), rng.integers(1, 3, n + 9).astype(float))
    metric = make("distance", draw(st.sampled_from(KINDS))).fit(
        task, np.arange(n), draw(st.sampled_from(["none", "range", "deviation"]))
    )
    codes = metric.encode(task.values, task.features)
    return metric, np.ascontiguousarray(codes[:, :n]), np.ascontiguousarray(codes[:, n:]), draw(st.integers(1, n))


@settings(max_examples=60, deadline=None)
@given(searches())
def test_every_search_finds_the_rows_that_sorting_finds(search):
    metric, stored, queries, count = search
    expected = plain_search(metric, stored, queries, count)
    for engine in search_module.engines(metric, stored):
        found = nearest(metric, stored, queries, count, engine)
        assert np.array_equal(found.rows, expected.rows), engine
        assert found.distance == pytest.approx(expected.distance, rel=1e-14, abs=0), engine


HARD = {
    "far from 0": lambda x: x + 1e9, "tiny beside one column": lambda x: x * np.array([1e6, 1e-6, 1.0, 1.0, 1.0])[:, None],
    "very large": lambda x: x * 1e200, "very small": lambda x: x * 1e-200, "nearly equal": lambda x: 1.0 + x * 1e-9,
    "tied": np.round, "all equal": lambda x: x * 0.0,
}  # fmt: skip


@pytest.mark.parametrize("power", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("name", HARD)
def test_single_precision_proposes_and_never_decides(name, power):
    """Bit for bit what double precision finds, also where 24 digits tell no two rows apart, and for queries far outside."""
    rng = np.random.default_rng(len(name))
    stored, queries = HARD[name](rng.normal(size=(5, 1100))), HARD[name](rng.normal(size=(5, 40)))
    queries[:, 0], queries[:, 1], queries[2, 2] = queries[:, 0] * 1e9, stored[:, 7], np.nan
    parts = np.zeros(5, np.int8), np.zeros(5), np.ones(5), np.ones(5), np.zeros(5, np.int64)
    metric = FittedDistance(*parts, power=power)
    assert "single" in search_module.engines(metric, stored)
    for count in (1, 5, 60):
        found, expected = (nearest(metric, stored, queries, count, engine) for engine in ("single", "loops"))
        np.testing.assert_array_equal(found.rows, expected.rows)
        np.testing.assert_array_equal(found.distance, expected.distance)


@pytest.mark.parametrize("far", [1.0, 30.0])  # a row so far out that the bound of products would hide the near ones
def test_products_in_single_precision_propose_and_never_decide(far, monkeypatch):
    used = []
    products = single._products
    monkeypatch.setattr(single, "_products", lambda *parts: used.append(products(*parts)) or used[-1])
    rng = np.random.default_rng(0)
    parts = np.zeros(9, np.int8), np.zeros(9), np.ones(9), np.ones(9), np.zeros(9, np.int64)
    metric = FittedDistance(*parts, power=2.0)
    for step in (1e-3, 1.0):
        stored = np.ascontiguousarray((rng.normal(size=(9, 900)) / step).round() * step)
        stored[:, 0] *= far
        queries = np.ascontiguousarray(np.hstack([stored[:, 5:40], rng.normal(size=(9, 40)), rng.normal(size=(9, 3)) * 1e3]))
        for count in (1, 5, 60):  # more than there are groups of rows
            found, expected = (nearest(metric, stored, queries, count, engine) for engine in ("single", "loops"))
            np.testing.assert_array_equal(found.rows, expected.rows)
            np.testing.assert_array_equal(found.distance, expected.distance)
    assert {one is None for one in used} == {far > 1}


def test_infinite_values_are_left_to_the_loops():
    parts = np.zeros(1, np.int8), np.zeros(1), np.ones(1), np.ones(1), np.zeros(1, np.int64)
    assert search_module.engines(FittedDistance(*parts), np.array([[1.0, np.inf]])) == ("loops",)


@pytest.mark.parametrize(
    ("features", "rows", "count", "best"),
    [(3, 20_000, 5, "tree"), (9, 600, 5, "single"), (40, 200, 2, "blas"), (9, 200, 2, "loops")],
)
def test_the_engine_is_chosen_by_size_among_those_that_can_search(features, rows, count, best):
    stored = np.zeros((features, rows))
    for kind, engine in ((0, best), (1, "loops")):
        parts = np.full(features, kind, np.int8), np.zeros(features), np.ones(features), np.ones(features)
        metric = FittedDistance(*parts, np.zeros(features, np.int64), power=2.0)
        assert search_module.best_engine(metric, stored, count) == engine


def test_rounding_forgets_the_last_digits_only():
    values = np.array([0.1 + 0.2, 1e-300, 3e299, np.inf, 0.0])
    assert round_distance(values) == pytest.approx(values, rel=2.0**-40)
    assert round_distance(np.array([0.1 + 0.2])) == round_distance(np.array([0.3]))
    assert round_distance(np.array([1.0])) != round_distance(np.array([1.0 + 1e-11]))


def test_digests_see_values_and_not_their_sign_of_zero():
    columns = np.array([[0.0, -0.0, 1.0, np.nan], [2.0, 2.0, 2.0, 2.0]])
    first, second, third, fourth = row_digests(columns, None)
    assert first == second
    assert len({first, third, fourth}) == 3
    assert row_digests(columns[::-1], None)[0] != first
    assert len(np.unique(row_digests(np.arange(100_000.0)[None], None))) == 100_000


@pytest.mark.parametrize("change", [{"kinds": [7]}, {"sizes": [2]}, {"power": 0.5}, {"scale": [1.0, 1.0]}])
def test_a_metric_that_is_not_whole_is_refused(change):
    parts = {"kinds": [0], "center": [0.0], "scale": [1.0], "missing": [1.0], "sizes": [0], "tables": [], "power": 2.0} | change
    arrays = {name: np.asarray(value) for name, value in parts.items() if name != "power"}
    facts = {"power": parts["power"], "known_only": False, "rounded": False}
    with pytest.raises(ValueError):
        FittedDistance.restore(facts, arrays)


@pytest.mark.parametrize("which", ["kernels", "plain"])
def test_the_smallest_of_each_row_are_those_of_sorting(which, code) -> None:
    values = np.random.default_rng(0).permutation(600).reshape(6, 100) / 8.0
    with code(which):
        columns, largest = search_module._smallest(values, 7)
    wanted = np.sort(values, axis=1)[:, :7]
    np.testing.assert_array_equal(np.sort(np.take_along_axis(values, columns, axis=1), axis=1), wanted)
    np.testing.assert_array_equal(largest, wanted[:, -1])
