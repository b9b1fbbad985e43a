"""The final fit is a job of the pool: what crashes, stalls or raises there is the winner's failure, with its status."""

import faulthandler
import time

import pytest

from modelsel.core.types import Candidate
from modelsel.runner.evaluation.limits import UNLIMITED, CellLimits
from modelsel.runner.execution.executors import Pool
from modelsel.runner.execution.single_job import Failure, run_in_pool
from modelsel.runner.final_fit import fit_and_answer
from tests import doubles
from tests.doubles import Double
from tests.runner.studies import study

PROCESSES = Pool("processes", 2)


def final(pool, limits=UNLIMITED, **settings):
    task = doubles.task()
    return run_in_pool(pool, limits, fit_and_answer, Candidate(Double(**settings)), task, 0, True, task)


@pytest.mark.parametrize("kind", ["sequential", "threads", "processes"])
def test_the_answers_are_the_same_in_every_pool(kind):
    (fitted, (answers,)), (alone, (said,)) = final(Pool(kind, 2), noise=True), final(Pool("sequential"), noise=True)
    assert fitted.model == alone.model or fitted.model.threshold == alone.model.threshold
    assert answers.predicted.tolist() == said.predicted.tolist()
    assert answers.scores.tolist() == said.scores.tolist()


@pytest.mark.parametrize("kind", ["sequential", "threads", "processes"])
def test_a_fit_that_raises_is_told_with_its_reason_and_traceback(kind):
    failure = final(Pool(kind, 2), deed="raise_fit")
    assert (failure.status, failure.reason) == ("error", "ValueError: asked to raise")
    assert "doubles.py" in failure.traceback


@pytest.mark.slow
def test_a_fit_that_kills_its_worker_is_crashed():
    assert final(PROCESSES, deed="kill_fit") == Failure("crashed", "it killed its worker twice")


@pytest.mark.slow
def test_what_a_crash_dumps_goes_to_the_log_and_not_to_the_terminal(capfd, monkeypatch):
    said = []
    monkeypatch.setattr("modelsel.runner.execution.worker.LOG.info", lambda text, *words: said.append(text % words))
    failure = run_in_pool(PROCESSES, UNLIMITED, faulthandler._sigsegv)
    assert (failure.status, failure.reason) == ("crashed", "it killed its worker twice")
    (dump,) = said
    assert dump.count("Fatal Python error: Segmentation fault") == 2, "once for each of its workers"
    assert "Fatal Python error" not in capfd.readouterr().err


@pytest.mark.sampled(1)
@pytest.mark.parametrize("deed", ["stall_fit", "long_c_call_fit"])
def test_a_fit_that_takes_too_long_is_stopped(deed):
    began = time.monotonic()
    assert final(PROCESSES, CellLimits(seconds=0.5), deed=deed).status == "timeout"
    assert time.monotonic() - began < 30


def test_a_fit_that_takes_too_much_memory_is_stopped():
    assert final(PROCESSES, CellLimits(memory=300 << 20), deed="hoard_fit").status == "memory"


@pytest.mark.parametrize("kind", ["sequential", "threads", "processes"])
@pytest.mark.parametrize("deed", ["interrupt", "quit"])
def test_an_interrupt_or_exit_that_a_candidate_raises_is_its_own_failure(tmp_path, kind, deed):
    some = (*doubles.spread(3), *doubles.candidates(Double(cut=9.5, deed=deed)))
    results = study(tmp_path, some, pool=Pool(kind, 2))
    assert results.status == ("ok", "ok", "ok", "error")
    assert results.reasons[3].startswith({"interrupt": "KeyboardInterrupt", "quit": "SystemExit: 3"}[deed])
