"""The evasions of a strict first look, as typed: choosing on all rows, choosing unguarded, testing unguarded."""

import json
from pathlib import Path
from typing import Any

import pytest

from modelsel.core.spec import make
from modelsel.guard.gate import Gate
from modelsel.record.folder import PROJECT as ROOT

FEW = ("dataset=breast_cancer", "space=[naive_bayes,majority]", "scheme.folds=3")
STRICT = ("run", *FEW, "guard=strict")


def kinds() -> list[str]:
    return [entry.kind for entry in Gate(make("guard", "warn"), ROOT).session.ledger.entries()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "before", [("split=none",), ("guard=off", "final_test=false", "split.seed=1"), ("guard=off", "split.seed=1")],
    ids=["split=none", "off without a test", "off with a test"],
)  # fmt: skip
def test_a_strict_test_of_rows_that_chose_is_refused(modelsel: Any, before: tuple[str, ...]) -> None:
    assert modelsel("run", *FEW, *before).code == 0
    done = modelsel(*STRICT)
    assert done.code == 4
    assert "G021" in done.outcome.test.flags
    assert done.outcome.test.score is None


@pytest.mark.slow
def test_a_strict_test_before_which_nothing_chose_is_shown(modelsel: Any) -> None:
    done = modelsel(*STRICT)
    assert done.code == 0
    assert "G001" in done.outcome.test.flags


@pytest.mark.slow
def test_a_plan_and_a_published_experiment_leave_no_trace_and_say_so(modelsel: Any, tmp_path: Path) -> None:
    planned = modelsel("plan", *FEW)
    assert planned.code == 0
    assert "writes nothing to the ledger" in planned.out
    done = modelsel("run", "experiment=play_tennis", "-v")
    assert done.code == 0
    assert "G005" in {finding["code"] for finding in done.outcome.findings}
    assert "a published experiment: not in the ledger" in modelsel("run", "experiment=play_tennis", "-v").out
    assert not (tmp_path / "home" / "ledger.db").exists()


@pytest.mark.slow
def test_an_experiment_on_other_data_is_a_study_like_any_other(modelsel: Any) -> None:
    done = modelsel("run", "experiment=play_tennis", "dataset=iris", "scheme=stratified_kfold", "scheme.folds=3", "show=[]")
    assert done.code == 0, done.err
    assert kinds() == ["note", "selection"]


@pytest.mark.slow
def test_what_is_not_remembered_is_told_wherever_the_result_stands(modelsel: Any, tmp_path: Path) -> None:
    Path(".git").mkdir()
    done = modelsel("run", *FEW, "guard.remember=false", "tracking.wait=120")
    assert done.code == 0, done.err
    assert "G004 (high): guard.remember=false" in done.out
    assert "G004" in done.outcome.test.flags
    assert "G004" in {finding["code"] for finding in done.outcome.findings}
    assert "guard.remember=false" in Path("runs/latest/report.html").read_text()
    assert done.outcome.study in json.loads(Path("modelsel.lock").read_text())["not_remembered"]
    assert _params("modelsel.guard.remember") == {"false"}
    assert not (tmp_path / "home" / "ledger.db").exists()
    assert not (tmp_path / "home" / "keys").exists()


def _params(name: str) -> set[str]:
    from mlflow import MlflowClient

    client = MlflowClient("sqlite:///runs/mlflow.db")
    found = [run for one in client.search_experiments() for run in client.search_runs([one.experiment_id])]
    return {run.data.params[name] for run in found if name in run.data.params}


@pytest.mark.slow
def test_off_goes_on_where_there_can_be_no_home(modelsel: Any, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    for more in ((), ("split=none",), ("final_test=false",)):
        done = modelsel("run", *FEW, "guard=off", *more)
        assert done.code == 0, done.err
        assert "G004 (high): the ledger could not take" in done.out
    assert modelsel("run", *FEW).code == 6
