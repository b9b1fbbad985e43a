"""One cell: what it may see, what it draws, and that company changes nothing."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.core.system.interrupts import Interrupted
from modelsel.core.types import Candidate, Fold
from modelsel.kernels.stop import Stopped
from modelsel.learner.naive_bayes import NaiveBayes
from modelsel.planning.make import batches, fit_digest
from modelsel.preparer.discretise_frequency import DiscretiseFrequency
from modelsel.preparer.select_top import SelectTop
from modelsel.runner.evaluation.cell import evaluate
from modelsel.runner.evaluation.cell_result import STATUSES
from modelsel.runner.evaluation.limits import CellTimeout, DeadlineExceeded
from modelsel.runner.evaluation.preprocessing import prepare
from modelsel.runner.families import resolve
from modelsel.runner.final_fit import fit
from tests import doubles
from tests.doubles import Double, candidates, spread

TASK = doubles.task(90, classes=3)
FOLD = doubles.folds(TASK).folds[1]


def said(some, fold=FOLD, seed=0, scores=True, task=TASK):
    return evaluate(task, fold, some, fit_digest(some[0]), seed, scores)


def test_a_row_in_both_halves_of_a_fold_is_refused():
    with pytest.raises(AssertionError, match="both halves"):
        said(spread(2), Fold(0, 0, np.arange(50), np.arange(49, 90)))


@given(st.sets(st.integers(0, 11), min_size=1), st.integers(0, 5))
def test_a_candidate_says_alone_what_it_says_in_any_company(chosen, seed):
    some = spread(12, noise=True)
    whole = said(some, seed=seed)
    part = said(tuple(some[position] for position in sorted(chosen)), seed=seed)
    np.testing.assert_array_equal(part.predicted, whole.predicted[sorted(chosen)])
    np.testing.assert_array_equal(part.scores, whole.scores[sorted(chosen)])


def test_the_final_fit_draws_what_a_cell_draws():
    candidate = spread(3, noise=True)[1]
    model = fit(candidate, TASK, 5, FOLD.analysis)
    np.testing.assert_array_equal(model.predict(TASK)[FOLD.assessment], said((candidate,), seed=5).predicted[0])
    np.testing.assert_array_equal(model.scores(TASK)[FOLD.assessment], said((candidate,), seed=5).scores[0])


def test_another_seed_and_other_rows_draw_other_numbers():
    candidate = Double(noise=True)
    thresholds = {
        fit(Candidate(candidate), TASK, seed, rows).model.threshold - TASK.values[rows, 0].mean()
        for seed in (0, 1) for rows in (FOLD.analysis, FOLD.analysis[1:])
    }  # fmt: skip
    assert len(thresholds) == 4


def test_predictions_are_kept_in_the_smallest_type():
    assert said(spread(2)).predicted.dtype == np.uint8


@dataclass(frozen=True)
class Nosy:
    """A preparer that remembers every row that it was shown."""

    kind = "nosy"
    seen = []

    def fit_key(self):
        return {"kind": "nosy"}

    def fit_path(self, task, rows, rng):
        self.seen.append(task.rows)
        return self

    def prepared(self, preparer):
        return self

    def apply(self, table):
        return table


def test_preparation_is_shown_analysis_rows_only_and_once_per_fold():
    Nosy.seen.clear()
    for some in (candidates(Double()), candidates(Double(group=1))):
        said(tuple(Candidate(candidate.learner, (Nosy(),)) for candidate in some), seed=77)
    assert len(Nosy.seen) == 1
    np.testing.assert_array_equal(Nosy.seen[0], TASK.rows[FOLD.analysis])


def test_one_naive_bayes_answers_every_selection_of_features():
    task = doubles.task(120, classes=3, seed=3)
    bins, selections = (DiscretiseFrequency(),), [(), (SelectTop(n=1),), (SelectTop(n=2),), (SelectTop(n=2), SelectTop(n=1))]
    some = tuple(Candidate(NaiveBayes(smoothing=s), (*bins, *steps)) for steps in selections for s in (0.5, 1.0))
    assert len(batches(some)) == 1
    whole = said(some, task=task)
    assert set(whole.status) == {0}, whole.reasons
    for position, candidate in enumerate(some):
        alone = fit(candidate, task, 0, FOLD.analysis).predict(task)[FOLD.assessment]
        np.testing.assert_array_equal(alone, whole.predicted[position])


@dataclass(frozen=True)
class BrokenSelection(SelectTop):
    """A selection of features that cannot be made on these rows."""

    tries = []

    def fit_path(self, task, rows, rng):
        self.tries.append(len(rows))
        raise ValueError("no ranking of these")

    def fit_key(self):
        return {"kind": "broken"}


def test_a_selection_that_fails_is_the_failure_of_those_that_make_it():
    BrokenSelection.tries.clear()
    bins = (DiscretiseFrequency(),)
    selections = [(), (BrokenSelection(n=1),), (SelectTop(n=1),), (BrokenSelection(n=1),)]
    some = tuple(Candidate(NaiveBayes(smoothing=1.0 + i), (*bins, *steps)) for i, steps in enumerate(selections))
    assert len(batches(some)) == 1
    whole = said(some)
    assert [STATUSES[code] for code in whole.status] == ["ok", "error", "ok", "error"]
    assert whole.reasons == dict.fromkeys((1, 3), "ValueError: no ranking of these")
    assert len(BrokenSelection.tries) == 1, "it is tried once"
    for position in (0, 2):
        np.testing.assert_array_equal(whole.predicted[position], said((some[position],)).predicted[0])


@dataclass(frozen=True)
class Undecided(Double):
    """Cannot say whether it can be fitted."""

    def refusal(self, task, rows):
        if self.cut == 9.5:
            raise RuntimeError("cannot tell")
        return


@dataclass(frozen=True)
class Compiled(Double):
    """Meets a signal's exception as compiled code does: it comes out as the cause of a SystemError."""

    what: str = ""
    signals = {"interrupt": Interrupted, "stop": Stopped, "deadline": DeadlineExceeded, "alarm": CellTimeout}

    def fit_path(self, task, rows, rng):
        inner = SystemError("returned a result with an exception set")
        inner.__cause__ = self.signals[self.what]("now")
        raise SystemError("returned a result with an exception set") from inner


