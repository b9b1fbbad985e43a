"""A scikit-learn model from selection to prediction: only its recipe is on record, and it is fitted again, said aloud."""

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from tests.extras import needs

SMALL = ("dataset=csv", "dataset.path=wine.csv", "dataset.target=class", "scheme.folds=3", "pool=sequential")
FOREST = ("learner=sklearn", "learner.estimator=RandomForestClassifier", "learner.params.n_estimators=15")


@pytest.fixture
def wine(modelsel: Any) -> Path:
    """The wine data as a CSV where the command runs."""
    bunch = load_wine()
    with open("wine.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*bunch.feature_names, "class"])
        writer.writerows([*row, f"w{label}"] for row, label in zip(bunch.data.tolist(), bunch.target))
    return Path("wine.csv")


@pytest.mark.slow
def test_a_forest_is_selected_tested_and_predicts_from_its_recipe(modelsel: Any, wine: Path) -> None:
    done = modelsel("run", *SMALL, "space=[random_forest,cart]", "tracking=off")
    assert done.code == 0, done.err
    assert {row["entry"] for row in _rows(Path("runs/latest/candidates.csv"))} == {"random_forest", "cart"}
    assert modelsel("run", *SMALL, *FOREST).code == 0
    kept = json.loads(Path("runs/latest/model/data/model.json").read_text())["learner"]
    assert kept["facts"]["learner"]["params"] == {"n_estimators": 15}
    assert set(kept["facts"]) == {"learner", "random_state", "rows", "version"}
    first, second = (modelsel("predict", "latest", "wine.csv") for _ in range(2))
    assert first.code == 0, first.err
    assert first.out == second.out
    assert "fitted again on the 125 development rows" in first.err
    said = [line.split(",")[0] for line in first.out.splitlines()[1:]]
    truth = [row["class"] for row in _rows(wine)]
    assert np.mean(np.array(said) == np.array(truth)) > 0.97  # 125 of the 178 rows are those it was fitted on


@pytest.mark.slow
def test_a_closed_test_is_opened_with_the_answer_that_the_study_would_have_given(modelsel: Any, wine: Path) -> None:
    assert modelsel("run", *SMALL, *FOREST).code == 0
    at_once = modelsel("predict", "latest", "wine.csv").out, _tested()
    assert modelsel("run", *SMALL, *FOREST, "final_test=false").code == 0
    later = modelsel("test", "latest")
    assert later.code == 0, later.err
    assert "fitted again" in later.err
    assert (modelsel("predict", "latest", "wine.csv").out, _tested()) == at_once


@pytest.mark.slow
def test_without_the_development_rows_nothing_is_predicted(modelsel: Any, wine: Path) -> None:
    assert modelsel("run", *SMALL, *FOREST).code == 0
    new = wine.rename("new.csv")
    gone = modelsel("predict", "latest", "new.csv")
    assert gone.code == 2
    assert "only a recipe of the model was kept" in gone.err
    assert "wine.csv" in gone.err
    lines = new.read_text().splitlines()
    wine.write_text("\n".join(lines[:-1]))
    other = modelsel("predict", "latest", "new.csv")
    assert other.code == 3
    assert "not those of the study" in other.err


@pytest.mark.slow
def test_another_scikit_learn_does_not_fit_the_recipe(modelsel: Any, wine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert modelsel("run", *SMALL, *FOREST).code == 0
    monkeypatch.setattr("sklearn.__version__", "0.1")
    done = modelsel("predict", "latest", "wine.csv")
    assert done.code == 3
    assert "this is 0.1" in done.err


@pytest.mark.slow
def test_what_mlflow_loads_says_what_it_needs(modelsel: Any, wine: Path) -> None:
    pandas, pyfunc = pytest.importorskip("pandas"), pytest.importorskip("mlflow.pyfunc")
    assert modelsel("run", *SMALL, *FOREST).code == 0
    loaded = pyfunc.load_model("runs/latest/model")
    with pytest.raises(Exception, match=r"only the recipe of this RandomForestClassifier.*development rows"):
        loaded.predict(pandas.read_csv(wine).drop(columns="class"))


@pytest.mark.slow
def test_a_fitted_estimator_is_stored_where_the_person_asks_for_it(modelsel: Any, wine: Path) -> None:
    """skops reads it back, with the types the reader trusts, and it says what the recipe says when it is fitted again."""
    assert modelsel("run", *SMALL, *FOREST, "tracking=sqlite", "tracking.allow_skops=true").code == 0
    file = Path("runs/latest/model/data/estimator.skops")
    skops = needs("skops.io")
    stored = skops.load(file, trusted=skops.get_untrusted_types(file=file))
    rows = _rows(wine)
    matrix = np.array([[float(value) for key, value in row.items() if key != "class"] for row in rows])
    assert modelsel("predict", "latest", "wine.csv", "-o", "said.csv").code == 0
    classes = json.loads(Path("runs/latest/study.json").read_text())["task"]["classes"]
    assert [classes[one] for one in stored.predict(matrix)] == [row["prediction"] for row in _rows(Path("said.csv"))]
    sums = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=file.parent, capture_output=True, text=True, check=True)
    assert "estimator.skops: OK" in sums.stdout
    file.write_bytes(file.read_bytes()[:-1])
    assert modelsel("predict", "latest", "wine.csv").code == 3


@pytest.mark.slow
def test_only_the_recipe_is_kept_otherwise_and_skops_is_asked_for_before_anything_runs(
    modelsel: Any, wine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert modelsel("run", *SMALL, *FOREST).code == 0
    assert not list(Path("runs").rglob("*.skops"))
    monkeypatch.setattr("modelsel.config.settings.find_spec", lambda _: None)
    done = modelsel("run", *SMALL, *FOREST, "tracking=sqlite", "tracking.allow_skops=true", "name=other")
    assert done.code == 2
    assert "pip install 'modelsel[skops]'" in done.err
    assert not Path("runs/other").exists()


def _tested() -> tuple[float, int]:
    test = json.loads(Path("runs/latest/study.json").read_text())["test"]
    return test["score"], test["errors"]


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))
