"""Slices are found where there are some, and not where there are none; counts, intervals and p are those of other tools."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from modelsel.core.fingerprint import generator
from modelsel.core.selection import Assessed
from modelsel.core.types import Feature, Task
from modelsel.explanation.explain import _slices
from modelsel.explanation.weak_slices import QUARTERS, RowErrors, _quarters, declared_slices, half, off_by, weak_slices
from tests.extras import needs


def rows_of(n, rng, errors):
    """Three numbers and a name; `errors` gives the chance to be wrong from them."""
    values = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 4, n)])
    features = (*(Feature(f"x{i}", "numeric") for i in range(3)), Feature("job", "nominal", tuple("abcd")))
    task = Task(name="rows", features=features, values=np.asfortranarray(values), rows=np.arange(n), classes=("n", "y"),
                target=np.zeros(n, np.int32))  # fmt: skip
    return task, rng.random(n) < errors(values)


def test_a_slice_that_is_there_is_found_and_named():
    task, wrong = rows_of(2000, np.random.default_rng(0), lambda v: np.where((v[:, 0] > 0.5) & (v[:, 3] == 2), 0.6, 0.1))
    found = weak_slices(task, RowErrors(wrong), 0)
    worst = found["slices"][0]
    assert "job = c" in worst["slice"]
    assert "x0 > 0." in worst["slice"]
    assert worst["adjusted"] < 1e-6
    assert worst["low"] < 0.6 < worst["high"]


def test_the_rows_that_test_had_no_part_in_finding():
    """Errors changed in the half that tests change its counts, and leave the slices as they are."""
    task, wrong = rows_of(600, np.random.default_rng(1), lambda v: np.where(v[:, 1] > 0.8, 0.5, 0.1))
    found = weak_slices(task, RowErrors(wrong), 0)
    finding = generator(0, task.fingerprint, "slices").permutation(600) % 2 == 0
    changed = np.where(finding, wrong, ~wrong)
    other = weak_slices(task, RowErrors(changed), 0)
    assert [line["slice"] for line in other["slices"]] == [line["slice"] for line in found["slices"]] != []
    assert [line["wrong"] for line in other["slices"]] == [line["rows"] - line["wrong"] for line in found["slices"]]
    assert found["rows"] == (~finding).sum()


@pytest.mark.slow
def test_counts_p_and_holm_of_the_found_slices_are_by_hand_the_same():
    statsmodels = needs("statsmodels.stats.proportion")
    from statsmodels.stats.multitest import multipletests

    for seed in range(3):
        task, wrong = rows_of(800, np.random.default_rng(seed), lambda v: 0.1 + 0.3 * (v[:, 2] > 0.5))
        found = weak_slices(task, RowErrors(wrong), seed)
        lines, total, errors = found["slices"], found["rows"], found["wrong"]
        assert lines
        for line in lines:
            n, k = line["rows"], line["wrong"]
            expected = fisher_exact([[k, n - k], [errors - k, total - n - errors + k]], alternative="greater").pvalue
            assert line["p"] == pytest.approx(expected, rel=1e-9)
            interval = statsmodels.proportion_confint(k, n, 0.05, "beta")
            assert (line["low"], line["high"]) == pytest.approx(interval, nan_ok=False)
        adjusted = multipletests([line["p"] for line in lines], method="holm")[1]
        assert [line["adjusted"] for line in lines] == pytest.approx(adjusted.tolist())


def test_declared_levels_are_all_there_with_statsmodels_intervals():
    statsmodels = needs("statsmodels.stats.proportion")
    task, wrong = rows_of(500, np.random.default_rng(4), lambda v: np.full(len(v), 0.2))
    holed = task.values.copy()
    holed[::50, 3] = np.nan
    task = task.with_features(task.features, holed)
    found = declared_slices(task, RowErrors(wrong), ["job", "x1"])
    names = [line["slice"] for line in found["slices"]]
    assert names[:5] == ["job = a", "job = b", "job = c", "job = d", "job is missing"]
    assert len(names) == 9
    assert sum(line["rows"] for line in found["slices"][:5]) == sum(line["rows"] for line in found["slices"][5:]) == 500
    for line in found["slices"]:
        interval = statsmodels.proportion_confint(line["wrong"], line["rows"], 0.05, "beta")
        assert (line["low"], line["high"]) == pytest.approx([max(0.0, interval[0]), min(1.0, interval[1])])
    inside = task.values[:, 3] == 1
    table = [[wrong[inside].sum(), (~wrong[inside]).sum()], [wrong[~inside].sum(), (~wrong[~inside]).sum()]]
    assert found["slices"][1]["p"] == pytest.approx(fisher_exact(table).pvalue)


@pytest.mark.parametrize("table", ["cancer", "wine", "iris"])
def test_slices_of_real_tables_have_the_figures_of_scipy_and_statsmodels(table, tables):
    """Out-of-fold errors of scikit-learn's tree; quarters of two columns, counted by pandas."""
    proportion = needs("statsmodels.stats.proportion")
    multiple = needs("statsmodels.stats.multitest")
    task = tables[table]
    said = cross_val_predict(DecisionTreeClassifier(max_depth=2, random_state=0), task.values, task.target, cv=5)
    wrong = said != task.target
    names = [feature.name for feature in task.features[:2]]
    lines = declared_slices(task, RowErrors(wrong), names)["slices"]
    expected = []
    for column in range(2):
        quarter = pd.qcut(task.values[:, column], 4, duplicates="drop")
        for part in quarter.categories:
            inside = quarter == part
            k, n = int(wrong[inside].sum()), int(inside.sum())
            p = fisher_exact([[k, n - k], [int(wrong.sum()) - k, len(wrong) - n - int(wrong.sum()) + k]]).pvalue
            low, high = proportion.proportion_confint(k, n, 0.05, "beta")
            expected.append((n, k, float(np.nan_to_num(low)), 1.0 if np.isnan(high) else float(high), float(p)))
    assert [(one["rows"], one["wrong"]) for one in lines] == [one[:2] for one in expected]
    for one, other in zip(lines, expected, strict=True):
        assert (one["low"], one["high"], one["p"]) == pytest.approx(other[2:])
    adjusted = multiple.multipletests([one[4] for one in expected], method="holm")[1]
    assert [one["adjusted"] for one in lines] == pytest.approx(adjusted.tolist())


