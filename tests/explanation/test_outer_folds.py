"""Candidates that outer folds teach keep the limits of cells where they are explained, and have what these folds can say."""

import pytest

from modelsel.calibrator.platt import Platt
from modelsel.core.spec import make
from modelsel.core.types import Candidate
from modelsel.explanation.importance import ImportanceRequest, fold_importance
from modelsel.explanation.learning_curve import learning_curve
from modelsel.learner.calibrated import Calibrated
from modelsel.learner.inner import taught_by
from modelsel.runner.evaluation.limits import CellLimits
from modelsel.runner.execution.executors import Pool
from modelsel.runner.execution.single_job import Failure, run_in_pool
from modelsel.runner.journal import Journal
from modelsel.runner.run import run
from modelsel.scheme.stratified_kfold import StratifiedKfold
from tests.doubles import Double, task

SCHEME = StratifiedKfold(folds=3, seed=2)
PROCESSES = Pool("processes", 1)
LIMITS = {"stall": (CellLimits(seconds=0.5), "timeout"), "hoard": (CellLimits(memory=300 << 20), "memory")}


def taught(deed: str = "none") -> Candidate:
    learner = Calibrated(Double(deed=deed), (), Platt(fold_scores="outer", scheme=SCHEME))
    return Candidate(learner, entry=f"taught {deed}")


@pytest.mark.slow
@pytest.mark.parametrize("deed", LIMITS)
def test_the_curve_of_one_that_outer_folds_teach_ends_at_the_limits_of_a_cell(deed, tmp_path):
    rows, (limits, status) = task(), LIMITS[deed]
    folds, boards = SCHEME.instantiate(rows, 0), []
    with Journal(tmp_path / "journal") as journal:

        def compute(plan, of, resampling):
            boards.append(run(plan, of, resampling, make("measure", "error"), PROCESSES, journal, seed=0, limits=limits))
            return boards[-1]

        found = learning_curve([taught(deed), taught(), Candidate(Double(), entry="plain")], rows, folds, 0, compute)
    last = [one["points"][-1]["mean"] for one in found["candidates"]]
    assert last[0] is None
    assert None not in last[1:]
    assert [one["mean"] is None for one in found["candidates"][1]["points"]] == [True, True, True, True, False]
    assert not any(one["mean"] is None for one in found["candidates"][2]["points"])
    assert boards[0].status[0] == status


@pytest.mark.slow
@pytest.mark.parametrize("deed", LIMITS)
def test_so_does_its_importance(deed):
    rows, (limits, status) = task(), LIMITS[deed]
    fold = SCHEME.instantiate(rows, 0).folds[0]
    asked = ImportanceRequest(make("measure", "error"), 0, 2, noise=False)
    done = run_in_pool(PROCESSES, limits, fold_importance, taught(deed), rows, fold, asked)
    assert isinstance(done, Failure)
    assert done.status == status
    assert run_in_pool(PROCESSES, limits, fold_importance, taught(), rows, fold, asked).columns.shape == (2, 2)


def test_the_folds_that_teach_are_found_behind_a_threshold_that_is_given():
    from modelsel.decision.threshold import Threshold
    from modelsel.learner.decided import Decided

    assert taught_by(Double()) is None
    assert taught_by(Decided(taught().learner, (), Threshold(at=0.3))).scheme == SCHEME
