"""The impurity importance of a forest on record is that of the forest which the final model is."""

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.spec import make
from modelsel.core.types import Candidate, positions
from modelsel.explanation.explain import forest_importance, has_rows_out_of_bag
from modelsel.learner.forest import Forest
from modelsel.learner.forests.inspection import impurity_importance
from modelsel.planning.make import fit_digest
from modelsel.runner.evaluation.preprocessing import rows_digest
from modelsel.runner.final_fit import fit


def test_it_is_that_of_the_final_model(tables):
    task, forest = tables["wine"], Forest(trees=10, max_depth=3)
    candidate = Candidate(forest, entry="forest")
    rows = positions(task)
    path = forest.fit_path(task, rows, generator(5, rows_digest(task, rows), fit_digest(candidate)))
    assert path.model(forest).predict(task).tolist() == fit(candidate, task, 5).predict(task).tolist()
    lines = forest_importance(candidate, task, 5)
    found = impurity_importance(path, 10, forest)
    assert {line["column"]: line["mean"] for line in lines} == dict(zip([f.name for f in task.features], found))
    assert [line["mean"] for line in lines] == sorted(found, reverse=True)


def test_a_noise_column_comes_out_near_nothing(tables):
    task = tables["iris"]
    noise = np.random.default_rng(0).normal(size=len(task))
    wide = task.with_features(
        (*task.features, type(task.features[0])("noise", "numeric")), np.column_stack([task.values, noise])
    )
    lines = {line["column"]: line["mean"] for line in forest_importance(Candidate(Forest(trees=60), entry="f"), wide, 0)}
    assert abs(lines["noise"]) < 0.02 < lines["petal width (cm)"]


def test_only_forests_that_draw_rows_have_one():
    assert has_rows_out_of_bag(Forest())
    assert not has_rows_out_of_bag(Forest(rows="all"))
    assert not has_rows_out_of_bag(make("learner", "tree"))
