"""Preparation sees analysis rows only: steps that peep at more are refused by name, and the others are not."""

import numpy as np
import pytest

from modelsel.core.fingerprint import array_digest, digest
from modelsel.core.types import Candidate, Fold, positions
from modelsel.planning.make import fit_digest
from modelsel.preparer.discretise_mdl import DiscretiseMdl
from modelsel.preparer.impute import Impute
from modelsel.preparer.select_top import SelectTop
from modelsel.runner.evaluation.cell import evaluate
from modelsel.runner.evaluation.cell_result import STATUSES
from modelsel.runner.evaluation.preprocessing import RANKINGS, Fit, LeakError, prepare, rows_digest
from modelsel.runner.final_fit import fit
from tests import doubles
from tests.doubles import Double, Peeping
from tests.runner.studies import study

TASK = doubles.task(90, classes=3)
FOLD = doubles.folds(TASK).folds[1]
WORDS = {
    "average": "says something else of",
    "labels": "asks for what rows to be predicted do not have",
    "drop": "changed which rows there are",
}


def said(*steps, seed=0, fold=FOLD, task=TASK):
    candidate = Candidate(Double(), steps)
    found = evaluate(task, fold, (candidate,), fit_digest(candidate), seed, True)
    return STATUSES[found.status[0]], found.reasons.get(0, "")


@pytest.mark.parametrize("steps", [(), (Peeping(),), (Impute(), DiscretiseMdl(), SelectTop(n=1)), (Peeping(), Peeping())])
def test_steps_that_keep_to_their_rows_pass(steps):
    assert said(*steps) == ("ok", "")


@pytest.mark.parametrize("peek", WORDS)
def test_a_step_that_peeps_is_refused_by_name(peek):
    status, reason = said(Peeping(peek))
    assert status == "error"
    assert reason.startswith("LeakError: preparer peeping ")
    assert WORDS[peek] in reason
    assert said(Peeping(), Peeping(peek))[0] == "error"


@pytest.mark.parametrize("peek", WORDS)
def test_the_final_fit_refuses_it_too(peek):
    with pytest.raises(LeakError, match=WORDS[peek]):
        fit(Candidate(Double(), (Peeping(peek),)), TASK, 0)


def test_a_fit_on_all_rows_is_refused_by_name():
    """The leak is planted where it would happen: among the fits that cells share."""
    seed, step = 4711, Peeping()
    identity = (seed, rows_digest(TASK, FOLD.analysis), digest([[], "peeping", step.fit_key()]))
    everything = step.fit_path(TASK, positions(TASK), np.random.default_rng(0))
    RANKINGS.get(identity, lambda: Fit(everything, array_digest(TASK.rows)))
    assert said(step, seed=seed) == ("error", "LeakError: preparer peeping was fitted on other rows than the analysis rows")
    assert said(step, seed=seed + 1) == ("ok", "")


def test_what_a_step_is_shown_leads_to_no_other_row():
    """Not through the arrays either: they are copies of the analysis rows, not windows onto the task."""
    seen = []

    class Curious(Peeping):
        def fit_path(self, task, rows, rng):
            seen.append(task)
            return super().fit_path(task, rows, rng)

    prepare((Curious(),), TASK, FOLD.analysis, 99)
    arrays = [array for array in vars(seen[0]).values() if isinstance(array, np.ndarray)]
    assert len(arrays) >= 3
    for array in arrays:
        assert len(array) == len(FOLD.analysis)
        assert array.base is None or array.base.size <= array.size


def test_a_step_that_knows_labels_by_heart_learns_nothing_of_assessment_rows():
    """It hands on the classes that it was shown, and −1 for rows that it was not: what it does not know, it cannot leak."""
    _, ready = prepare((Peeping("answers"),), TASK, FOLD.analysis, 0)
    assert (ready.values[FOLD.assessment, 0] == -1).all()
    assert (ready.values[FOLD.analysis, 0] == TASK.target[FOLD.analysis]).all()


def test_repeated_analysis_rows_are_no_leak():
    drawn = np.sort(np.random.default_rng(0).integers(0, 60, 90))
    assert said(Peeping(), fold=Fold(0, 0, drawn, np.arange(60, 90))) == ("ok", "")


def test_a_study_goes_on_without_the_leaking_candidate(tmp_path):
    some = [Candidate(Double(), (Peeping(peek),)) for peek in ("none", "average")]
    results = study(tmp_path, some, task=TASK)
    assert list(results.status) == ["ok", "error"]
    assert results.reasons[1].startswith("LeakError: preparer peeping says something else of")
    assert results.board.eligible.tolist() == [True, False]
