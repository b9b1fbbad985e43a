"""A winner of another library as ONNX: onnxruntime answers what the stored model answers, row by row."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.config.build import build as built
from modelsel.core.errors import ConfigurationError
from modelsel.core.types import Candidate
from modelsel.foreign.libraries import CONVERTED
from modelsel.learner.estimator import Estimator
from modelsel.planning.exports import formats
from modelsel.record.model import load
from modelsel.tree.nested import from_dict
from tests.extras import needs

runtime = needs("onnxruntime")
for package in ("skl2onnx", "onnxmltools", "lightgbm", "xgboost"):
    needs(package)

SETTINGS: dict[str, dict[str, Any]] = {
    "sklearn.linear_model.LogisticRegression": {"scale": "deviation"},
    "sklearn.ensemble.RandomForestClassifier": {"params": {"n_estimators": 7}},
    "sklearn.ensemble.ExtraTreesClassifier": {"params": {"n_estimators": 7}, "missing": "median"},
    "sklearn.neural_network.MLPClassifier": {"params": {"max_iter": 30}, "scale": "deviation"},
    "sklearn.ensemble.GradientBoostingClassifier": {"params": {"n_estimators": 7}},
    "sklearn.tree.DecisionTreeClassifier": {"encoding": "ordinal"},
    "sklearn.tree.ExtraTreeClassifier": {"missing": "median"},
    "sklearn.naive_bayes.GaussianNB": {},
    "lightgbm.LGBMClassifier": {"params": {"n_estimators": 7}, "encoding": "one_hot"},
    "xgboost.XGBClassifier": {"params": {"n_estimators": 7}, "encoding": "ordinal"},
}


def people(classes: int, rows: int = 160) -> pd.DataFrame:
    """Numbers (of which single precision knows the digits), levels and ranks, each with gaps."""
    rng = np.random.default_rng(classes)
    table = pd.DataFrame({
        "age": rng.integers(0, 4096, rows) / 64,
        "town": rng.choice(["Aix", "Bern", "Cork"], rows),
        "rank": pd.Categorical(rng.choice(["low", "mid", "high"], rows), ["low", "mid", "high"], ordered=True),
    })  # fmt: skip
    merit = table["age"] / 64 + (table["town"] == "Bern") + (table["rank"] == "high") + rng.normal(size=rows) / 4
    names = np.array(["no", "perhaps", "yes"][3 - classes :])
    table["y"] = names[np.digitize(merit, [0.7, 1.4][2 - (classes - 1) :])]
    table.loc[::11, "age"], table.loc[::13, "town"], table.loc[::17, "rank"] = np.nan, None, np.nan
    return table


def fed(table: pd.DataFrame, session: Any) -> dict[str, Any]:
    """The columns as the graph wants them: NaN or the empty text where nothing stands."""
    found = {}
    for one in session.get_inputs():
        column = table[one.name]
        if "double" in one.type:
            found[one.name] = column.to_numpy(np.float64)[:, None]
        else:
            found[one.name] = column.astype(object).where(column.notna(), "").to_numpy(object)[:, None]
    return found


@pytest.fixture
def fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))

    def fit(table: pd.DataFrame, learner: Any, **more: Any) -> Any:
        asked = {"scheme": "holdout", "split": "none", "tracking": "off", "pool": "sequential"}
        return modelsel.run(table, target="y", space={"one": {"learner": learner, **more}}, **asked)

    return fit


def test_every_class_that_is_said_to_be_convertible_is_compared() -> None:
    assert {f"{name.partition('.')[0]}.{name.rpartition('.')[2]}" for name in SETTINGS} == CONVERTED


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", SETTINGS)
def test_onnxruntime_answers_what_the_model_answers(fitted: Any, name: str, classes: int) -> None:
    table = people(classes)
    outcome = fitted(table, {"kind": "estimator", "estimator": name, **SETTINGS[name]})
    session = runtime.InferenceSession(outcome.export("onnx"))
    new = people(classes, 300)
    new.loc[5, "town"] = "Delft"  # never seen
    predictor = load(Path(outcome.folder) / "model")
    rows = predictor.table({column: list(new[column]) for column in new})
    predicted, scores = session.run(["prediction", "scores"], fed(new, session))
    assert predicted.tolist() == predictor.predict(rows).tolist()
    np.testing.assert_allclose(scores, predictor.scores(rows), atol=2e-6)


def complete(rows: int = 160) -> pd.DataFrame:
    """The same people without a gap."""
    table = people(3, 2 * rows)
    return table[table.notna().all(axis=1)].head(rows).reset_index(drop=True)


def with_holes() -> pd.DataFrame:
    """Others, with a gap in every column in turns, and towns that nobody knew."""
    table = people(3, 300)
    table.loc[::4, "town"], table.loc[1::5, "age"], table.loc[2::7, "rank"] = None, np.nan, np.nan
    table.loc[3::9, "town"] = "Delft"
    return table


EVERY: dict[str, dict[str, Any]] = {
    **{name: {"kind": "estimator", "estimator": name, **settings} for name, settings in SETTINGS.items()},
    "tree": {"kind": "tree"},
    "branch": {"kind": "tree", "missing": "branch", "splits": {"nominal": "equality"}},
    "cart": {"kind": "tree", "missing": "surrogate", "splits": {"nominal": "subset"}},
    "c45": {"kind": "tree", "missing": "fractional"},
    "forest": {"kind": "forest", "trees": 5},
    "naive_bayes": {"kind": "naive_bayes"},
    "knn": {"kind": "knn"},
}
FORMS = {
    "onnx": [*SETTINGS, "tree", "branch", "forest"],
    "sql": ["tree", "branch", "cart", "c45"],
    "json": ["tree", "branch"],
}
FORMS["pyfunc"] = [*EVERY]


def by_onnx(outcome: Any, new: pd.DataFrame) -> list[Any]:
    session = runtime.InferenceSession(outcome.export("onnx"))
    return list(session.run(["prediction"], fed(new, session))[0])


def by_sql(outcome: Any, new: pd.DataFrame) -> list[Any]:
    with closing(sqlite3.connect(":memory:")) as store:
        new.astype({"rank": object}).to_sql("rows", store, index=False)
        return [row[-1] for row in store.execute(outcome.export("sql"))]


def by_json(outcome: Any, new: pd.DataFrame) -> list[Any]:
    """The tree read back from its JSON, its missing values sent as the model sends them."""
    predictor = load(Path(outcome.folder) / "model")
    cut = predictor.model.cut
    again = from_dict(json.loads(outcome.export("json")))
    tree = replace(again.tree, missing_to=cut.tree.missing_to)
    model = replace(predictor.model, cut=replace(again, tree=tree))
    return replace(predictor, model=model).predict(predictor.table({name: list(new[name]) for name in new})).tolist()


def by_pyfunc(outcome: Any, new: pd.DataFrame) -> list[Any]:
    """Through the columns of MLflow's signature."""
    import mlflow

    return mlflow.pyfunc.load_model(str(Path(outcome.folder) / "model")).predict(new.astype({"rank": object})).tolist()


