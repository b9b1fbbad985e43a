"""Copied rows: tables that were copied are known by how often rows come, natural ones and designs are left alone."""

from itertools import product
from math import factorial

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from modelsel.statistics.copied_rows import CopiedRows, copied_rows, excess_of

Table = NDArray[np.float64]


def few_columns(values: Table, rng: np.random.Generator) -> Table:
    return np.column_stack([values[:, :3].round(1), rng.integers(0, 3, len(values))])


def half_replaced(values: Table, rng: np.random.Generator) -> Table:
    which = rng.permutation(values.shape[1])[: values.shape[1] // 2]
    values[:, which] = rng.normal(size=(len(values), len(which)))
    return values


def added(values: Table, rng: np.random.Generator, many: int) -> Table:
    return np.column_stack([values, rng.normal(size=(len(values), many))])


KINDS = {
    "exact": lambda values, rng: values, "few columns": lambda values, rng: values, "half replaced": half_replaced,
    "one added": lambda values, rng: added(values, rng, 1), "two added": lambda values, rng: added(values, rng, 2),
}  # fmt: skip


def split(values: Table, labels: NDArray[np.int64], rng: np.random.Generator) -> CopiedRows | None:
    order, cut = rng.permutation(len(values)), len(values) * 7 // 10
    return copied_rows((values[order[:cut]], values[order[cut:]]), labels[order[:cut]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("times", [2, 4, 20])
def test_tables_that_were_copied_are_known_and_their_copies_are_units(kind: str, times: int) -> None:
    rng = np.random.default_rng(times)
    values = load_wine().data
    values = few_columns(values, rng) if kind == "few columns" else values
    labels = rng.integers(0, 2, len(values))
    found = split(KINDS[kind](np.repeat(values, times, axis=0), rng), np.repeat(labels, times), rng)
    assert found is not None
    assert found.agreed
    assert len(np.unique(found.unit)) == len(np.unique(values, axis=0))


def test_rows_that_are_copied_on_the_sealed_side_alone_are_known() -> None:
    rng = np.random.default_rng(18)
    found = copied_rows((rng.normal(size=(200, 3)), np.repeat(rng.normal(size=(40, 3)), 20, axis=0)), rng.integers(0, 2, 200))
    assert found is not None
    assert found.agreed
    assert len(np.unique(found.unit[200:])) == 40


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_diabetes, load_digits])
def test_natural_tables_are_not_touched(load: object) -> None:
    found = load()  # type: ignore[operator]
    for seed in range(2):
        assert split(found.data, found.target.astype(np.int64), np.random.default_rng(seed)) is None


def test_independent_rows_of_few_values_are_equal_by_chance() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        levels = rng.integers(2, 6, 5)
        values = np.column_stack([rng.choice(n, 600, p=rng.dirichlet(np.ones(n))) for n in levels]).astype(float)
        values[:, 3] = np.where(rng.random(600) < 0.8, values[:, 0], values[:, 3])  # columns hang together
        assert split(values, (values[:, 0] > 0).astype(np.int64), rng) is None


def test_a_complete_design_is_none_and_its_replicates_are_told_by_their_labels() -> None:
    design, rng = np.array(list(product(range(3), repeat=5)), float), np.random.default_rng(0)
    depends = (design.sum(axis=1) > 5).astype(np.int64)
    once = split(design, depends, rng)
    assert once is None or not once.agreed
    replicated, noise = np.repeat(design, 4, axis=0), rng.random(4 * len(design)) < 0.4
    found = split(replicated, np.repeat(depends, 4) ^ noise, rng)
    assert found is not None
    assert not found.agreed
    assert found.columns == (0, 1, 2, 3, 4)


@pytest.mark.parametrize("k", [2, 3, 4, 20])
def test_what_is_gained_over_the_best_mixture_is_that_of_the_best_rate(k: int) -> None:
    """Where all rows come k times the best mixture has one rate, found here by minimising."""

    def lost(rate: float) -> float:
        return -float(k * np.log(rate) - rate - np.log(-np.expm1(-rate)) - np.log(float(factorial(k))))

    expected = 500 * minimize_scalar(lost, bounds=(1e-3, 3 * k), method="bounded").fun
    found = excess_of(np.array([k]), np.array([500]))
    assert 80 <= found <= expected + 1e-6  # it is stopped once it is certain


def test_a_mixture_of_poisson_numbers_gains_nothing() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        times = rng.poisson(rng.choice([0.1, 1.0, 6.0], 3000))
        k, f = np.unique(times[times > 0], return_counts=True)
        assert excess_of(k, f) < 20
