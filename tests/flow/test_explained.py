"""What a study says of its choice, asked for on the command line and kept in the run's folder."""

import csv
import json
from pathlib import Path

import pytest

from modelsel.record.folder import RunFolder

HEAD = "sepal length (cm),sepal width (cm),petal length (cm),petal width (cm)\n"


def explained() -> dict:
    return json.loads(Path("runs/latest/explanation.json").read_text())


@pytest.mark.slow
def test_importance_and_dependence_of_the_winner_and_of_an_entry(modelsel):
    asked = ("explanations={importance: true, candidates: [winner,cart], repeats: 2, dependence: true}",)
    done = modelsel("run", "dataset=iris", "space=[cart,naive_bayes]", "scheme.folds=3", *asked)
    assert done.code == 0, done.err
    found = explained()
    won = done.outcome.winner
    assert [one["entry"] for one in found["importance"]] == list(dict.fromkeys([won["entry"], "cart"]))
    assert found["importance"][0]["candidate"] == won["id"]
    best = found["importance"][0]["columns"][0]
    assert best["column"].startswith("petal")
    assert len(best["folds"]) == 3
    assert [one["column"] for one in found["dependence"]] == [one["column"] for one in found["importance"][0]["columns"]]
    assert "petal" in RunFolder.open("latest").report.read_text()


@pytest.mark.slow
def test_the_importance_of_all_processes_is_the_same(modelsel):
    asked = ("run", "dataset=iris", "learner=naive_bayes", "scheme.folds=3", "explanations={importance: true, repeats: 2}")
    assert modelsel(*asked, "pool=sequential").code == 0
    first = explained()["importance"]
    assert modelsel(*asked, "pool=threads").code == 0
    assert explained()["importance"] == first


def test_a_plan_counts_the_fits_and_names_are_checked_before_any(modelsel):
    planned = modelsel("plan", "dataset=iris", "learner=cart", "explanations.importance=true", "scheme.folds=5")
    assert "explanations 10 fits more: permutation importance of 1 candidate, with a noise column" in planned.out
    assert "impurity" not in planned.out
    assert "fits more" not in modelsel("plan", "dataset=iris", "learner=cart").out
    forest = modelsel("plan", "dataset=iris", "learner=forest", "explanations.importance=true").out
    assert "explanations 1 fit more: impurity importance of 1 forest, on all development rows" in forest
    wrong = modelsel("run", "dataset=iris", "learner=cart", "explanations.candidates=[crat]")
    assert wrong.code == 2
    assert "unknown candidate 'crat', explanations.candidates; did you mean 'cart'" in wrong.err


def test_a_fit_that_fails_costs_the_study_nothing(modelsel):
    """A learner that takes nominal columns alone: the noise column is one more of them, and no number."""
    asked = ("dataset=play_tennis", "learner=table", "split=none", "scheme.folds=2", "explanations.importance=true")
    done = modelsel("run", *asked)
    assert done.code == 0, done.err
    told = explained()["importance"][0]
    assert "failed" not in told, told


@pytest.mark.slow
def test_predict_tells_the_path_of_each_row(modelsel):
    assert modelsel("run", "dataset=iris", "learner=cart", "scheme.folds=3").code == 0
    Path("new.csv").write_text(HEAD + "5.1,3.5,1.4,0.2\n6.9,3.1,6.1,2.3\n")
    done = modelsel("predict", "latest", "new.csv", "--explain")
    assert done.code == 0, done.err
    rows = list(csv.DictReader(done.out.splitlines()))
    assert rows[0]["prediction"] in rows[0]["path"]
    assert "petal" in rows[0]["path"]
    assert rows[0]["path"] != rows[1]["path"]


def test_a_model_that_is_no_tree_has_no_paths(modelsel):
    assert modelsel("run", "dataset=iris", "learner=knn", "scheme.folds=3").code == 0
    Path("new.csv").write_text(HEAD + "5.1,3.5,1.4,0.2\n")
    done = modelsel("predict", "latest", "new.csv", "--explain")
    assert done.code == 2
    assert "MSEL-259: rows have paths in a tree, and the model is not one, --explain" in done.err


@pytest.mark.slow
def test_slices_are_searched_for_and_declared_ones_always_shown(modelsel):
    done = modelsel("run", "dataset=breast_cancer", "learner=cart", "scheme.folds=3", "slices=[mean radius]")
    assert done.code == 0, done.err
    found = explained()
    assert [line["column"] for line in found["declared_slices"]["slices"]] == ["mean radius"] * 4
    assert found["declared_slices"]["rows"] == done.outcome.task["development_rows"]
    page = RunFolder.open("latest").report.read_text()
    assert "Where it fails" in page
    assert "mean radius &gt;" in page
    assert modelsel("run", "dataset=iris", "learner=cart", "scheme.folds=3", "explanations.weak_slices=false").code == 0
    assert not Path("runs/latest/explanation.json").exists()
    assert "Where it fails" not in RunFolder.open("latest").report.read_text()


