"""Scores and selections worked out by hand, and chi-square by SciPy."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from modelsel.core.types import Description, Feature, positions
from modelsel.preparer.impute import Impute
from modelsel.preparer.select_top import SelectTop, chi_square, gain_ratio, merits

NOTHING = np.random.default_rng(0)


def test_chi_square_is_that_of_scipy():
    joint = np.array([[3.0, 7.0], [5.0, 2.0], [1.0, 4.0]])
    assert chi_square(joint, 0.0) == pytest.approx(chi2_contingency(joint, correction=False)[0])
    assert chi_square(np.array([[0.0, 0.0], [4.0, 2.0]]), 0.0) == 0.0


def test_a_missing_value_is_one_more_outcome_of_the_split():
    joint = np.array([[2.0, 0.0], [0.0, 2.0]])
    assert gain_ratio(joint, 4.0) == pytest.approx(0.5 / 1.5)  # gain 1 · ½ known; E(2, 2, 4) = 1.5


def test_equal_scores_go_by_column_order_and_columns_keep_theirs(task_of):
    values = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0]], float)
    task = task_of([Feature(n, "nominal", ("a", "b")) for n in "fgh"], values, [0, 0, 1, 1])
    assert SelectTop(n=1).fit(task, positions(task), NOTHING).columns.tolist() == [0]
    assert SelectTop(n=2).fit(task, positions(task), NOTHING).columns.tolist() == [0, 2]
    assert SelectTop(threshold=0.9).fit(task, positions(task), NOTHING).columns.tolist() == [0, 2]
    assert SelectTop(threshold=1.0).fit(task, positions(task), NOTHING).columns.tolist() == [0]


def test_a_number_without_an_accepted_cut_scores_nothing(mixed):
    scores = merits(mixed(7), np.arange(60), "gain")
    assert scores[0] > 0
    assert scores[4] == 0


def test_a_selection_of_everything_is_said():
    assert list(SelectTop().problems()) == ["select_top keeps everything: set n or threshold"]


@pytest.mark.parametrize("columns", [[2, 1], [-1], [0.5], [[1]]])
def test_a_damaged_description_is_refused(columns):
    with pytest.raises(ValueError):
        SelectTop.restore(Description("select_top", {}, {"columns": np.array(columns)}))


def test_what_is_usual_replaces_what_is_missing(task_of):
    features = [Feature("x", "numeric"), Feature("f", "nominal", ("a", "b", "c")), Feature("y", "numeric")]
    values = [[1, 0, np.nan], [2, 2, np.nan], [9, 2, np.nan], [10, np.nan, np.nan], [np.nan, 0, np.nan]]
    task = task_of(features, values, [0] * 5)
    assert Impute().fit(task, positions(task), NOTHING).apply(task).values[4, 0] == 2.0
    after = Impute(numeric="mean").fit(task, positions(task), NOTHING).apply(task).values
    assert after[4, 0] == 5.5
    assert after[3, 1] == 0.0
    assert np.isnan(after[:, 2]).all()
