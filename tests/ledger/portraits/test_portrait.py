"""Portraits are aggregates that survive what a table may be dressed in; two samples of one source differ in them."""

from dataclasses import replace
from math import log

import numpy as np
import pytest

from benchmarks.recognition.disguise_tables import drawn as drawn_table
from benchmarks.recognition.guard_disguises import DISGUISES
from modelsel.core.types import Feature, Task
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.likeness import Halves, Likeness, likeness
from modelsel.ledger.portraits.portrait import Portrait, draw_portrait
from modelsel.ledger.portraits.variables import variables
from modelsel.ledger.rows.row_set import RowSet
from tests.ledger.columns import variables_of

KEY = IdentityKey(b"k" * 32)


def portrait(task: Task) -> tuple[Portrait, Halves]:
    found = variables(task)
    assert found is not None
    return draw_portrait(found, KEY), Halves(found, "seed")


def compared(ours: Task, theirs: Task, common: int = 0) -> Likeness:
    mine, halves = portrait(ours)
    return likeness(mine, halves, portrait(theirs)[0], common)


@pytest.mark.slow
@pytest.mark.parametrize("letters", ["rsiz", "kkllbm", "iirsdkllb"])
def test_two_samples_of_one_source_are_not_one_table(letters: str) -> None:
    for seed in range(0, 20, 2):
        assert not compared(drawn_table(200, letters, seed, 7), drawn_table(200, letters, seed + 1, 7)).same


@pytest.mark.parametrize("name", ["noise of 1e-3, scaled, renamed", "increasing maps, a column dropped", "decreasing scale"])
def test_a_copy_is_one_table(name: str) -> None:
    task = drawn_table(400, "iirrsdkl", 3)
    (disguise,) = [one for one in DISGUISES if one.name == name]
    other = disguise.of(task)
    assert other is not None
    assert compared(other, task).same


def test_rows_that_are_matched_already_explain_what_is_near() -> None:
    whole = drawn_table(600, "rrrrss", 5)
    part = whole.take(np.arange(400))
    assert compared(whole, part).same
    assert not compared(whole, part, common=400).same


def test_a_correlation_by_value_is_that_of_its_features() -> None:
    task = drawn_table(300, "rr", 1)
    links = portrait(task)[0].links["value"]
    z = (task.values - task.values.mean(axis=0)) / task.values.std(axis=0)
    assert links[0, 0, 1, 0] == pytest.approx(np.corrcoef(np.tanh(z.T))[0, 1])
    assert links[0, 0, 0, 0] == pytest.approx(np.tanh(z[:, 0]).mean())


def test_a_portrait_is_read_back_as_it_was_stored() -> None:
    found = portrait(drawn_table(300, "rikdb", 2))[0]
    again = Portrait.of(RowSet.unpack(found.stored().pack()))
    assert again.n == found.n
    assert np.array_equal(again.labels, found.labels)
    for view, links in found.links.items():
        np.testing.assert_allclose(again.links[view], links, atol=1e-6)


def test_what_is_stored_holds_no_value_and_little() -> None:
    task = drawn_table(3000, "rrrrrriiii" * 3, 4)
    stored = portrait(task)[0].stored()
    assert len(stored.pack()) < 20_000 + 8 * len(stored.arrays["triples"])
    assert len(stored.arrays["triples"]) <= 4096
    values = set(task.values.astype("<f4").ravel().tolist()) - {0.0, 1.0}
    kept = np.concatenate([stored.arrays[view] for view in ("value", "rank")]).astype("<u8").view("<f4")
    assert not values & set(kept.tolist())


def test_every_choice_is_paid_for() -> None:
    mine, halves = portrait(drawn_table(400, "rrrrr", 3))
    count, least = len(mine), -log(1e-300) - log(4)  # nothing is left of the differences; the view was chosen
    assert likeness(mine, halves, mine).nats == pytest.approx(least)
    renamed = replace(mine, labels=np.arange(count, dtype=np.uint64))
    assert likeness(mine, halves, renamed).nats == pytest.approx(least - count * log(2 * count))
    assert not likeness(mine, halves, renamed, thorough=False).variables
    links = {view: one.copy() for view, one in mine.links.items()}
    for one in links.values():
        one[0], one[:, :, 0] = np.where(np.isfinite(one[0]), 0.9, np.nan), np.where(np.isfinite(one[:, :, 0]), 0.9, np.nan)
    found = likeness(mine, halves, replace(mine, links=links))
    assert found.variables == count - 1
    assert found.nats == pytest.approx(least - log(count))  # one of so many was left out


