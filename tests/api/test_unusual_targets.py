"""A target that cannot be fitted is refused at every door in the words of a study: what, in which rows, how to mend it.

The oracle is `run` on the same table: its code is what an estimator and a search say. No door ends in a raw error.
"""

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.tree import DecisionTreeClassifier

import modelsel
from modelsel.core.errors import ModelselError

N = 30
X = pd.DataFrame({"a": np.random.default_rng(0).normal(size=N), "b": np.arange(N) * 0.5})


def each(of: Any) -> np.ndarray:
    made = np.empty(N, object)
    made[:] = [of(row) for row in range(N)]
    return made


HALF = np.arange(N) % 2
TARGETS: dict[str, tuple[Any, str]] = {
    "texts and numbers": (each(lambda row: "a" if row % 2 else 1), "MSEL-383"),
    "dates and texts": (each(lambda row: date(2020, 1, 1) if row % 2 else "x"), "MSEL-383"),
    "None among texts": (each(lambda row: "a" if row % 3 else None), "MSEL-320"),
    "NaN among texts": (each(lambda row: "ab"[row % 2] if row % 3 else np.nan), "MSEL-320"),
    "NaN": (np.where(np.arange(N) == 3, np.nan, np.arange(N) * 1.5), "MSEL-320"),
    "blank labels": (each(lambda row: "b" if row % 3 else ""), "MSEL-320"),
    "question marks": (each(lambda row: "b" if row % 3 else "?"), "MSEL-320"),
    "missing categories": (pd.Series(pd.Categorical(["a", None] * (N // 2))), "MSEL-320"),
    "missing integers": (pd.Series([1, None] * (N // 2), dtype="Int64"), "MSEL-320"),
    "missing decimals": (each(lambda row: Decimal("NaN") if row % 3 == 0 else Decimal(row % 2)), "MSEL-320"),
    "infinity": (np.where(np.arange(N) == 3, np.inf, np.arange(N) * 1.5), "MSEL-322"),
    "two columns": (np.column_stack([HALF, HALF]), "MSEL-382"),
    "a table": (pd.DataFrame({"y": HALF, "z": HALF}), "MSEL-382"),
    "too few": (HALF[:10], "MSEL-382"),
    "nothing": (np.array([]), "MSEL-382"),
    "None": (None, "MSEL-382"),
    "a number": (3, "MSEL-382"),
    "a set": ({0, 1}, "MSEL-382"),
    "zeros left out": (csr_matrix(HALF[:, None]), "MSEL-382"),
}
DOORS: dict[str, Any] = {
    "classifier": lambda y: modelsel.classifier("stump").fit(X, y),
    "classifier of an array": lambda y: modelsel.classifier("stump").fit(X.to_numpy(), y),
    "search": lambda y: modelsel.SelectionCV("stump", cv=3).fit(X, y),
    "search of objects": lambda y: modelsel.SelectionCV((DecisionTreeClassifier(), {}), cv=3).fit(X, y),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", TARGETS)
def test_a_target_is_refused_in_the_words_of_a_study(name: str, door: str) -> None:
    y, code = TARGETS[name]
    with pytest.raises(ValueError, match=rf"^{code}: .*, y; \w") as found:
        DOORS[door](y)
    assert found.value.__cause__ is None


@pytest.mark.parametrize("name", [name for name, (y, _) in TARGETS.items() if np.shape(y) == (N,)])
def test_a_study_has_the_same_code(name: str) -> None:
    y, code = TARGETS[name]
    with pytest.raises(ModelselError, match=code):
        modelsel.plan(X.assign(y=y), target="y", space="stump")


@pytest.mark.parametrize("door", ["regressor", "search"])
def test_texts_are_no_numbers(door: str) -> None:
    fit = {
        "regressor": lambda y: modelsel.regressor("mean").fit(X, y),
        "search": lambda y: modelsel.SelectionCV("mean", cv=3, task="regression").fit(X, y),
    }[door]
    with pytest.raises(ValueError, match=r"MSEL-327: not a number: 'p', 'q' in 30 rows .*, y; give plain numbers"):
        fit(each(lambda row: "pq"[row % 2]))
    with pytest.raises(ValueError, match=r"MSEL-320: missing target in 1 rows \(row 3; the first row is 0\), y; give them"):
        fit(np.where(np.arange(N) == 3, np.nan, np.arange(N) * 1.5))


def test_labels_of_a_type_that_only_some_doors_read_are_told_how_to_be_written() -> None:
    for y in (pd.Series(pd.period_range("2020", periods=2).repeat(N // 2)), np.array([0.5, 1.5] * (N // 2))):
        with pytest.raises(ValueError, match=r"MSEL-365: .* are not classes, y; make them texts"):
            modelsel.classifier("stump").fit(X, y)


def test_objects_are_given_labels_of_arrow_as_an_array() -> None:
    y = ["p", "q"] * (N // 2)
    search = modelsel.SelectionCV((DecisionTreeClassifier(random_state=0), {}), cv=3)
    assert search.fit(X, pa.array(y)).best_score_ == search.fit(X, np.array(y)).best_score_


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_folds_that_classes_are_too_small_for_say_which() -> None:
    alone, few = each(lambda row: f"id{row}"), each(lambda row: "b" if row == 4 else f"c{row % 8}")
    for y, code in ((alone, "MSEL-324"), (few, "MSEL-326")):
        with pytest.raises(ValueError, match=rf"{code}: .*folds without strata"):
            modelsel.SelectionCV("stump", cv=5).fit(X, y)


def test_what_is_wrong_with_the_columns_is_not_put_on_the_target() -> None:
    with pytest.raises(ValueError, match=r"infinity|MSEL-346"):
        modelsel.classifier("stump").fit(np.where(np.arange(2 * N).reshape(N, 2) == 5, np.inf, 1.0), HALF)
    for wrong in (np.full((N, 2), b"a", object), None, [{"a": 1}] * N):
        with pytest.raises((ValueError, TypeError)) as found:
            modelsel.classifier("stump").fit(wrong, HALF)
        assert ", y; " not in str(found.value)
