"""What a column says in a portrait is the same by itself and among others."""

import numpy as np
import pytest

from modelsel.ledger.portraits.variables import level, levels_of_many, mean_and_scaled, told_of_many
from tests.ledger.columns import variables_of


@pytest.mark.parametrize("view", ["value", "rank"])
@pytest.mark.parametrize("orders", [1, 3])
def test_a_column_among_others_says_what_it_says_alone(view: str, orders: int) -> None:
    rng = np.random.default_rng(0)
    columns = np.stack([
        rng.normal(size=50), rng.integers(0, 4, 50), np.ones(50), rng.integers(0, 2, 50), rng.normal(size=50).round(1),
        np.arange(50.0),
    ])  # fmt: skip
    means, features = told_of_many(np.stack([columns, columns[:, ::-1]], axis=1), view, orders)
    for place, column in enumerate(columns):
        for turn, values in enumerate((column, column[::-1])):
            alone = mean_and_scaled(values, view, orders)
            np.testing.assert_allclose(means[:, place, turn], [mean for mean, _ in alone], atol=1e-12)
            np.testing.assert_allclose(features[:, place, turn], [one for _, one in alone], atol=1e-9)


def test_a_level_among_others_says_what_it_says_alone() -> None:
    columns = np.array([[0.0, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1], [3, 3, 3, 3, 3, 7]])
    for column, mean, feature in zip(columns, *levels_of_many(columns), strict=True):
        ((alone, by_itself),) = level(column)
        assert mean == alone
        assert np.array_equal(feature, by_itself)
    ((mean, feature),) = level(np.array([0.0, np.nan, 1.0, 0.0]))
    assert mean == pytest.approx(1 / 3 - 0.5)
    assert feature[1] == 0
    assert feature[[0, 2, 3]].mean() == pytest.approx(0)
    assert feature[[0, 2, 3]].std() == pytest.approx(1)
    assert level(np.full(3, np.nan))[0][0] == 0


def test_features_are_orthogonal_and_standardised() -> None:
    column = np.random.default_rng(1).exponential(size=400)
    for view in ("value", "rank"):
        features = np.stack([one for _, one in mean_and_scaled(column, view, 3)])
        np.testing.assert_allclose(features @ features.T / 400, np.eye(3), atol=1e-9)
        np.testing.assert_allclose(features.mean(axis=1), 0, atol=1e-9)


def test_links_of_few_rows_are_those_of_a_table_of_these_rows() -> None:
    rng = np.random.default_rng(2)
    values = np.c_[rng.normal(size=(300, 3)), rng.integers(0, 2, (300, 2)), rng.normal(size=300)]
    values[rng.random(300) < 0.1, 5] = np.nan
    order = [0, 1, 2, 5, 3, 4]
    found = variables_of(values[:, order], np.arange(6) > 3, 3, "abcdef")
    rows = np.sort(rng.permutation(300)[:150])
    part = variables_of(values[rows][:, order], found.binary, 3, found.labels)
    for view in ("value", "rank"):
        samples = np.stack([rows, rows[::-1]])
        for links in found.links_of(samples, view):
            np.testing.assert_allclose(links, part.links(None, view), atol=1e-9)