def test_half_of_the_variables_have_to_fit() -> None:
    mine, halves = portrait(drawn_table(400, "rrrrrr", 3))
    for others, fit in ((3, 3), (4, 0)):
        links = {view: one.copy() for view, one in mine.links.items()}
        for one in links.values():
            for index in range(others):
                one[index] = np.where(np.isfinite(one[index]), 0.9 - 0.3 * index, np.nan)
                one[:, :, index] = np.where(np.isfinite(one[:, :, index]), 0.9 - 0.3 * index, np.nan)
        assert likeness(mine, halves, replace(mine, links=links), thorough=False).variables == fit


def test_levels_of_which_one_follows_from_another_tell_nothing_of_tables() -> None:
    rng = np.random.default_rng(0)
    some, others = rng.random(400) < 0.5, rng.random(400) < 0.5
    rare = np.arange(400) % 25 == 0
    columns = (some, some | others, ~(some & others), some & others, others, rare, rng.normal(size=400))
    found = variables_of(np.column_stack(columns).astype(float), np.arange(7) < 6, 3, "abcdefg")
    crossing = Halves(found, "seed").crossing
    assert crossing.diagonal().all()
    assert crossing[6].all()  # a number
    assert crossing[0].tolist() == [True, False, False, False, True, True, True]
    assert not crossing[1, 4]  # implied
    assert not crossing[2, 3]  # excluded
    assert np.array_equal(crossing, crossing.T)
    seldom = np.arange(400) % 10 == 0  # a row of both would be met 1.6 times
    few = variables_of(np.column_stack([rare, seldom | (np.arange(400) == 25), some]).astype(float), np.ones(3, bool), 3, "abc")
    assert Halves(few, "seed").crossing.tolist() == [[True, False, True], [False, True, True], [True, True, True]]


@pytest.mark.parametrize(("rows", "telling"), [(79, True), (80, True), (81, False)])
def test_two_levels_tell_something_where_they_would_share_five_rows(rows: int, telling: bool) -> None:
    place = np.arange(rows)
    both = variables_of(np.column_stack([place < 20, (place >= 15) & (place < 35)]).astype(float), np.ones(2, bool), 3, "ab")
    assert Halves(both, "seed").crossing[0, 1] == telling  # 20 · 20 / 80 = 5


def test_where_more_rows_are_common_than_can_be_nothing_is_said() -> None:
    mine, halves = portrait(drawn_table(400, "rrrr", 3))
    assert likeness(mine, halves, mine, common=400).variables == 0
    assert likeness(mine, halves, mine, common=399).same


def test_numbers_come_first_and_every_level_is_binary() -> None:
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.integers(0, 3, 200), rng.normal(size=(200, 2))])
    features = (Feature("city", "nominal", ("a", "b", "c")), Feature("x", "numeric"), Feature("y", "numeric"))
    target = np.zeros(200, np.int32)
    found = variables(Task(name="t", features=features, values=values, rows=np.arange(200), classes=("0", "1"), target=target))
    assert found is not None
    assert found.labels == ("x", "y", "city=a", "city=b", "city=c")
    assert found.binary.tolist() == [False, False, True, True, True]
    assert found.orders == 3


def test_nearly_unique_levels_and_few_rows_take_no_part() -> None:
    names = tuple(f"n{i}" for i in range(200))
    values = np.column_stack([np.arange(200), np.random.default_rng(0).normal(size=(200, 2))])
    features = (Feature("name", "nominal", names), Feature("a", "numeric"), Feature("b", "numeric"))
    target = np.zeros(200, np.int32)
    task = Task(name="t", features=features, values=values, rows=np.arange(200), classes=("x", "y"), target=target)
    found = variables(task)
    assert found is not None
    assert found.labels == ("a", "b")
    assert variables(task.take(np.arange(50))) is None
