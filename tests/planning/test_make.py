"""Plans are pure values: counts, order, fingerprint, refusals, size."""

from dataclasses import replace

import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.planning.make import Cell, make
from tests import doubles
from tests.doubles import Double, candidates, spread

TASK = doubles.task()


def test_a_plan_counts_the_fits_it_needs_and_those_of_a_loop():
    plan = make((*spread(7), *spread(5, group=1)), TASK, doubles.folds(TASK, 3, repeats=2))
    assert (len(plan.batches), plan.needed, plan.naive) == (2, 2 * 6 + 1, 12 * 6 + 1)


def test_cells_are_all_batches_on_all_folds_first_fold_first():
    plan = make((*spread(2), *spread(2, group=1)), TASK, doubles.folds(TASK))
    assert plan.cells == (Cell(0, 0), Cell(0, 1), Cell(1, 0), Cell(1, 1), Cell(2, 0), Cell(2, 1))


def test_the_fingerprint_tells_candidates_and_folds_apart_and_nothing_else():
    plan = make(spread(4), TASK, doubles.folds(TASK))
    again = make(tuple(replace(candidate, entry="renamed") for candidate in spread(4)), TASK, doubles.folds(TASK))
    assert plan.fingerprint == again.fingerprint
    assert plan.fingerprint != make(spread(5), TASK, doubles.folds(TASK)).fingerprint
    assert plan.fingerprint != make(spread(4), TASK, doubles.folds(TASK, 4)).fingerprint


def test_a_plan_is_refused_for_other_rows():
    other = doubles.task(seed=1)
    plan = make(spread(4), TASK, doubles.folds(TASK))
    with pytest.raises(ConfigurationError, match="MSEL-521"):
        plan.check(other, doubles.folds(other))
    with pytest.raises(ConfigurationError, match="MSEL-521"):
        make(spread(4), other, doubles.folds(TASK))


def test_no_candidate_and_equal_candidates_are_refused():
    with pytest.raises(ConfigurationError, match="MSEL-522"):
        make((), TASK, doubles.folds(TASK))
    with pytest.raises(ConfigurationError, match="MSEL-523"):
        make(candidates(Double(), Double()), TASK, doubles.folds(TASK))


@pytest.mark.slow
def test_a_hundred_thousand_candidates_are_planned():
    plan = make(spread(100_000), TASK, doubles.folds(TASK, 10))
    assert (len(plan.batches), plan.naive) == (1, 1_000_001)
