"""When a table's rows can be told apart, which of its columns nearly identify them, and whose names its columns go by."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.core.types import seal
from modelsel.guard import fingerprints
from modelsel.guard.fingerprints import FEW, MANY, ROOMY, VAST, _quasi_keys, _sample, subject_of
from modelsel.ledger.home import IdentityKey
from tests.guard.studies import numbers, renamed

KEY = IdentityKey(b"k" * 32)


def sealing(rows: int = 60, task: Any = None) -> Any:
    whole = task or numbers(rows)
    return SimpleNamespace(sealed=seal(whole.take(np.arange(rows // 3))), development=whole.take(np.arange(rows // 3, rows)))


@pytest.mark.parametrize(
    ("rows", "room", "cramped", "vast"),
    [(60, 60 * ROOMY - 1, True, False), (60, 60 * ROOMY, False, False), (FEW - 1, 1, True, False),
     (FEW, 1, False, False), (60, 60 * VAST**2, False, False),
     (60, 60 * VAST**2 + 1, False, True), (MANY - 1, 1, False, False), (MANY, 1, False, True)],
)  # fmt: skip
def test_a_table_is_cramped_or_vast_by_its_rows_and_the_room_they_have(
    monkeypatch: pytest.MonkeyPatch, rows: int, room: int, cramped: bool, vast: bool
) -> None:
    monkeypatch.setattr(fingerprints, "_room", lambda sketched: float(room))
    found = subject_of(sealing(rows), KEY)
    assert (found.cramped, found.vast, len(found)) == (cramped, vast, rows)


@pytest.mark.parametrize(("met", "told"), [(0, True), (9, True), (10, False)])
def test_a_column_nearly_identifies_rows_that_is_hardly_met_in_the_development_rows(met: int, told: bool) -> None:
    task = replace(numbers(300, columns=2), values=np.random.default_rng(0).normal(size=(300, 2)) * [1, 0])
    values = task.values.copy()
    values[100 : 100 + met] = values[:met]
    assert (list(_quasi_keys(sealing(300, replace(task, values=values)))) == ["x0"]) == told


def known(task: Any) -> Any:
    """A stored table, as a ledger has it."""
    one = subject_of(sealing(len(task), task), KEY)
    return one.sketches, lambda: np.concatenate([one.test.bound, one.development.bound])


def test_columns_go_by_the_names_of_the_stored_table_whose_rows_they_hold() -> None:
    task = numbers(120)
    other = renamed(task, {"x0": "height", "x1": "width"})
    stranger = numbers(120, columns=3, seed=5)
    for tables in ([task], [stranger, task], [task, stranger], [other, task]):
        found = subject_of(sealing(120, other), KEY, [known(one) for one in tables])
        assert found.names == ("x0", "x1", "x2", "x3")
    assert subject_of(sealing(120, other), KEY, [known(stranger)]).names == ("height", "width", "x2", "x3")


@pytest.mark.parametrize(
    ("share", "room", "taken"), [(0.06, 2.0, True), (0.04, 2.0, False), (0.9, 1.0, False), (0.91, 1.0, True)]
)
def test_names_are_taken_over_with_some_of_the_rows_where_there_is_room_and_with_most_where_there_is_not(
    monkeypatch: pytest.MonkeyPatch, share: float, room: float, taken: bool
) -> None:
    task = numbers(200)
    other = renamed(task, {"x0": "height"})
    sketched, rows = known(task)
    stored = rows()
    monkeypatch.setattr(fingerprints, "_room", lambda sketched: room * VAST * 200)
    found = subject_of(sealing(200, other), KEY, [(sketched, lambda: stored[: round(200 * share)])])
    assert (found.names[0] == "x0") == taken


def test_a_sample_is_spread_over_all_rows() -> None:
    assert _sample(5).tolist() == [0, 1, 2, 3, 4]
    assert (len(_sample(1000)), _sample(1000)[0], _sample(1000)[-1]) == (200, 0, 999)


def test_rows_that_stand_on_both_sides_are_marked() -> None:
    task = numbers(60)
    values = task.values.copy()
    values[3] = values[40]
    found = subject_of(sealing(60, replace(task, values=values)), KEY)
    assert np.flatnonzero(found.duplicated).tolist() == [3]
