"""Other people's learners through the command line: a limit holds inside native code, and costs its own candidate."""

import csv
import sys
from collections.abc import Iterator
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


DEEDS = '''
import ctypes, os, signal
import numpy as np
from sklearn.dummy import DummyClassifier

class Odd(DummyClassifier):
    """A classifier whose native code may do what native code does."""

    def __init__(self, deed="fine", strategy="prior"):
        self.deed = deed
        super().__init__(strategy=strategy)

    def fit(self, X, y, sample_weight=None):
        if self.deed == "segfault":
            ctypes.string_at(0)
        if self.deed == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.deed == "hoard":
            self.kept = [np.ones(1 << 22) for _ in range(1 << 12)]
        return super().fit(X, y, sample_weight)
'''


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution as pip leaves it, on the path only when workers of earlier studies are long at work."""
    from joblib import Parallel, delayed

    Parallel(2, backend="loky")(delayed(abs)(one) for one in (-1, -2))
    place = tmp_path / "elsewhere"
    (place / "oddlearners").mkdir(parents=True)
    (place / "oddlearners" / "__init__.py").write_text(DEEDS)
    info = place / "odd_learners-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-learners\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("oddlearners\n")
    (info / "RECORD").write_text("oddlearners/__init__.py,,\n")
    monkeypatch.syspath_prepend(str(place))
    yield
    sys.modules.pop("oddlearners", None)


def _statuses(modelsel: Any, deeds: str, *more: str) -> dict[str, str]:
    learner = "{kind: estimator, estimator: oddlearners.Odd}"
    space = f"space={{odd: {{learner: {learner}, sweep: {{params.deed: 'choice({deeds})'}}}}}}"
    done = modelsel("run", "dataset=iris", space, "plugins=[oddlearners]", "scheme=holdout", "pool.n_jobs=2", *more)
    assert done.code == 0, done.err
    rows = csv.DictReader(Path("runs/latest/candidates.csv").read_text().splitlines())
    return {row["params.deed"]: row["status"] for row in rows}


@pytest.mark.slow
def test_a_plug_in_is_found_by_workers_that_began_before_it_was_on_the_path(modelsel: Any, odd: None) -> None:
    assert _statuses(modelsel, "fine") == {"fine": "ok"}


@pytest.mark.slow
def test_a_crash_of_native_code_costs_its_own_candidate(modelsel: Any, odd: None) -> None:
    assert _statuses(modelsel, "segfault, fine, kill") == {"segfault": "crashed", "fine": "ok", "kill": "crashed"}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="no other system holds a limit of memory")
def test_a_memory_limit_holds_inside_a_native_library(modelsel: Any, odd: None) -> None:
    assert _statuses(modelsel, "hoard, fine", "limit.memory=1GB") == {"hoard": "memory", "fine": "ok"}
