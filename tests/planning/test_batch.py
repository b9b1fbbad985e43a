"""Which candidates share a fit."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.core.types import Candidate
from modelsel.dataset.waveform import Waveform
from modelsel.planning.make import batches, fit_digest
from tests.doubles import Double, candidates

specs = st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 3), st.booleans()), min_size=1, max_size=12)


@given(specs)
def test_candidates_share_a_batch_exactly_when_their_growing_is_equal(drawn):
    some = candidates(*(Double(group=group, cut=cut, noise=noise) for group, cut, noise in drawn))
    where = {member: batch for batch in batches(some) for member in batch.members}
    assert sorted(where) == list(range(len(some)))
    for i, one in enumerate(some):
        for j, other in enumerate(some):
            assert (where[i] is where[j]) == (one.learner.fit_key() == other.learner.fit_key())


@given(specs)
def test_the_growing_of_a_candidate_does_not_depend_on_its_company(drawn):
    some = candidates(*(Double(group=group, cut=cut, noise=noise) for group, cut, noise in drawn))
    for batch in batches(some):
        assert {fit_digest(some[member]) for member in batch.members} == {batch.growing}


def test_preparation_parts_batches():
    plain = Candidate(Double())
    prepared = replace(plain, preparers=(Double(group=7),))
    assert len(batches((plain, prepared, replace(prepared, entry="again")))) == 2


def test_a_search_over_widths_is_a_cell_of_its_own_that_grows_the_same_tree():
    hard = make("learner", "tree", pruner=make("pruner", "deviance_sequence"))
    searched = replace(hard, softener=make("softener", "nelder_mead"))
    laplace = replace(searched, leaf=replace(searched.leaf, score="laplace"))
    smaller = replace(searched, pruner=make("pruner", "deviance_sequence", step=2))
    made = batches(candidates(hard, searched, laplace, smaller))
    assert [batch.members for batch in made] == [(0,), (1, 2), (3,)]
    assert len({batch.growing for batch in made}) == 1  # what the generator of the fit is derived from
    assert len({batch.place for batch in made}) == 3  # what the journal keeps them under


def test_rows_that_judge_a_tree_have_no_part_in_softening_it_whoever_else_is_asked():
    """Rows held back by reduced_error soften its tree, those held back by deviance_sequence do not: not one cell."""
    task, every = Waveform(rows=120).read(), np.arange(120)
    soft = make("softener", "c45")
    trees = [
        make("learner", "tree", softener=soft, pruner=make("pruner", kind, share=0.3))
        for kind in ("deviance_sequence", "reduced_error")
    ]
    made = batches(candidates(*trees))
    assert len({batch.growing for batch in made}) == 1
    for batch in made:
        asked = [trees[member] for member in batch.members]
        together = asked[0].fit_path(task, every, np.random.default_rng(0)).outputs(asked, task, every, True)
        for i, one in enumerate(asked):
            alone = one.fit_path(task, every, np.random.default_rng(0)).outputs([one], task, every, True)
            np.testing.assert_array_equal(together.scores[i], alone.scores[0])


def test_a_whole_number_and_its_float_are_one_batch():
    assert len(batches(candidates(Double(group=1), Double(group=1.0)))) == 1
