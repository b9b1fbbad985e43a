"""Clusters, where they are installed: the answer of one process, workers that are killed, and whose error an error is."""

from contextlib import nullcontext
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

import pytest

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.runner.execution import cluster
from modelsel.runner.execution.executors import Pool
from tests.doubles import Double, candidates, spread
from tests.extras import needs
from tests.runner.studies import answer, study

pytestmark = pytest.mark.slow
SOME = (*spread(7, noise=True), *spread(5, group=1, lean=1))


@dataclass(frozen=True)
class Unusable(Double):
    """Finds the data unusable."""

    kind = "unusable"

    def fit_path(self, task, rows, rng):
        raise DataError(Problem("MSEL-309", "a column is empty", "column x", "leave it out"))


@pytest.fixture(params=["ray", "joblibspark"], ids=["ray", "spark"])
def pool(request):
    needs(request.param)
    return Pool({"joblibspark": "spark"}.get(request.param, request.param), 2)


def test_the_answer_is_that_of_one_process(tmp_path, pool):
    assert answer(study(tmp_path, SOME, pool=pool, name="far")) == answer(study(tmp_path, SOME, name="one"))


def test_a_single_worker_is_not_the_parent(tmp_path, pool):
    some = (*spread(3), *candidates(Double(cut=9.5, deed="kill")))
    results = study(tmp_path, some, pool=Pool(pool.kind, 1), folds=2)
    assert results.status == ("ok", "ok", "ok", "crashed")


def test_a_failure_inside_a_cell_is_a_record(tmp_path, pool):
    results = study(tmp_path, (*spread(3), *candidates(Double(cut=9.5, deed="raise"))), pool=pool, folds=2)
    assert results.status == ("ok", "ok", "ok", "error")
    assert "asked to raise" in results.reasons[3]


def test_data_that_cannot_be_used_end_the_study_as_what_they_are(tmp_path, pool):
    with pytest.raises(DataError, match="MSEL-309"):
        study(tmp_path, candidates(Unusable()), pool=pool, folds=2)


# Whose error it is: what goes wrong beside a cluster that still runs is told as it is.


@pytest.mark.parametrize(
    ("status", "problem", "told"),
    [
        ("running", ValueError("a bug"), ValueError),
        ("closed", ValueError("no comm"), ConfigurationError),
        ("running", cluster.SchedulerGone(), ConfigurationError),
    ],
)
def test_a_scheduler_is_said_to_be_gone_only_where_it_is(
    status: str, problem: Exception, told: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("joblib.register_parallel_backend", lambda name, backend: None)
    monkeypatch.setattr(cluster, "_dask_backend", lambda: object)
    monkeypatch.setattr(cluster, "_client", lambda *_: nullcontext(SimpleNamespace(status=status)))
    with pytest.raises(told) as error, cluster.dask_cluster(ModuleType("distributed"), None, 1, None):
        raise problem
    assert ("MSEL-536" in str(error.value)) == (told is ConfigurationError)