def test_a_declared_slice_that_is_no_column_is_refused_before_anything_runs(modelsel):
    done = modelsel("run", "dataset=breast_cancer", "learner=cart", "slices=[mean radus]")
    assert done.code == 2
    assert "there is no column 'mean radus': did you mean 'mean radius'?, slices" in done.err


@pytest.mark.slow
def test_a_learning_curve_of_the_winner_and_the_best_of_each_other_entry(modelsel):
    words = ("dataset=breast_cancer", "space=[cart,naive_bayes]", "scheme.folds=3", "curve=true")
    planned = modelsel("plan", *words)
    assert "explanations 24 fits more: learning curve of 2 candidates" in planned.out
    done = modelsel("run", *words)
    assert done.code == 0, done.err
    curve = explained()["curve"]
    assert curve["candidates"][0]["candidate"] == done.outcome.winner["id"]
    assert len({one["entry"] for one in curve["candidates"]}) == 2
    assert curve["candidates"][0]["points"][-1]["mean"] == pytest.approx(done.outcome.winner["cv"]["mean"])
    assert "Would more rows help?" in RunFolder.open("latest").report.read_text()


@pytest.mark.slow
def test_prediction_sets_of_new_rows_come_from_the_models_of_the_folds(modelsel):
    done = modelsel("run", "dataset=iris", "learner=naive_bayes", "scheme.folds=3", "explanations.sets=true")
    assert done.code == 0, done.err
    assert len(list(Path("runs/latest/folds").iterdir())) == 3
    Path("new.csv").write_text(HEAD + "5.1,3.5,1.4,0.2\n6.0,2.9,4.9,1.7\n")
    told = modelsel("predict", "latest", "new.csv", "--sets", "0.9")
    assert told.code == 0, told.err
    assert "sets for 90 % of rows like the study's" in told.err
    rows = list(csv.DictReader(told.out.splitlines()))
    assert rows[0]["set"] == "setosa"
    wide = modelsel("predict", "latest", "new.csv", "--sets", "0.999", "-o", "out.csv")
    assert wide.code == 0
    assert Path("out.csv").read_text().splitlines()[2].endswith("setosa|versicolor|virginica")
    wrong = modelsel("predict", "latest", "new.csv", "--sets", "90")
    assert (wrong.code, "MSEL-292" in wrong.err) == (2, True)


@pytest.mark.slow
def test_sets_of_groups_are_for_new_ones_and_refused_where_folds_divide_them_and_told_of_where_nothing_was_kept(modelsel):
    Path("rows.csv").write_text("x,who,y\n" + "".join(f"{i % 7},{i // 4},{'ab'[i % 2]}\n" for i in range(60)))
    words = ("dataset=csv", "dataset.path=rows.csv", "dataset.target=y", "dataset.groups=who", "scheme=group_kfold")
    done = modelsel("run", *words, "split=none", "learner=cart", "explanations.sets=true")
    assert done.code == 0, done.err
    Path("one.csv").write_text("x\n3\n")
    told = modelsel("predict", "latest", "one.csv", "--sets", "0.9")
    assert "sets for 90 % of rows like the study's of new units" in told.err
    assert modelsel("run", "dataset=iris", "learner=cart", "scheme.folds=3").code == 0
    Path("new.csv").write_text(HEAD + "5.1,3.5,1.4,0.2\n")
    missing = modelsel("predict", "latest", "new.csv", "--sets", "0.9")
    assert missing.code == 2
    assert "MSEL-291: the run kept no models of its folds" in missing.err


@pytest.mark.slow
def test_a_forest_has_its_impurity_importance_too(modelsel):
    asked = ("explanations.importance=true", "explanations.repeats=1", "explanations.noise=false", "learner.trees=20")
    done = modelsel("run", "dataset=iris", "learner=forest", "scheme.folds=2", "final_test=false", *asked)
    assert done.code == 0, done.err
    (one,) = explained()["importance"]
    assert one["impurity"][0]["column"].startswith("petal")
    assert one["impurity"][0]["mean"] > 0.1
    page = RunFolder.open("latest").report.read_text()
    assert "Impurity importance of this forest" in page
