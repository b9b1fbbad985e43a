"""Other people's learners through the command line: a limit holds inside native code, and costs its own candidate."""

import csv
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modelsel.foreign.allowed import class_of, home_of
from tests.extras import needs

needs("lightgbm")

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
from pathlib import Path
import numpy as np
from sklearn.dummy import DummyClassifier
from threadpoolctl import threadpool_info

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
        if self.deed == "count":
            threads = [one["num_threads"] for one in threadpool_info()]
            Path(__file__).with_name("threads").write_text(f"{max(threads)} in {len(threads)} libraries")
        return super().fit(X, y, sample_weight)
'''


def _distribution(place: Path, package: str, code: str, offered: bool = False) -> None:
    """A package in a distribution, as pip leaves it; `offered` by an entry point, so that no study need allow it."""
    (place / package).mkdir(parents=True)
    (place / package / "__init__.py").write_text(code)
    info = place / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "top_level.txt").write_text(f"{package}\n")
    (info / "RECORD").write_text(f"{package}/__init__.py,,\n")
    if offered:
        (info / "entry_points.txt").write_text(f"[modelsel.estimators]\n{package} = {package}\n")


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A distribution as pip leaves it, on the path only when workers of earlier studies are long at work."""
    from joblib import Parallel, delayed
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)  # those of another test may have imported a package of the same name
    Parallel(2, backend="loky")(delayed(abs)(one) for one in (-1, -2))
    place = tmp_path / "elsewhere"
    _distribution(place, "oddlearners", DEEDS)
    monkeypatch.syspath_prepend(str(place))
    for known in (class_of, home_of):
        known.cache_clear()
    yield place
    for known in (class_of, home_of):
        known.cache_clear()
    sys.modules.pop("oddlearners", None)


def _statuses(
    modelsel: Any, deeds: str, *more: str, learner: str = "oddlearners.Odd", plugins: str = "plugins=[oddlearners]"
) -> dict[str, str]:
    entry = f"{{kind: estimator, estimator: {learner}}}"
    space = f"space={{odd: {{learner: {entry}, sweep: {{params.deed: 'choice({deeds})'}}}}}}"
    done = modelsel("run", "dataset=iris", space, plugins, "scheme=holdout", "pool.n_jobs=2", *more)
    assert done.code == 0, done.err
    rows = csv.DictReader(Path("runs/latest/candidates.csv").read_text().splitlines())
    return {row["params.deed"]: row["status"] for row in rows}


@pytest.mark.slow
def test_a_plug_in_is_found_by_workers_that_began_before_it_was_on_the_path(modelsel: Any, odd: Path) -> None:
    assert _statuses(modelsel, "fine") == {"fine": "ok"}


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["processes", "threads", "sequential"])
def test_native_libraries_have_one_thread_while_a_candidate_is_fitted(modelsel: Any, odd: Path, pool: str) -> None:
    """Also those that are told nothing (histogram boosting, linear algebra): the pool uses the cores."""
    assert _statuses(modelsel, "count", f"pool={pool}") == {"count": "ok"}
    threads, libraries = (odd / "oddlearners" / "threads").read_text().split(" in ")
    assert int(libraries[0]) > 1
    assert threads == "1"


@pytest.mark.slow
def test_a_crash_of_native_code_costs_its_own_candidate(modelsel: Any, odd: Path) -> None:
    assert _statuses(modelsel, "segfault, fine, kill") == {"segfault": "crashed", "fine": "ok", "kill": "crashed"}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="no other system holds a limit of memory")
def test_a_memory_limit_holds_inside_a_native_library(modelsel: Any, odd: Path) -> None:
    assert _statuses(modelsel, "hoard, fine", "limit.memory=1GB") == {"hoard": "memory", "fine": "ok"}


SHY = """
import os, pathlib
from sklearn.dummy import DummyClassifier

if pathlib.Path(__file__).with_name("only.txt").read_text() != str(os.getpid()):
    raise RuntimeError("no licence on this machine")

class Shy(DummyClassifier):
    pass
"""


@pytest.mark.slow
def test_a_crash_of_an_offered_plug_in_costs_its_own_candidate(modelsel: Any, odd: Path) -> None:
    _distribution(odd, "offeredlearners", DEEDS, offered=True)
    found = _statuses(modelsel, "segfault, fine", learner="offeredlearners.Odd", plugins="plugins=[]")
    assert found == {"segfault": "crashed", "fine": "ok"}


@pytest.mark.slow
def test_a_plug_in_that_workers_cannot_import_costs_its_own_candidate(modelsel: Any, odd: Path) -> None:
    _distribution(odd, "shylearners", SHY, offered=True)
    (odd / "shylearners" / "only.txt").write_text(str(os.getpid()))
    space = "space={shy: {learner: {kind: estimator, estimator: shylearners.Shy}}, lightgbm: {learner: lightgbm}}"
    done = modelsel("run", "dataset=iris", space, "scheme=holdout", "pool.n_jobs=2", "tracking=off")
    assert done.code == 0, done.err
    rows = csv.DictReader(Path("runs/latest/candidates.csv").read_text().splitlines())
    assert {row["entry"]: row["status"] for row in rows} == {"shy": "error", "lightgbm": "ok"}
    assert "no licence on this machine" in done.outcome.failures[0]["reason"]


@pytest.mark.slow
def test_a_plug_in_that_cannot_be_imported_is_named_before_any_fit(modelsel: Any, odd: Path) -> None:
    _distribution(odd, "lockedlearners", SHY, offered=True)
    (odd / "lockedlearners" / "only.txt").write_text("nobody")
    refused = modelsel("plan", "dataset=iris", "learner={kind: estimator, estimator: lockedlearners.Shy}")
    assert refused.code == 2
    assert "MSEL-207" in refused.err
    assert "importing lockedlearners ended with RuntimeError: no licence on this machine" in " ".join(refused.err.split())


@pytest.mark.slow
def test_a_plug_in_that_takes_its_process_along_while_it_is_imported_is_named_before_any_fit(modelsel: Any, odd: Path) -> None:
    _distribution(odd, "deadlylearners", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", offered=True)
    refused = modelsel("run", "dataset=iris", "learner={kind: estimator, estimator: deadlylearners.Own}")
    assert refused.code == 2
    assert "MSEL-207" in refused.err
    assert "importing deadlylearners ends the process that does it (SIGSEGV)" in " ".join(refused.err.split())
    assert not list(Path("runs").glob("*/*/study.json"))
