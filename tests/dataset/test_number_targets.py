"""When a target is taken for a number, what is said of it, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from modelsel.core.errors import DataError
from modelsel.core.types import ClassTask, NumberTask
from modelsel.dataset.read_table import read_table
from modelsel.dataset.targets import read_as

RNG = np.random.default_rng(0)
X = RNG.normal(size=60)


def load(target, task="auto", **settings):
    with read_as(task):
        return read_table(pd.DataFrame({"x": X[: len(target)], "y": target}), target="y", **settings)


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (RNG.normal(size=60), NumberTask),  # fractions: MSEL-323
        (RNG.permutation(60) * 1000, NumberTask),  # nearly as many values as rows: MSEL-324
        ([*range(25), *([1] * 35)], NumberTask),  # one row of a value, of more than twenty: MSEL-326
        (RNG.integers(0, 3, 60), ClassTask),
        (np.tile([0.0, 1.0], 30), ClassTask),
        (np.repeat(np.arange(15), 4), ClassTask),
        (np.tile(["a", "b"], 30), ClassTask),
    ],
)
def test_auto_takes_numbers_exactly_where_classes_were_refused(target, kind):
    assert type(load(target)) is kind


def test_whole_numbers_may_be_declared_a_quantity():
    assert load(np.repeat(np.arange(15), 4), task="regression").target.tolist() == np.repeat(np.arange(15.0), 4).tolist()


def test_everything_that_is_wrong_with_numbers_is_told_at_once():
    target = ["1.5", "many", "", "inf", *(str(i / 7) for i in range(56))]
    with pytest.raises(DataError) as told:
        load(target, task="regression")
    assert {problem.code for problem in told.value.problems} >= {"MSEL-320", "MSEL-322", "MSEL-327"}
    with pytest.raises(DataError) as told:
        load([2.5] * 60, task="regression")
    assert [problem.code for problem in told.value.problems] == ["MSEL-321"]


def test_classes_that_were_asked_for_are_refused_as_before():
    with pytest.raises(DataError) as told:
        load(RNG.normal(size=60), task="classification")
    assert told.value.problems[0].code == "MSEL-323"


def test_twenty_numbers_of_which_one_has_a_single_row_are_still_classes() -> None:
    with pytest.raises(DataError, match="MSEL-326"):
        load([*range(20), *([1] * 40)])
    assert isinstance(load([*range(21), *([1] * 39)]), NumberTask)


@pytest.mark.parametrize("kind", ["nominal", "ordered"])
def test_numbers_that_were_declared_classes_are_not_taken_for_a_quantity(kind: str) -> None:
    with pytest.raises(DataError, match="MSEL-324"):
        load(RNG.permutation(60), features={"y": kind})
