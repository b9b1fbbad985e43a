"""A look puts tags on the run of MLflow that is open in the process; where MLflow is not loaded it is left alone."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score

import modelsel
from tests.extras import needs

table = needs("exam_tests.conftest").table  # packages beside the core
SealedRowsWarning = needs("modelsel_watch.session").SealedRowsWarning
LOOK = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np, modelsel
from sklearn.linear_model import LogisticRegression
X = np.random.default_rng(0).normal(size=(90, 4)); y = (X[:, 0] > 0).astype(int)
rows, labels = modelsel.watch(X[:30], y[:30], name="own")
with modelsel.watching() as seen:
    LogisticRegression().fit(X[30:], y[30:]).score(rows, labels)
assert seen.looks == 1
print("mlflow" in sys.modules)
"""


@pytest.mark.slow
def test_an_outside_look_tags_the_open_run_at_the_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow

    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    X, y = make_classification(240, 6, random_state=0)
    rows, labels = modelsel.watch(X[:80], y[:80], name="loans")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    try:
        with mlflow.start_run() as run, modelsel.watching():
            predicted = LogisticRegression().fit(X[80:], y[80:]).predict(rows)
            tags = mlflow.get_run(run.info.run_id).data.tags
            assert not any(name.startswith("modelsel.") for name in tags)  # a prediction is no look
            with pytest.warns(SealedRowsWarning):
                accuracy_score(labels, predicted)
            tags = mlflow.get_run(run.info.run_id).data.tags  # the run is open still
        (testset,) = modelsel.audit()["test_sets"]
        assert (tags["modelsel.testset"], tags["modelsel.look"], tags["modelsel.metric"]) == (
            testset["id"], "outside", "accuracy_score",
        )  # fmt: skip
    finally:
        mlflow.set_tracking_uri(before)
    assert np.isfinite(predicted).all()


@pytest.mark.slow
def test_an_answer_to_an_exam_and_the_end_of_a_gate_tag_the_open_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow

    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    exam = modelsel.create_exam(table(200, 0), "exam", "default")
    gate = modelsel.create_gate(table(200, 1), "gate", "default")
    try:
        with mlflow.start_run() as run:
            exam.answer(["yes"] * len(exam.questions), "ann")
            tags = mlflow.get_run(run.info.run_id).data.tags
            assert (tags["modelsel.testset"], tags["modelsel.look"]) == (exam.terms["testset"], "1")
            gate.propose(["yes"] * len(gate.questions))
            assert mlflow.get_run(run.info.run_id).data.tags["modelsel.testset"] == exam.terms["testset"]  # no look was made
            gate.close()
            tags = mlflow.get_run(run.info.run_id).data.tags
            assert (tags["modelsel.testset"], tags["modelsel.look"]) == (gate.terms["testset"], "final")
    finally:
        mlflow.set_tracking_uri(before)


@pytest.mark.slow
def test_mlflow_is_not_imported_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.strip() == "False", done.stderr