@pytest.mark.parametrize("what", ["interrupt", "stop", "deadline"])
def test_an_interrupt_that_compiled_code_meets_ends_the_study_and_is_nobodys_failure(what):
    with pytest.raises(Compiled.signals[what]):
        said(candidates(Compiled(what=what)))


def test_an_alarm_that_compiled_code_meets_is_a_timeout():
    found = said(candidates(Compiled(what="alarm")))
    assert (STATUSES[found.status[0]], found.reasons[0]) == ("timeout", "now")


def test_a_candidate_that_cannot_say_whether_it_fits_fails_alone():
    some = candidates(*(Undecided(cut=cut) for cut in (0.0, 9.5, 1.0)))
    assert len(batches(some)) == 1
    assert [STATUSES[code] for code in said(some).status] == ["ok", "error", "ok"]


@dataclass(frozen=True)
class BrokenStep(DiscretiseFrequency):
    def fit_path(self, task, rows, rng):
        raise ValueError("no cuts of these")


def test_a_preparation_that_all_share_is_the_failure_of_all():
    some = tuple(Candidate(candidate.learner, (BrokenStep(),)) for candidate in spread(3))
    assert [STATUSES[code] for code in said(some).status] == ["error"] * 3


def test_a_learner_that_reads_no_subsets_is_fitted_per_selection():
    some = tuple(Candidate(Double(), steps) for steps in [(), (SelectTop(n=1),), (SelectTop(n=2),)])
    assert len(batches(some)) == 3


def test_steps_are_fitted_in_order_on_what_the_one_before_left():
    steps = (DiscretiseFrequency(bins=3), SelectTop(n=1))
    fitted, ready = prepare(steps, TASK, FOLD.analysis, 0)
    assert len(ready.features) == 1
    assert ready.features[0].kind != "numeric"
    np.testing.assert_array_equal(fitted[1].apply(fitted[0].apply(TASK)).values, ready.values)


def test_a_family_becomes_its_members_where_it_stood():
    from modelsel.learner.tree import Tree
    from modelsel.pruner.cost_complexity import CostComplexity

    family = Candidate(Tree(pruner=CostComplexity(alpha="path")), entry="cart")
    first, last = candidates(Double(), Double(cut=1.0))
    found = resolve((first, family, last, family), TASK, 0)
    assert (found[0], found[-1]) == (first, last)
    alphas = [candidate.learner.pruner.alpha for candidate in found[1:-1]]
    assert len(alphas) > 2
    assert alphas == sorted(alphas)
    assert alphas[0] == 0
    assert {candidate.entry for candidate in found[1:-1]} == {"cart"}