def numbers_of(n, rng, spread):
    """The same rows with a number as target; `spread` gives the standard deviation of an error from the values."""
    task, _ = rows_of(n, rng, lambda v: np.zeros(len(v)))
    return task, np.abs(spread(task.values) * rng.normal(size=n))


def test_of_numbers_a_slice_of_larger_errors_is_found_and_its_mean_error_is_pandas():
    task, away = numbers_of(2000, np.random.default_rng(0), lambda v: np.where((v[:, 0] > 0.5) & (v[:, 3] == 2), 900.0, 100.0))
    errors = off_by(away, 1e6)
    assert errors.tolerance == pytest.approx(np.quantile(away, 0.75), rel=0.01)
    found = weak_slices(task, errors, 0)
    worst = found["slices"][0]
    assert "job = c" in worst["slice"]
    assert "x0 > 0." in worst["slice"]
    assert worst["adjusted"] < 1e-6
    testing = ~half(task, generator(0, task.fingerprint, "slices"))
    frame = pd.DataFrame(task.values[testing], columns=["x0", "x1", "x2", "job"]).assign(
        away=away[testing], off=away[testing] > errors.tolerance
    )
    terms = [part.split() for part in worst["slice"].split(" and ")]
    for name, sign, value in terms:
        other = "abcd".index(value) if name == "job" else float(value)
        frame = frame[
            {"=": frame[name] == other, "!=": frame[name] != other, "<=": frame[name] <= other, ">": frame[name] > other}[sign]
        ]
    assert (worst["rows"], worst["wrong"], worst["mae"]) == (
        len(frame),
        frame["off"].sum(),
        pytest.approx(frame["away"].mean()),
    )
    assert (found["rows"], found["mae"]) == (testing.sum(), pytest.approx(away[testing].mean()))


