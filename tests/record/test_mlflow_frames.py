"""What MLflow shows of a study, and the frame that its loaded model takes: the one that pandas reads from the training file."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

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


@pytest.mark.sampled(1)
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
    types = [column.type.name for column in loaded.metadata.get_input_schema().inputs]
    assert types == ["boolean", "long", "string", "string", "double"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([3, 5], "int64"),
        ([True, False], "bool"),
        ([0.5, 1.5], "float64"),
        (["3", "5"], "object"),
        (["true", "false"], "object"),
    ],
)
def test_the_loaded_model_answers_in_the_type_of_the_target(people: Any, labels: Any, expected: str) -> None:
    import mlflow

    frame = people.drop(columns="since")
    frame["wanted"] = [labels[row == "yes"] for row in frame["wanted"]]
    settings: dict[str, Any] = {"space": "cart", "split": "none", "scheme": {"folds": 3}, "tracking": "off"}
    found = modelsel.run(frame, target="wanted", **settings)
    loaded = mlflow.pyfunc.load_model(str(Path(found.folder) / "model"))
    said = loaded.predict(frame)
    assert said.dtype == expected
    assert said.tolist() == found.model.predict(frame).tolist()
    assert set(said.tolist()) <= set(labels)


@pytest.mark.slow
def test_a_file_of_whole_labels_gives_whole_labels_and_one_of_leading_zeros_texts(people: Any) -> None:
    import mlflow

    for name, labels in (("whole", ("0", "1")), ("coded", ("x0", "x1"))):
        people.assign(wanted=[labels[row == "yes"] for row in people["wanted"]]).to_csv("coded.csv", index=False)
        settings: dict[str, Any] = {"space": "cart", "split": "none", "scheme": {"folds": 3}, "tracking": "off"}
        found = modelsel.run(data="coded.csv", target="wanted", dataset={"features": {"since": "ignore"}}, **settings)
        loaded = mlflow.pyfunc.load_model(str(Path(found.folder) / "model"))
        said = loaded.predict(pd.read_csv("coded.csv"))
        assert said.dtype == ("int64" if name == "whole" else "object")
        assert [str(one) for one in said] == [str(one) for one in modelsel.predict(found, "coded.csv")["prediction"]]


@pytest.mark.slow
def test_mlflow_serves_and_evaluates_the_model_of_a_run(people: Any, store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run's own `runs:/ID/model`, its training file sent as CSV, and the example that MLflow tells people to send."""
    import mlflow

    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.uri)
    people.assign(wanted=(people["wanted"] == "yes").astype(int)).to_csv("coded.csv", index=False)
    settings: dict[str, Any] = {"space": "cart", "split": "none", "scheme": {"folds": 3}, "tracking": "off"}
    found = modelsel.run(data="coded.csv", target="wanted", dataset={"features": {"since": "numeric"}}, **settings)
    run_id = found.to_mlflow(uri=store.uri)
    frame, uri = pd.read_csv("coded.csv"), f"runs:/{run_id}/model"
    expected = mlflow.pyfunc.load_model(uri).predict(frame)
    evaluated = mlflow.models.evaluate(uri, frame, targets="wanted", model_type="classifier", evaluators=["default"])
    assert evaluated.metrics["accuracy_score"] == pytest.approx((expected == frame["wanted"]).mean())
    model = Path(found.folder) / "model"
    sent = (model / "serving_input_example.json").read_bytes()
    with served(model) as address:
        assert posted(address, Path("coded.csv").read_bytes(), "text/csv") == expected.tolist()
        assert posted(address, sent, "application/json") == expected[:5].tolist()


ASKS = """
import sys, mlflow, pandas
loaded = mlflow.pyfunc.load_model(sys.argv[1])
said = loaded.predict(pandas.read_csv(sys.argv[2]))
pandas.DataFrame({"prediction": said}).to_csv(sys.argv[3], index=False, float_format="%.17g")
print(said.dtype, loaded.metadata.get_output_schema().inputs[0].type.name)
"""


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["m5p", "forest", "cart"])
def test_a_new_process_answers_with_the_numbers_of_a_run(people: Any, store: Any, learner: str) -> None:
    """Of `runs:/ID/model`, from a file with gaps and with a town that nobody knew."""
    people.drop(columns="wanted").assign(price=people["age"] * 2.5 + people["size"].fillna(3.25)).to_csv(
        "prices.csv", index=False
    )
    settings: dict[str, Any] = {"space": learner, "split": "none", "scheme": {"folds": 3}, "tracking": "off"}
    found = modelsel.run(data="prices.csv", target="price", dataset={"features": {"since": "numeric"}}, **settings)
    new = pd.read_csv("prices.csv").drop(columns="price")
    new.loc[::3, "size"], new.loc[::4, "town"], new.loc[1::4, "town"] = float("nan"), None, "Delft"
    new.to_csv("new.csv", index=False)
    uri = f"runs:/{found.to_mlflow(uri=store.uri)}/model"
    asked = [sys.executable, "-c", ASKS, uri, "new.csv", "said.csv"]
    done = subprocess.run(
        asked, env={**os.environ, "MLFLOW_TRACKING_URI": store.uri}, capture_output=True, text=True, check=True
    )
    said = [float(line) for line in Path("said.csv").read_text().split()[1:]]
    assert done.stdout.split() == ["float64", "double"]
    assert said == modelsel.predict(found, "new.csv")["prediction"].tolist()
    assert len(set(said)) > 5


@contextmanager
def served(model: Path) -> Iterator[str]:
    """The address of `mlflow models serve` on loopback, in the environment of the tests."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["-m", "mlflow", "models", "serve", "-m", str(model), "--env-manager", "local", "--host", "127.0.0.1"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with open("served.log", "wb") as log:
        process = subprocess.Popen(
            [sys.executable, *words, "--port", str(port)], stdout=log, stderr=log, env={**os.environ, "PATH": path},
            start_new_session=True,
        )  # fmt: skip
        try:
            yield _answering(f"http://127.0.0.1:{port}", process)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def _answering(address: str, process: "subprocess.Popen[bytes]") -> str:
    for _ in range(900):  # a busy machine takes its time
        assert process.poll() is None, Path("served.log").read_text()
        try:
            with urlopen(f"{address}/ping", timeout=5):
                return address
        except OSError:
            time.sleep(0.25)
    raise AssertionError(Path("served.log").read_text())


def posted(address: str, body: bytes, kind: str) -> list[Any]:
    with urlopen(Request(f"{address}/invocations", body, {"Content-Type": kind}), timeout=30) as answer:
        return list(json.load(answer)["predictions"])


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