def test_a_gap_in_a_column_that_was_complete_does_not_swamp_gaussians(fitted: Any) -> None:
    """The column of gaps was constant: its term is 10⁹ for all classes, and leaves single precision no other digit."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 11, 400)
    known = pd.DataFrame(rng.normal(size=(400, 4)) * 0.7 + classes[:, None] * [0.3, 0.2, -0.2, 0.1], columns=list("abcd"))
    known["town"], known["y"] = rng.choice(["Aix", "Bern"], 400), [f"c{one:02}" for one in classes]
    outcome = fitted(known, EVERY["sklearn.naive_bayes.GaussianNB"])
    new = known.astype({"town": object})
    new.loc[::2, "town"] = None
    predictor = load(Path(outcome.folder) / "model")
    expected = predictor.predict(predictor.table({name: list(new[name]) for name in new}))
    assert by_onnx(outcome, new) == expected.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_every_exporter_takes_gaps_in_columns_that_were_complete(fitted: Any, name: str) -> None:
    outcome, new = fitted(complete(), EVERY[name]), with_holes()
    predictor = load(Path(outcome.folder) / "model")
    expected = predictor.predict(predictor.table({column: list(new[column]) for column in new})).tolist()
    assert len(set(expected)) > 1
    for form, by in (("onnx", by_onnx), ("sql", by_sql), ("json", by_json), ("pyfunc", by_pyfunc)):
        if name in FORMS[form]:
            assert by(outcome, new) == expected, form


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        ({"kind": "estimator", "estimator": "sklearn.neighbors.KNeighborsClassifier"}, "KNeighborsClassifier has no form"),
        ({"kind": "estimator", "estimator": "sklearn.naive_bayes.GaussianNB", "encoding": "target"}, "encoding=target"),
        ({"kind": "estimator", "estimator": "lightgbm.LGBMClassifier", "params": {"n_estimators": 2}}, "encoding=native"),
    ],
)
def test_what_has_no_form_is_refused_by_name_and_not_promised_by_a_plan(fitted: Any, learner: Any, said: str) -> None:
    outcome = fitted(people(2), learner)
    with pytest.raises(ConfigurationError, match=f"MSEL-255: .*{said}"):
        outcome.export("onnx")
    asked = {name: learner[name] for name in ("estimator", "encoding") if name in learner}
    assert "onnx" not in formats(Candidate(Estimator(**asked)))


def test_a_plan_promises_what_is_compared() -> None:
    for name, settings in SETTINGS.items():
        asked = {"estimator": name, **({"encoding": settings["encoding"]} if "encoding" in settings else {})}
        assert formats(Candidate(Estimator(**asked))) == ("onnx",)


def test_steps_before_an_estimator_are_refused_by_name_and_not_promised_by_a_plan(fitted: Any) -> None:
    learner = {"kind": "estimator", "estimator": "sklearn.linear_model.LogisticRegression"}
    steps = {"numeric": ["SimpleImputer", "StandardScaler"]}
    outcome = fitted(people(2), learner, steps=steps)
    with pytest.raises(ConfigurationError, match=r"MSEL-255: .*prepared before the estimator sees them \(steps, preparer\)"):
        outcome.export("onnx")
    made, before = built({**learner, "steps": steps})
    assert len(before) > 0
    assert formats(Candidate(made)) == ("onnx",)
    assert formats(Candidate(made, before)) == ()
