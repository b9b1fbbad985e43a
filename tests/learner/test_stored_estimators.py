"""A fitted estimator is read back whole: its own library's format, else skops, and never a pickle."""

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC

from modelsel.core.types import Description, Feature, Task, positions
from modelsel.foreign import stored
from modelsel.foreign.stored import NotStoredError, load_skops, skops
from modelsel.learner.estimator import Estimator
from tests.extras import needs

needs("skops")
FILES = {
    "lightgbm.LGBMClassifier": ({"n_estimators": 8, "min_child_samples": 5}, "lightgbm.txt"),
    "xgboost.XGBClassifier": ({"n_estimators": 8}, "xgboost.json"),
    "catboost.CatBoostClassifier": ({"iterations": 8, "learning_rate": 0.1}, "catboost.cbm"),
    "sklearn.ensemble.HistGradientBoostingClassifier": ({"max_iter": 8}, "fitted.skops"),
    "sklearn.ensemble.RandomForestClassifier": ({"n_estimators": 8}, "fitted.skops"),
    "sklearn.neural_network.MLPClassifier": ({"max_iter": 20}, "fitted.skops"),
    "sklearn.neighbors.KNeighborsClassifier": ({}, "fitted.skops"),
    "imblearn.ensemble.BalancedRandomForestClassifier": ({"n_estimators": 8}, "fitted.skops"),
}


def task(classes: int) -> Task:
    rng = np.random.default_rng(0)
    target = rng.integers(0, classes, 120)
    values = np.column_stack([rng.normal(target), rng.integers(0, 4, 120), (target + rng.integers(0, 2, 120)) % 3])
    values[rng.random(values.shape) < 0.05] = np.nan
    features = (Feature("x", "numeric"), Feature("n", "nominal", ("a", "b", "c")), Feature("o", "ordered", ("1", "2", "3")))
    return Task(name="t", features=features, values=values, rows=np.arange(120), classes=("A", "B", "C"),
                target=target.astype(np.int32))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["auto", "one_hot", "target"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("estimator", FILES)
def test_a_model_that_is_read_back_says_the_same_bit_for_bit(estimator, classes, encoding):
    needs(estimator.partition(".")[0])
    params, file = FILES[estimator]
    work = task(classes)
    model = Estimator(estimator, params, encoding).fit(work, positions(work), np.random.default_rng(1))
    description = model.describe()
    assert description.facts["stored"] == file
    facts = json.loads(json.dumps(dict(description.facts)))
    again = Estimator.restore(Description("estimator", facts, description.arrays))
    assert np.array_equal(again.scores(work), model.scores(work))
    assert np.array_equal(again.predict(work), model.predict(work))
    third = Estimator.restore(again.describe())
    assert np.array_equal(third.scores(work), model.scores(work))


def test_what_is_not_whole_is_refused():
    work = task(3)
    model = Estimator("sklearn.svm.LinearSVC").fit(work, positions(work), np.random.default_rng(1))
    facts, arrays = dict(model.describe().facts), dict(model.describe().arrays)
    changes: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"stored": "../../evil.skops"}, {}), ({"version": "scikit-learn 0.1"}, {}), ({}, {"own": np.array([0, 5, 9])}),
        ({"columns": {**facts["columns"], "places": [0]}}, {}), ({"classes": "3"}, {}),
        ({}, {"file:fitted.skops": np.frombuffer(skops([1, 2]), np.uint8)}),
    ]  # fmt: skip
    for changed, others in changes:
        with pytest.raises(ValueError):
            Estimator.restore(Description("estimator", {**facts, **changed}, {**arrays, **others}))


class Evil(SVC):
    """A class of no allowed package."""


def test_a_skops_file_with_a_type_of_elsewhere_is_neither_written_nor_read():
    fitted = Evil().fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(NotStoredError, match="could not be read back safely"):
        skops_of(fitted)
    with pytest.raises(NotStoredError, match="types that are not allowed"):
        load_skops(needs("skops.io").dumps(fitted))


def skops_of(fitted: Any) -> bytes:
    return skops(fitted)


def test_without_skops_the_recipe_is_kept_with_the_reason(monkeypatch):
    work = task(3)
    monkeypatch.setattr(stored, "has_skops", lambda: False)
    model = Estimator("sklearn.svm.SVC").fit(work, positions(work), np.random.default_rng(1))
    description = model.describe()
    assert "pip install 'modelsel[skops]'" in description.facts["unstored"]
    recipe = Estimator.restore(description)
    assert np.array_equal(recipe.refit(work, positions(work)).predict(work), model.predict(work))


ASK = """
import sys, csv
from pathlib import Path
from modelsel.record.model import load
predictor = load(Path(sys.argv[1]))
rows = list(csv.DictReader(open(sys.argv[2])))
print(",".join(predictor({name: [row[name] for row in rows] for name in rows[0] if name != "class"})))
"""
MLFLOW = """
import sys, pandas, mlflow.pyfunc
print(",".join(mlflow.pyfunc.load_model(sys.argv[1]).predict(pandas.read_csv(sys.argv[2]).drop(columns="class"))))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        ("learner=lightgbm", "learner.params.n_estimators=10"),
        ("learner=xgboost", "learner.params.n_estimators=10"),
        ("learner=catboost", "learner.params.iterations=10"),
        (
            "learner=logistic_regression",
            "learner.steps={numeric: [SimpleImputer, StandardScaler, {kind: PCA, n_components: 3}]}",
        ),
    ],
    ids=lambda one: one[0],
)
def test_a_fresh_process_predicts_what_the_study_predicted(learner, tmp_path, monkeypatch):
    import modelsel

    if learner[0] != "learner=logistic_regression":
        needs(learner[0].partition("=")[2])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    from sklearn.datasets import load_wine

    frame = load_wine(as_frame=True).frame.rename(columns={"target": "class"})
    frame["class"] = "w" + frame["class"].astype(str)
    frame.to_csv("wine.csv", index=False)
    small = ("dataset=csv", "dataset.path=wine.csv", "dataset.target=class", "scheme.folds=3", "pool=sequential")
    outcome = modelsel.run(*small, *learner, "tracking=off", "guard=off")
    expected = outcome.model.predict(frame.drop(columns="class")).tolist()
    Path("wine.csv").rename("elsewhere.csv")  # no development rows to fit again on
    assert not list(Path("runs").rglob("*.pickle"))
    for code in (ASK, MLFLOW):
        done = subprocess.run([sys.executable, "-c", code, str(Path(outcome.folder) / "model"), "elsewhere.csv"],
                              capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip().split(",") == expected


def test_a_pickle_is_written_only_where_it_is_allowed_and_never_read(tmp_path):
    from modelsel.core.types import Table
    from modelsel.record.facts import FinalModel
    from modelsel.record.model import load, save

    work = task(3)
    model = Estimator("sklearn.svm.SVC").fit(work, positions(work), np.random.default_rng(1))
    facts = {
        name: value for name, value in model.describe().facts.items() if name not in ("stored", "columns", "nominal", "classes")
    }
    example = Table(name="t", features=work.features, values=work.values[:5], rows=np.arange(5))
    for pickled in (None, model.estimator):
        final = FinalModel(work.features, work.classes, Description("estimator", facts), (), example, pickled=pickled)
        folder = save(tmp_path / str(pickled is None), final, "0")
        assert (folder / "data/estimator.pickle").exists() == (pickled is not None)
        assert load(folder).is_recipe
    assert pickle.loads((folder / "data/estimator.pickle").read_bytes()).predict(np.zeros((1, 6))).shape == (1,)
