"""What a profile of a table notices, one bound at a time."""

from types import SimpleNamespace

import numpy as np
import pytest

from modelsel.core.reading import ColumnReading
from modelsel.core.types import Feature, Task
from modelsel.dataset.column import text_column
from modelsel.dataset.memory import Memory
from modelsel.dataset.profile import _id_like, profile
from modelsel.dataset.reading import values_of


@pytest.mark.parametrize(
    ("kind", "known", "rows", "like"),
    [("numeric", np.arange(20.0), 20, True), ("numeric", np.arange(19.0), 19, False),
     ("numeric", np.r_[np.arange(19.0), 39.0], 20, True), ("numeric", np.r_[np.arange(19.0), 40.0], 20, False),
     ("numeric", np.arange(20.0) / 2, 20, False), ("numeric", np.arange(19.0), 20, False),
     ("ordered", np.arange(20.0), 20, False), ("nominal", np.arange(19.0), 20, True), ("nominal", np.arange(18.0), 20, False)],
)  # fmt: skip
def test_a_column_looks_like_an_id_where_nearly_every_row_has_a_value_of_its_own(
    kind: str, known: "np.ndarray[tuple[int], np.dtype[np.float64]]", rows: int, like: bool
) -> None:
    levels = tuple(map(str, range(20))) if kind != "numeric" else ()
    assert _id_like(Feature("x", kind, levels), known, rows) is like


def table_of_numbers(**columns: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Task:
    values = np.column_stack([columns[name] for name in columns if name != "target"])
    features = tuple(Feature(name, "numeric") for name in columns if name != "target")
    return Task(name="t", features=features, values=values, rows=np.arange(len(values)), target=columns["target"])


def test_the_target_in_another_unit_is_found_and_a_column_that_only_follows_it_is_not() -> None:
    rng = np.random.default_rng(0)
    euro = rng.permutation(60) / 7
    found = profile(table_of_numbers(dollar=1.1 * euro, debt=-(euro**3), near=euro + rng.normal(size=60) / 5, target=euro))
    assert [one.message.split("'")[1] for one in found if one.code == "EQUALS_TARGET"] == ["dollar", "debt"]


def test_equal_rows_of_different_numbers_are_counted() -> None:
    x = np.repeat(np.arange(20.0), 2) / 3
    (found,) = [
        one for one in profile(table_of_numbers(x=x, target=np.r_[x[:30], np.arange(10.0)])) if one.code == "DUPLICATE_ROWS"
    ]
    assert "20 of 40 rows" in found.message
    assert "5 groups of equal rows carry different numbers" in found.message


def test_columns_of_a_table_in_memory_that_are_ignored_or_have_a_role_are_no_features() -> None:
    table = SimpleNamespace(columns=[SimpleNamespace(name=name) for name in "abcy"])
    said = SimpleNamespace(features={"a": "ignore", "b": "numeric"}, others="", _table=table, roles=lambda: {"y": "target"})
    assert Memory._candidates.fget(said) == {"b", "c"}  # type: ignore[attr-defined]


def test_a_feature_of_texts_has_each_text_as_it_stands() -> None:
    told = ColumnReading(Feature("t", "nominal", text=True))
    feature, values = values_of(text_column("t", ["b b", "a", None, "b b"]), told)
    assert feature.text
    assert len(set(values[[0, 1, 3]].tolist())) == 2
