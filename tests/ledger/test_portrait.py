"""Portraits are aggregates that survive what a table may be dressed in; two samples of one source differ in them."""

import numpy as np
import pytest

from benchmarks._disguise_tables import drawn as drawn_table
from benchmarks.guard_disguises import DISGUISES
from modelsel.core.types import Feature, Task
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.likeness import Halves, Likeness, likeness
from modelsel.ledger.rows.portrait import Portrait, drawn, variables
from modelsel.ledger.rows.row_set import RowSet

KEY = IdentityKey(b"k" * 32)


def portrait(task: Task) -> tuple[Portrait, Halves]:
    found = variables(task)
    assert found is not None
    return drawn(found, KEY), Halves(found, "seed")


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
    assert len(stored.pack()) < 20_000
    values = set(task.values.astype("<f4").ravel().tolist()) - {0.0, 1.0}
    kept = np.concatenate([stored.arrays[view] for view in ("value", "rank")]).astype("<u8").view("<f4")
    assert not values & set(kept.tolist())


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
