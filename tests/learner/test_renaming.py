"""Other names for classes, features and levels in the same declared order change no answer, on data full of ties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.core.spec import make
from modelsel.core.types import Feature, positions

LEARNERS = {
    "table": make("learner", "table"),
    "majority": make("learner", "majority"),
    "prior_draw": make("learner", "prior_draw"),
    "naive_bayes": make("learner", "naive_bayes", smoothing=0.5),
    "kernel": make("learner", "naive_bayes", numeric="kernel", prior="uniform"),
    **{
        f"knn_{kind}": make("learner", "knn", k=3, distance=make("distance", kind))
        for kind in ("heom", "hvdm", "gower", "overlap")
    },
}


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_names_in_the_same_order_change_nothing(tied, name, data):
    task = data.draw(tied(weighted=True))
    renamed = replace(
        task,
        classes=tuple(f"class {number}" for number in (7, 3, 9)),
        features=tuple(
            Feature(f"{number} of them", feature.kind, tuple(reversed("pqr"))[: len(feature.levels)])
            for number, feature in enumerate(task.features)
        ),
    )
    rows = np.arange(len(task) - 3)
    here, there = (LEARNERS[name].fit(one, rows, np.random.default_rng(0)) for one in (task, renamed))
    assert np.array_equal(here.predict(task), there.predict(renamed))
    assert np.array_equal(here.scores(task), there.scores(renamed))


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - {"prior_draw"}))
@settings(max_examples=25, deadline=None)
@given(data=st.data(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(tied, name, data, random):
    task = data.draw(tied(weighted=True))
    order = positions(task)
    random.shuffle(order)
    here, there = (LEARNERS[name].fit(task, rows, np.random.default_rng(0)) for rows in (positions(task), order))
    assert here.scores(task) == pytest.approx(there.scores(task), abs=1e-12)
    certain = np.ptp(np.sort(here.scores(task))[:, -2:], axis=1) > 1e-9
    assert np.array_equal(here.predict(task)[certain], there.predict(task)[certain])
