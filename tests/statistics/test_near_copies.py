"""Near copies: tables that were copied before the split are named, honest ones are not, coarse ones are not looked at."""

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

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
    monkeypatch.setattr(own, "CHUNK", 300)
    assert own.nearest(near, far)[0] == pytest.approx(direct)


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
