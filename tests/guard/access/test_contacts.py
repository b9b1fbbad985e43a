"""Opening a file and predicting are on record as information, once each, and make no row unclean."""

from pathlib import Path

import numpy as np
import pytest

from modelsel.core.errors import StoreError
from modelsel.core.spec import make
from modelsel.core.types import Task, seal
from modelsel.guard.gate import Gate
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.page import markdown
from modelsel.guard.requests import TestSetDeclaration
from modelsel.ledger.home import Home
from tests.guard.studies import Study, numbers, renamed


def opened(task: Task, home: Path, spec: str = "all") -> Gate:
    """A study of split=none that is broken off before it has chosen."""
    gate = Gate(make("guard", "warn"), home / "runs", (), Home(home))
    nothing = seal(task.take(np.empty(0, np.int64)))
    gate.seal(TestSetDeclaration(nothing, task, make("measure", "error"), "all", "runs/all/1", spec))
    return gate


def noted(home: Path) -> list[str]:
    entries = Gate(make("guard", "warn"), home, (), Home(home)).session.ledger.entries()
    return [str(entry.facts["contact"]) for entry in entries if entry.kind == "note"]


def test_a_study_that_is_broken_off_before_it_chose_leaves_that_it_opened_the_rows(home: Path) -> None:
    opened(numbers(), home)
    opened(numbers(), home)
    assert noted(home) == ["opened"]
    opened(numbers(), home, "another")
    opened(numbers(seed=1), home)
    assert noted(home) == ["opened"] * 3


def test_opening_makes_no_row_unclean(home: Path) -> None:
    opened(numbers(), home)
    opened(renamed(numbers(), {"x0": "a"}), home, "renamed")
    result = Study(numbers(), home, policy="strict").look()
    assert (result.refused, result.look, result.flags, result.n) == (None, 1, ("G001",), 120)
    assert result.interval is not None


def test_predicting_is_on_record_once_names_the_sealed_set_and_makes_no_row_unclean(home: Path) -> None:
    study = Study(numbers(), home, policy="strict")
    study.choose_only()
    development, test = study.parts()
    for _ in range(2):
        study.gate().record_prediction(test, "runs/study/1")
        study.gate().record_prediction(development.take(np.arange(7)), "runs/study/1")
    study.gate().record_prediction(test, "runs/study/2")
    report = audit(study.gate())
    assert [(one["contact"], one["n"], one["folder"]) for one in report["contacts"]] == [
        ("predicted", 120, "runs/study/1"), ("predicted", 7, "runs/study/1"), ("predicted", 120, "runs/study/2"),
    ]  # fmt: skip
    testset = report["test_sets"][0]["id"]
    assert [one["testset"] for one in report["contacts"]] == [testset, None, testset]
    assert f"test set {testset[:8]} |" in markdown(report)
    result = study.look()
    assert (result.refused, result.look, result.flags) == (None, 1, ("G001",))
    assert result.interval is not None


def test_a_prediction_under_another_ledger_and_key_is_known_to_the_home(home: Path) -> None:
    study = Study(numbers(), home, settings={"ledger": f"sqlite:///{home.parent / 'other.db'}", "project": "other"})
    study.gate().record_prediction(study.parts()[1], "runs/study/1")
    assert noted(home) == ["predicted"]
    assert [one["contact"] for one in audit(study.gate())["contacts"]] == ["predicted"]


@pytest.mark.parametrize("policy", ["off", "warn", "strict"])
def test_predicting_goes_on_where_the_ledger_cannot_be_written_and_says_so(home: Path, policy: str) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    home.write_text("a file stands where the folder should be")
    study = Study(numbers(), home, policy=policy)
    gate = study.gate()
    gate.record_prediction(numbers(), "runs/study/1")
    assert [(one.code, one.severity) for one in gate.findings] == [("G004", "low")]
    if policy != "off":
        with pytest.raises(StoreError):  # the control: a study stops there
            study.look()


def test_nothing_is_kept_of_predictions_where_that_is_said(home: Path) -> None:
    Study(numbers(), home, settings={"remember": False}).gate().record_prediction(numbers(), "runs/study/1")
    assert not home.exists()
