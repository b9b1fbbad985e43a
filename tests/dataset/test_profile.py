"""What a profile of a table notices, one bound at a time."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.core.reading import ColumnReading
from modelsel.core.types import Feature, Task
from modelsel.dataset.column import text_column
from modelsel.dataset.identifiers import id_like
from modelsel.dataset.memory import Memory
from modelsel.dataset.profile import _equal_as_read, profile
from modelsel.dataset.reading import values_of

GAPS = np.cumsum(np.r_[7.0, np.tile([3.0, 50.0], 30)])[:60]
MIXED = np.random.default_rng(0).permutation(GAPS)
LONG = 10_000_000 + 997 * MIXED


@pytest.mark.parametrize(
    ("name", "kind", "values", "severity"),
    [("x", "numeric", np.arange(20.0), "high"), ("x", "numeric", np.arange(19.0), None),
     ("x", "numeric", MIXED, None), ("x", "numeric", GAPS, "medium"), ("x", "numeric", GAPS[::-1], "medium"),
     ("x", "numeric", LONG, "medium"), ("passenger no", "numeric", MIXED, "high"), ("id", "numeric", MIXED, "high"),
     ("id", "numeric", np.r_[MIXED, MIXED[:3]], "medium"), ("x", "numeric", np.r_[MIXED, MIXED[:3]], None),
     ("id", "numeric", np.r_[MIXED, np.full(40, np.nan)], "high"), ("id", "numeric", np.r_[MIXED, np.full(61, np.nan)], None),
     ("id", "numeric", MIXED / 2, None), ("id", "ordered", np.arange(60.0), None), ("x", "nominal", np.arange(60.0), "high"),
     ("x", "nominal", np.r_[np.arange(57.0), 0, 1, 2], "medium"), ("x", "nominal", np.arange(60.0) // 2, None)],
)  # fmt: skip
def test_a_column_looks_like_an_id_where_nearly_every_row_has_a_value_of_its_own(
    name: str, kind: str, values: Any, severity: str | None
) -> None:
    levels = tuple(map(str, range(60))) if kind != "numeric" else ()
    known = np.unique(values[~np.isnan(values)])
    assert id_like(Feature(name, kind, levels), values, known) == severity  # type: ignore[arg-type]


def plan_codes(table: pd.DataFrame, **settings: Any) -> dict[str, str]:
    plan = modelsel.plan("scheme.folds=3", data=table, target="y", space="naive_bayes", **settings)
    return {finding.code: finding.message for finding in plan.findings}


@pytest.mark.parametrize("most", [5000, 50])
def test_ids_and_copies_are_told_by_what_was_read_whatever_levels_are_kept(most: int) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "member": [f"m{i:04d}" for i in rng.permutation(400)],
            "host_id": [f"h{i}" for i in rng.permutation(np.arange(400) % 260)],
            "y": rng.permutation(["a", "b"] * 200),
        }
    )
    found = plan_codes(table, **{"dataset.max_levels": most})
    assert "'member' has 280 different values in 280 rows" in found["ID_LIKE_COLUMN"]
    assert found["REPEATED_IDS"] == "host_id has 260 values in 400 rows: are rows of one host independent?"
    assert "DUPLICATE_ROWS" not in found
    twins = pd.concat([table, table[:100]])
    same = twins.drop(columns="y")
    sealed = modelsel.read_table(twins, target="y", max_levels=most)
    assert int(_equal_as_read(sealed).max()) + 1 == len(same.drop_duplicates())


@pytest.mark.parametrize(
    ("name", "values", "asked"),
    [("period code", 5, False), ("period code", 30, True), ("patient code", 5, True), ("site_id", 5, True),
     ("site_id", 399, False), ("colour", 30, False)],
)  # fmt: skip
def test_names_of_ids_that_repeat_are_asked_about_and_codes_of_a_few_kinds_are_not(name: str, values: int, asked: bool) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: [f"v{i % values}" for i in range(400)], "x": rng.normal(size=400), "y": ["a", "b"] * 200})
    assert ("REPEATED_IDS" in plan_codes(table)) is asked


def table_of_numbers(**columns: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Task:
    values = np.column_stack([columns[name] for name in columns if name != "target"])
    features = tuple(Feature(name, "numeric") for name in columns if name != "target")
    return Task(name="t", features=features, values=values, rows=np.arange(len(values)), target=columns["target"])


def test_the_target_in_another_unit_is_found_and_a_column_that_only_follows_it_is_not() -> None:
    rng = np.random.default_rng(0)
    euro = rng.permutation(60) / 7
    found = profile(table_of_numbers(dollar=1.1 * euro, debt=-(euro**3), near=euro + rng.normal(size=60) / 5, target=euro))
    assert [one.proposes[0].value for one in found if one.code == "EQUALS_TARGET"] == [("dollar", "debt")]


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
