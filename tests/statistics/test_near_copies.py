"""Near copies: tables that were copied before the split are named, honest ones are not, coarse ones are not looked at."""

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from benchmarks.recognition.guard_natural import made
from modelsel.statistics import near_copies as own
from modelsel.statistics.near_copies import NearCopies, near_copies

Table = NDArray[np.float64]


def split(values: Table, seed: int) -> NearCopies:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(values))
    many = len(values) * 3 // 10
    return near_copies(values[order[many:]], values[order[:many]], rng)


def jittered(values: Table, rng: np.random.Generator, share: float, copies: int = 4) -> Table:
    repeated = np.repeat(values, copies, axis=0)
    return repeated + share * values.std(axis=0) * rng.normal(size=repeated.shape)


def smote(values: Table, rng: np.random.Generator) -> Table:
    number = 3 * len(values)
    neighbours = cKDTree(values).query(values, k=6)[1]
    first = rng.integers(len(values), size=number)
    second = neighbours[first, rng.integers(1, 6, number)]
    return np.vstack([values, values[first] + rng.random((number, 1)) * (values[second] - values[first])])


WAYS = {
    "4 copies": lambda values, rng: jittered(values, rng, 0.0),
    "20 copies": lambda values, rng: jittered(values, rng, 0.0, 20),
    "jitter .1 %": lambda values, rng: jittered(values, rng, 0.001),
    "jitter 1 %": lambda values, rng: jittered(values, rng, 0.01),
    "jitter 5 %": lambda values, rng: jittered(values, rng, 0.05),
    "SMOTE": smote,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("columns", [5, 20])
def test_tables_that_were_copied_before_the_split_are_not_certifiable(way: str, columns: int) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        found = split(WAYS[way](rng.normal(size=(150, columns)), rng), seed)
        assert found.unique > 0.95
        assert not found.certifiable


@pytest.mark.parametrize("way", WAYS)
def test_real_tables_that_were_copied_are_not_certifiable(way: str) -> None:
    values = load_breast_cancer().data[:200]
    assert not split(WAYS[way](values, np.random.default_rng(0)), 0).certifiable


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_diabetes, load_digits])
def test_honest_tables_keep_their_certificate(load: Any) -> None:
    for seed in range(3):
        found = split(load().data, seed)
        assert found.certifiable
        assert len(found.flagged) <= 1
        assert not found.sampled


def test_a_column_that_alone_tells_copies_apart_is_left_out() -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        values = np.repeat(rng.normal(size=(150, 8)), 4, axis=0)
        found = split(np.column_stack([values, np.arange(600.0)]), seed)
        assert found.unique > 0.95
        assert not found.certifiable


def labelled(values: Table, labels: NDArray[np.int64], seed: int) -> NearCopies:
    order, many = np.random.default_rng(seed).permutation(len(values)), len(values) * 3 // 10
    known = labels[order[many:]]
    return near_copies(values[order[many:]], values[order[:many]], np.random.default_rng(seed), known)


@pytest.mark.parametrize("rule", ["join", "panel"])
def test_rows_that_share_columns_and_have_labels_of_their_own_are_no_copies(rule: str) -> None:
    for seed in range(3):
        task = made(rule, seed)
        found = labelled(task.values, task.target, seed)
        assert found.many
        assert found.certifiable


@pytest.mark.parametrize("way", WAYS)
def test_labels_that_are_coins_do_not_clear_copies(way: str) -> None:
    """A new row has the label of the row that it was made from: here made class by class."""
    rng = np.random.default_rng(3)
    sides = [WAYS[way](rng.normal(size=(100, 6)), rng) for _ in range(2)]
    labels = np.repeat([0, 1], [len(side) for side in sides])
    assert not labelled(np.concatenate(sides), labels, 0).certifiable


def test_labels_clear_nothing_where_development_rows_have_no_copies_of_each_other() -> None:
    rng = np.random.default_rng(4)
    values, labels = rng.normal(size=(200, 6)), rng.integers(0, 2, 200)
    sealed = np.concatenate([values[:30] + 1e-4, rng.normal(size=(60, 6))])
    assert not near_copies(values, sealed, rng, labels).certifiable


