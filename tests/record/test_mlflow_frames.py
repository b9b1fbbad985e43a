"""What MLflow shows of a study, and the frame that its loaded model takes: the one that pandas reads from the training file."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from mlflow import MlflowClient

import modelsel
from modelsel.record.mlflow.sync import sync

HEAD = "member,age,since,town,size,wanted\n"


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Truth values, whole numbers, dates, texts and numbers with gaps."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    rows = (
        f"{i % 3 == 0},{20 + i},{2015 + i % 9}-0{1 + i % 9}-11,{'Bern' if i % 4 else ''},{'' if i % 5 == 0 else i / 8},"
        f"{'yes' if i % 3 == 0 or i > 40 else 'no'}\n"
        for i in range(60)
    )
    Path("people.csv").write_text(HEAD + "".join(rows))
    return pd.read_csv("people.csv")


@pytest.mark.parametrize("learner", ["cart", "naive_bayes"])
def test_the_loaded_model_takes_what_pandas_reads_from_its_training_file(people: Any, learner: str) -> None:
    import mlflow

    asked: dict[str, Any] = {"space": learner, "split": "none", "scheme": {"folds": 3}, "tracking": "off"}
    features = {"since": "numeric"}
    outcome = modelsel.run(data="people.csv", target="wanted", dataset={"features": features}, **asked)
    loaded = mlflow.pyfunc.load_model(str(Path(outcome.folder) / "model"))
    expected = modelsel.predict(outcome, "people.csv")["prediction"].tolist()
    assert people["member"].dtype == bool
    assert people["age"].dtype == "int64"
    assert list(loaded.predict(people)) == expected
    assert list(loaded.predict(people.convert_dtypes())) == expected
    assert list(loaded.predict(people.assign(since=pd.to_datetime(people["since"])))) == expected


def test_runs_have_names_that_tell_and_the_experiment_opens_in_the_classic_view(folder: Any, store: Any, finished: Any) -> None:
    done, client = sync(folder, store), MlflowClient(store.uri)
    assert client.get_experiment(done.experiment_id).tags["mlflow.experimentKind"] == "custom_model_development"
    won, said = finished.outcome.winner, finished.outcome
    parent = client.get_run(done.run_id).info.run_name
    assert parent == f"{won.get('entry') or won['learner']}, {said.measure} {won['cv']['mean']:.4g} ({folder.path.name})"
    children = client.search_runs([done.experiment_id], f"tags.`mlflow.parentRunId` = '{done.run_id}'")
    names = [one.info.run_name for one in children]
    assert len(set(names)) == len(names) == len(finished.selection.candidates)
    assert all(any(candidate.id[:8] in name for name in names) for candidate in finished.selection.candidates)
