"""Other people's learners through the command line: a limit holds inside native code, and costs its own candidate."""

import csv
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lightgbm")

ENDLESS = "{kind: estimator, estimator: lightgbm.LGBMClassifier, params: {n_estimators: 10000000, num_leaves: 255}}"
SPACE = f"space={{endless: {{learner: {ENDLESS}}}, lightgbm: {{learner: lightgbm}}}}"


@pytest.mark.slow
def test_a_time_limit_ends_a_native_fit_and_costs_its_candidate_alone(modelsel: Any) -> None:
    done = modelsel("run", "dataset=iris", SPACE, "scheme=holdout", "limit.seconds=20", "tracking=off", "pool.n_jobs=2")
    assert done.code == 0, done.err
    rows = csv.DictReader(Path("runs/latest/candidates.csv").read_text().splitlines())
    status = {row["entry"]: row["status"] for row in rows}
    assert status == {"endless": "timeout", "lightgbm": "ok"}


@pytest.mark.slow
def test_what_a_library_refuses_is_an_error_of_its_candidate_and_no_timeout(modelsel: Any) -> None:
    space = (
        "space={lgbm: {learner: {kind: estimator, estimator: lightgbm.LGBMClassifier, params: {n_estimators: 3}},"
        " sweep: {params.boosting_type: 'choice(gbdt, nonsense)'}}}"
    )
    done = modelsel("run", "dataset=iris", space, "scheme=holdout", "limit.seconds=60", "tracking=off", "pool.n_jobs=1")
    assert done.code == 0, done.err
    rows = list(csv.DictReader(Path("runs/latest/candidates.csv").read_text().splitlines()))
    assert sorted(row["status"] for row in rows) == ["error", "ok"]
    assert "Unknown boosting type nonsense" in done.outcome.failures[0]["reason"]
