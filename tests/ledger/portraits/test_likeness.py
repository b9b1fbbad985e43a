"""How near two tables are, against the formula written out in loops."""

from dataclasses import replace
from itertools import product
from math import comb, log
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from modelsel.core.types import Feature, Table
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.likeness import (
    CAP,
    EXACT,
    FIT,
    HALVES,
    NEAR,
    PROBE,
    SURE,
    Halves,
    Likeness,
    can_fit,
    excess,
    least_of,
    likeness,
    may_be_same,
)
from modelsel.ledger.portraits.portrait import Portrait, draw_portrait
from modelsel.ledger.portraits.variables import Variables, variables
from modelsel.ledger.portraits.waves import freedom
from tests.ledger.columns import variables_of

KEY = IdentityKey(b"k" * 32)
SAME = {"thorough": False}


def numbers(count: int, rows: int = 300, seed: int = 0) -> Variables:
    """Numbers that hang together a little."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(rows, 1))
    return variables_of(
        rng.normal(size=(rows, count)) + 0.5 * common, np.zeros(count, bool), 3, [f"x{i}" for i in range(count)]
    )


def levels(rows: int = 300, seed: int = 0) -> Variables:
    rng = np.random.default_rng(seed)
    values = rng.random((rows, 4)) < np.array([0.5, 0.4, 0.3, 0.6])
    return variables_of(values.astype(float), np.ones(4, bool), 3, list("abcd"))


def moved(one: Portrait, deviation: float, seed: int = 0, n: int | None = None) -> Portrait:
    """The same variables with links that differ by chance, alike on both sides of the diagonal."""
    rng, links = np.random.default_rng(seed), {}
    for view, table in one.links.items():
        noise = rng.normal(0, deviation, table.shape)
        links[view] = table + (noise + noise.transpose(2, 3, 0, 1)) / 2**0.5
    return replace(one, links=links, n=n or one.n)


def written_out(
    ours: Portrait, theirs: Portrait, halves: Halves, view: str, common: int, count: int
) -> tuple[float, int, float]:
    """Mean of the squared differences in variances, how many they are, and their degrees of freedom."""
    scale = 1 / ours.n + 1 / theirs.n - 2 * common / (ours.n * theirs.n)
    halvings, squares, kept = halves.differences(view, count).astype(float), [], []
    for i, j in product(range(len(ours)), repeat=2):
        if i > j or not halves.crossing[i, j]:
            continue
        for a, b in product(range(3), repeat=2):
            here, there = ours.links[view][i, a, j, b], theirs.links[view][i, a, j, b]
            each = halvings[:, i, a, j, b]
            if np.isnan(here) or np.isnan(there) or np.isnan(each).any() or each.var() <= 0.02:
                continue
            grain = 0.0
            if ours.binary[i] and ours.binary[j]:
                spread = [0.25 - float(ours.links["value"][k, 0, k, 0]) ** 2 for k in (i, j)]
                grain = (0.5 / ours.n) ** 2 / (spread[0] * spread[1])
            squares.append(((here - there) ** 2 + grain) / (each.var() * scale))
            kept.append(each / each.std())
    agree = sum((one @ other / count) ** 2 for one, other in product(kept, repeat=2)) if len(kept) < 90 else np.nan
    k = len(kept)
    return float(np.mean(squares)), k, min(4 * count, k * k / max(agree - k * k / count, k * k / (4 * count)))


@pytest.mark.parametrize(("deviation", "n", "common"), [(0.02, 300, 0), (0.02, 200, 0), (0.02, 200, 120), (0.04, 250, 0)])
@pytest.mark.parametrize("kind", [numbers(3), levels()], ids=["numbers", "levels"])
def test_the_distance_is_the_mean_square_in_variances_and_its_tail_that_of_chi_square(
    kind: Variables, deviation: float, n: int, common: int
) -> None:
    mine = draw_portrait(kind, KEY)
    theirs = moved(mine, deviation, n=n)
    theirs.links["rank"][:] = 9.0  # by rank nothing fits
    found = likeness(mine, Halves(kind, "seed"), theirs, common, **SAME)
    q, _, freedom = written_out(mine, theirs, Halves(kind, "seed"), "value", common, PROBE)
    if q <= 1.2:
        q, _, freedom = written_out(mine, theirs, Halves(kind, "seed"), "value", common, HALVES)
    assert found.variables == len(mine)
    assert found.near == pytest.approx(q, rel=1e-4)
    assert found.nats == pytest.approx(-log(max(1e-300, chi2.cdf(q * freedom, freedom))) - log(4), rel=1e-3)


def test_variables_that_were_not_matched_by_their_names_are_paid_for() -> None:
    kind = numbers(4)
    mine, halves = draw_portrait(kind, KEY), Halves(kind, "seed")
    for others in (0, 1, 2, 3, 4):
        labels = np.where(np.arange(4) < others, np.arange(4, dtype=np.uint64), mine.labels)
        paid = others * log(2 * 4)  # which of theirs, and which way round; or they are left out, which is a choice too
        paid = min(paid, log(comb(4, others))) if others <= 2 else paid
        assert likeness(mine, halves, replace(mine, labels=labels)).nats == pytest.approx(-log(1e-300) - paid - log(4))


def test_of_tables_of_which_all_rows_are_matched_nothing_is_said() -> None:
    kind = numbers(3, rows=256)
    mine = draw_portrait(kind, KEY)
    for common, variables_ in ((255, 3), (256, 0), (300, 0)):
        assert likeness(mine, Halves(kind, "seed"), mine, common, **SAME).variables == variables_


def test_tables_are_one_that_are_near_and_surer_than_chance() -> None:
    for near, nats in product((NEAR - 0.01, NEAR + 0.01), (SURE - 0.01, SURE + 0.01)):
        assert Likeness(near, nats, 3).same == (near < NEAR and nats > SURE)


@pytest.mark.parametrize("dropped", [1, 2, 3])
def test_who_leaves_out_variables_pays_for_every_choice_of_so_many(dropped: int) -> None:
    kind = numbers(6)
    mine, halves = draw_portrait(kind, KEY), Halves(kind, "seed")
    links = {view: one.copy() for view, one in mine.links.items()}
    for one, index in product(links.values(), range(dropped)):
        one[index] = np.where(np.isfinite(one[index]), 0.9 - 0.3 * index, np.nan)
        one[:, :, index] = np.where(np.isfinite(one[:, :, index]), 0.9 - 0.3 * index, np.nan)
    found = likeness(mine, halves, replace(mine, links=links), **SAME)
    assert found.variables == 6 - dropped
    assert found.nats == pytest.approx(-log(1e-300) - log(4) - log(comb(6, dropped)))


def test_of_two_variables_none_is_left_out_however_one_of_them_fits() -> None:
    kind = numbers(2)
    mine = draw_portrait(kind, KEY)
    links = {"value": mine.links["value"].copy(), "rank": np.full_like(mine.links["rank"], 9.0)}
    for a, j, b, apart in ((0, 1, 0, 3.2), (1, 1, 0, 3.2), (2, 0, 2, 0.9)):  # in mean .608 for the first, .57 for both
        links["value"][0, a, j, b] = links["value"][j, b, 0, a] = mine.links["value"][0, a, j, b] + (apart * 2 / mine.n) ** 0.5
    assert likeness(mine, Halves(kind, "seed"), replace(mine, links=links), **SAME).variables == 2


def test_two_differences_that_tell_something_are_enough_and_one_is_not() -> None:
    place = np.arange(300)
    for inner, told in ((place < 60, 2), (place < 300, 0)):  # one level implies the other: their shares alone tell
        kind = variables_of(np.column_stack([place < 150, inner]).astype(float), np.ones(2, bool), 3, "ab")
        mine = draw_portrait(kind, KEY)
        assert likeness(mine, Halves(kind, "seed"), mine, **SAME).variables == told


def test_two_levels_tell_of_each_other_where_all_four_cells_are_there_and_five_rows_expected() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        shares = rng.choice([0.1, 0.2, 0.5, 0.8], 6)
        values = rng.random((60, 6)) < shares
        values[:, 1] |= values[:, 0]
        values[:, 3] &= ~values[:, 2]
        values[:, 5] = values[:, 5] | ~values[:, 4]
        if not values.sum(axis=0).min() > 0 or values.sum(axis=0).max() == 60:
            continue  # of a level that every row has, or none, there is no variable
        kind = variables_of(np.column_stack([values, rng.normal(size=60)]).astype(float), np.arange(7) < 6, 3, "abcdefg")
        crossing = Halves(kind, "seed").crossing
        for i, j in product(range(6), repeat=2):
            one, other = values[:, i], values[:, j]
            cells = [int((a & b).sum()) for a, b in product((one, ~one), (other, ~other))]
            often = min(one.sum(), 60 - one.sum()) * min(other.sum(), 60 - other.sum()) / 60
            assert crossing[i, j] == (i == j or (min(cells) > 0 and often >= 5))
        assert crossing[6].all()
    assert EXACT == 2**24  # up to there counts in single precision are exact


def test_degrees_of_freedom_are_what_the_correlations_leave() -> None:
    rng = np.random.default_rng(0)
    for count, k, common in product((8, 64), (2, 5, 40), (0.0, 0.5, 3.0)):
        values = rng.normal(size=(count, k)) + common * rng.normal(size=(count, 1))
        agree = sum(float(values[:, i] @ values[:, j] / count) ** 2 for i, j in product(range(k), repeat=2))
        wanted = min(4 * count, k * k / max(agree - k * k / count, k * k / (4 * count)))
        assert freedom(values) == pytest.approx(wanted)


def test_halves_are_the_difference_of_two_random_halves_and_further_ones_leave_the_first_as_they_are() -> None:
    kind = numbers(3, rows=81)
    halves = Halves(kind, "seed")
    first = halves.differences("value", 3).copy()
    assert np.array_equal(halves.differences("value", 9)[:3], first, equal_nan=True)
    assert len(halves.differences("value", 5)) == 5
    from modelsel.core.fingerprint import generator

    rng = generator(0, "seed", "value")
    for one in first:
        order = rng.permutation(81)[:80]
        apart = kind.links(order[:40], "value") - kind.links(order[40:], "value")
        np.testing.assert_allclose(one, apart * 20**0.5, atol=1e-5)  # of 40 and 40 rows, in units of one row


@pytest.mark.parametrize("count", [2, 3, 6])
def test_what_is_sifted_out_is_what_could_not_fit(count: int) -> None:
    kind = numbers(count)
    mine = draw_portrait(kind, KEY)
    theirs = [moved(mine, 0.05 + 0.003 * seed, seed, n=150 + 10 * seed) for seed in range(30)]
    said = []
    for one in theirs:
        fits = False
        for view in ("value", "rank"):
            apart = np.minimum((mine.links[view] - one.links[view]) ** 2 / (1 / mine.n + 1 / one.n), CAP) - FIT
            over = np.where(np.isnan(apart), 0, apart).sum(axis=(1, 3))
            fits |= bool(can_fit(over[None], np.ones((1, count), bool), np.array([least_of(count, count)]))[0])
        said.append(fits)
        assert np.allclose(excess(mine.links["value"][None] * 0 + 2.0)[0, 0, 1], 9 * (2.0 - FIT))
    assert may_be_same(mine, theirs).tolist() == said
    assert 0 < sum(said) < 30


def test_more_than_two_hundred_tables_are_sifted_each_by_itself() -> None:
    mine, others = draw_portrait(numbers(3), KEY), [draw_portrait(numbers(3, seed=seed), KEY) for seed in range(1, 4)]
    pattern = [mine if place % 100 == 99 else others[place % 3] for place in range(402)]
    alone = {id(one): bool(may_be_same(mine, [one])[0]) for one in (mine, *others)}
    assert may_be_same(mine, pattern).tolist() == [alone[id(one)] for one in pattern]
    assert set(alone.values()) == {True, False}


def test_levels_of_a_real_table_are_binary_and_the_likeness_is_of_them_too() -> None:
    rng = np.random.default_rng(0)
    features: Any = (Feature("c", "nominal", ("a", "b", "c")), Feature("x", "numeric"), Feature("y", "numeric"))
    values = np.column_stack([rng.integers(0, 3, 300), rng.normal(size=(300, 2))])
    found = variables(Table(name="", features=features, values=values, rows=np.arange(300)))
    assert found is not None
    mine = draw_portrait(found, KEY)
    assert likeness(mine, Halves(found, "seed"), mine, **SAME).same