def test_of_numbers_declared_slices_are_those_of_pandas_and_fisher():
    task, away = numbers_of(400, np.random.default_rng(3), lambda v: 10 + 20.0 * (v[:, 3] == 1))
    found = declared_slices(task, off_by(away, 15.0), ["job"])
    assert (found["tolerance"], found["wrong"]) == (15.0, (away > 15).sum())
    frame = pd.DataFrame({"job": task.values[:, 3], "away": away, "off": away > 15})
    by = frame.groupby("job").agg(rows=("off", "size"), wrong=("off", "sum"), mae=("away", "mean"))
    for line, (code, own) in zip(found["slices"], by.iterrows(), strict=True):
        assert (line["rows"], line["wrong"]) == (own["rows"], own["wrong"])
        assert line["mae"] == pytest.approx(own["mae"])
        assert line["p"] == pytest.approx(fisher_exact(pd.crosstab(frame["job"] == code, frame["off"])).pvalue)


def test_a_tolerance_that_all_keep_or_none_gives_way_to_one_that_a_quarter_exceed():
    away = np.random.default_rng(2).exponential(size=1000)
    for stated in (0.5, 2.0):
        assert off_by(away, stated).tolerance == stated
    for stated in (None, 1e-4, 50.0):
        assert off_by(away, stated).wrong.mean() == pytest.approx(0.25, abs=0.01)
    assert not off_by(np.zeros(9), None).wrong.any()
    assert off_by(np.zeros(0), 1.0).tolerance == 0.0


def test_where_nobody_is_wrong_and_where_all_are_nothing_is_found():
    task, wrong = rows_of(200, np.random.default_rng(5), lambda v: np.zeros(len(v)))
    assert weak_slices(task, RowErrors(wrong), 0) == {"rows": 100, "wrong": 0, "slices": []}
    assert weak_slices(task, RowErrors(~wrong), 0)["slices"] == []


def test_few_rows_have_no_slices():
    task, wrong = rows_of(30, np.random.default_rng(6), lambda v: v[:, 0] > 0)
    assert weak_slices(task, RowErrors(wrong), 0)["slices"] == []


def test_groups_stay_whole_and_have_no_p():
    task, wrong = rows_of(600, np.random.default_rng(7), lambda v: np.where(v[:, 0] > 0, 0.5, 0.05))
    grouped = replace(task, groups=np.repeat(np.arange(60), 10))
    found = weak_slices(grouped, RowErrors(wrong), 0)
    assert found["rows"] % 10 == 0
    assert found["slices"][0]["p"] is found["slices"][0]["low"] is found["slices"][0]["adjusted"] is None
    assert found["slices"][0]["rate"] > 0.3


@pytest.mark.slow
def test_without_true_slices_one_is_found_in_at_most_five_percent():
    """Errors that hang on nothing: in 400 tables one or more adjusted p below .05 in no more than 5 % of them (+ 3 se)."""
    rng, alarms, tested = np.random.default_rng(8), 0, 0
    for seed in range(400):
        task, wrong = rows_of(300, rng, lambda v: np.full(len(v), 0.2))
        lines = weak_slices(task, RowErrors(wrong), seed)["slices"]
        tested += bool(lines)
        alarms += any(line["adjusted"] <= 0.05 for line in lines)
    assert tested > 350
    assert alarms / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_few_values_are_slices_each_and_more_are_quarters() -> None:
    few = _quarters(Feature("x", "numeric"), np.repeat(np.arange(float(QUARTERS)), 5))
    assert [name for name, _ in few] == [f"x = {value}" for value in range(QUARTERS)]
    more = _quarters(Feature("x", "numeric"), np.repeat(np.arange(QUARTERS + 1.0), 5))
    assert not any(" = " in name for name, _ in more)
    assert np.sum([mask for _, mask in more], axis=0).tolist() == [1] * 5 * (QUARTERS + 1)


def test_rows_that_no_fold_has_assessed_are_in_no_slice() -> None:
    task, _ = rows_of(200, np.random.default_rng(0), lambda v: np.zeros(len(v)))
    said = np.where(np.arange(200) % 2, np.arange(200) % 3 == 0, -1).astype(np.int32)  # every other row; 1 is wrong
    selection = SimpleNamespace(assessed=Assessed(("w",), task.target, said[None]))
    of = SimpleNamespace(task=task, selection=selection, seed=0, tolerance=None)
    lines = _slices(of, False, ["job"])["declared_slices"]["slices"]  # type: ignore[arg-type]
    job = task.values[:, 3]
    assert [line["rows"] for line in lines] == [((said >= 0) & (job == level)).sum() for level in range(4)]
    assert [line["wrong"] for line in lines] == [((said == 1) & (job == level)).sum() for level in range(4)]
