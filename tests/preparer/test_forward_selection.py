"""Forward selection where the answer is known, and named subsets."""

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Feature, positions
from modelsel.preparer.forward_selection import ForwardSelection
from modelsel.preparer.select_named import SelectNamed

RNG = np.random.default_rng


@pytest.fixture
def parity(task_of):
    """The class is told by f1 nearly always and by f3 in the rest; f0 and f2 are noise."""
    rng = RNG(0)
    target = rng.integers(0, 2, 400)
    flip = rng.random(400) < 0.2
    values = rng.integers(0, 2, (400, 4)).astype(float)
    values[:, 1] = np.where(flip, 1 - target, target)
    values[:, 3] = np.where(flip, 2 + target, rng.integers(0, 2, 400))
    features = [Feature(f"f{i}", "nominal", ("a", "b", "c", "d")) for i in range(4)]
    return task_of(features, values, target)


@pytest.mark.parametrize("learner", [make("learner", "naive_bayes"), make("learner", "table")])
def test_what_tells_the_class_is_found_and_noise_is_not(parity, learner):
    added = ForwardSelection(learner=learner).fit_path(parity, positions(parity), RNG(1))
    assert added.order[:2].tolist() == [1, 3]
    assert added.prepared(ForwardSelection(learner=learner)).columns.tolist() == [1, 3]
    assert added.prepared(ForwardSelection(learner=learner, n=1)).columns.tolist() == [1]


def test_subsets_off_one_count_are_those_of_fitting_each(parity):
    bayes = make("learner", "naive_bayes")
    shared = ForwardSelection(learner=bayes).fit_path(parity, positions(parity), RNG(1))
    fitted = ForwardSelection(learner=Alone(bayes)).fit_path(parity, positions(parity), RNG(1))
    assert np.array_equal(shared.order, fitted.order)
    assert np.array_equal(shared.errors, fitted.errors)


class Alone:
    """A learner whose subsets are not known to be readable."""

    def __init__(self, learner):
        self.fit_path = learner.fit_path
        for name in learner.__dataclass_fields__:
            setattr(self, name, getattr(learner, name))
        self.smoothed = learner.smoothed


def test_a_learner_with_steps_of_its_own_is_refused():
    bayes, steps = make("learner", "naive_bayes"), (make("preparer", "impute"),)
    assert ForwardSelection(learner=(bayes, ())) == ForwardSelection(learner=bayes)
    assert "no preparer of its own" in next(iter(ForwardSelection(learner=(bayes, steps)).problems()))


def test_keeping_more_than_are_added_is_said():
    assert list(ForwardSelection(n=5, most=3).problems()) == ["n = 5 is more than most = 3"]


def test_a_name_that_is_not_there_is_said(parity):
    assert list(SelectNamed(features=("f1", "f33")).problems(parity)) == ["there is no feature 'f33'; did you mean 'f3'?"]
    assert list(SelectNamed().problems()) == ["select_named keeps nothing: give preparer.features"]
    with pytest.raises(ValueError, match="f9"):
        SelectNamed(features=("f9",)).fit(parity, positions(parity), RNG(0))