def test_rows_that_are_equal_on_a_coarse_grid_are_no_copies() -> None:
    """Whole numbers from 0 to 15 of five hidden causes: one row in ten is equal to another one by chance (as in `letter`)."""
    rng = np.random.default_rng(5)
    causes = rng.normal(size=(8000, 5)) * np.exp(1.3 * rng.normal(size=(8000, 1)))
    rows = np.clip(np.round(8 + causes @ rng.normal(size=(5, 24))), 0, 15)
    found = split(rows, 0)
    assert found.unique > 0.95
    assert found.certifiable
    assert not split(np.repeat(rows[:400], 4, axis=0), 0).certifiable


def test_a_single_copy_is_named_and_the_rest_is_certified() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(400, 6))
    sealed = np.vstack([rng.normal(size=(99, 6)), values[:1] + 1e-4])
    found = near_copies(values, sealed, rng)
    assert found.flagged.tolist() == [99]
    assert found.certifiable


def test_rows_of_few_values_are_no_copies() -> None:
    rng = np.random.default_rng(0)
    answers = rng.integers(0, 4, (600, 5)).astype(float)
    found = split(answers, 0)
    assert found.unique < 0.95
    assert found.certifiable
    assert not len(found.examined)
    assert split(rng.normal(size=(300, 1)), 0).unique == 0


def test_missing_numbers_and_constant_columns_do_no_harm() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(300, 8))
    values[rng.random(values.shape) < 0.05] = np.nan
    values[:, 3] = 7.0
    assert split(values, 0).certifiable
    assert not split(np.repeat(values, 4, axis=0), 0).certifiable


def test_distances_of_both_ways_are_those_of_all_pairs(monkeypatch) -> None:
    rng = np.random.default_rng(2)
    near, far = rng.normal(size=(90, 6)), rng.normal(size=(20, 6))
    direct = np.sort(np.linalg.norm(far[:, None] - near[None], axis=2), axis=1)[:, :60]
    assert own.nearest(near, far)[0] == pytest.approx(direct)
    monkeypatch.setattr(own, "FLAT", 0)
    monkeypatch.setattr(own, "TILE", 40)
    monkeypatch.setattr(own, "TOGETHER_FAR", 7)
    assert own.nearest(near, far)[0] == pytest.approx(direct)


@pytest.mark.parametrize("kind", ["heavy tails", "near copies of far rows", "few values", "tiny numbers"])
def test_distances_that_single_precision_loses_are_found(kind: str) -> None:
    rng = np.random.default_rng(4)
    near, far = rng.standard_cauchy((4_500, 14)), rng.standard_cauchy((60, 14))
    if kind == "near copies of far rows":
        near[100:160] = (far := far + 1000) + 1e-9 * rng.normal(size=far.shape)
    elif kind == "few values":
        near, far = np.round(near).clip(-2, 2), np.round(far).clip(-2, 2)
    elif kind == "tiny numbers":
        near, far = near * 1e-25, far * 1e-25
    distances, first = own.nearest(near, far)
    wanted = cKDTree(near).query(far, k=own.FAR)[0]
    assert distances == pytest.approx(wanted, rel=1e-12)
    assert np.linalg.norm(near[first] - far, axis=1) == pytest.approx(wanted[:, 0], rel=1e-12)
    own_rows = np.arange(40, 80)
    others = cKDTree(near).query(near[own_rows], k=own.FAR + 1)[0][:, 1:]
    assert own.nearest(near, near[own_rows], own_rows)[0] == pytest.approx(others, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [8, 40])
def test_three_hundred_thousand_rows_take_seconds(columns: int) -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(300_000, columns))
    started = time.process_time()
    found = split(values, 0)
    assert time.process_time() - started < 60
    assert found.sampled
    assert found.certifiable
    values[1::2] = values[::2] * 1.0001
    assert not split(values, 0).certifiable
