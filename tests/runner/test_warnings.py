"""What learners warn of is heard: once, with the number of folds, wherever they are fitted."""

import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

import modelsel
from modelsel.runner.evaluation.heard import collect_warnings

ASKED = ("dataset=iris", "split=none", "tracking=off", "scheme.folds=3")


def test_a_thread_hears_its_own_warnings_and_the_filters_come_back() -> None:
    before, shown, start = list(warnings.filters), warnings.showwarning, threading.Barrier(2)
    found: dict[str, list[str]] = {}

    def fit(name: str) -> None:
        with collect_warnings() as said:
            start.wait()
            for _ in range(3):
                warnings.warn(name, stacklevel=1)
            start.wait()
        found[name] = said

    threads = [threading.Thread(target=fit, args=(name,)) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"one": ["UserWarning: one"], "other": ["UserWarning: other"]}
    assert list(warnings.filters) == before
    assert warnings.showwarning is shown


def test_an_error_by_a_persons_filter_stays_one() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with collect_warnings() as said, pytest.raises(UserWarning, match="loud"):
            warnings.warn("loud", stacklevel=1)
    assert said == []


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["sequential", "processes"])
def test_a_warning_of_every_fold_is_said_once(pool: str, tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    outcome = modelsel.run(*ASKED, "learner=logistic_regression", "learner.params.max_iter=2", f"pool={pool}")
    (said,) = [one for one in outcome.findings if one["code"] == "FIT_WARNINGS"]
    assert said["message"].startswith("logistic_regression warned in 3 of 3 folds: ConvergenceWarning: ")
    assert "ConvergenceWarning" not in capfd.readouterr().err
    assert "warned in fit_and_answer: ConvergenceWarning" in (Path(outcome.folder) / "study.log").read_text()
    again = modelsel.run(*ASKED, "learner=logistic_regression", "learner.params.max_iter=2", f"pool={pool}")
    assert said in list(again.findings)  # from the journal
