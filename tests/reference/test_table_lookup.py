"""Table lookup against a rote learner: the same cells, and with `back_off: majority` the same hits and errors per fold.

Named difference: none. Where a cell or the majority is tied, the first class is taken by both.
"""

import json

import numpy as np
import pytest

from modelsel.core.types import positions
from modelsel.learner.table import Table
from tests.conftest import is_here

NOTHING = np.random.default_rng(0)


@pytest.mark.slow
def test_hits_and_errors_per_fold_are_those_of_the_rote_learner(reference, reference_task, reference_folds):
    results = json.loads((reference / "table_lookup.json").read_text())["results"]
    learner = Table(back_off="majority")
    for name, answer in results.items():
        if not is_here(name):
            continue
        task, fold = reference_task(name), reference_folds(name)
        path = learner.fit_path(task, positions(task), NOTHING)
        assert len(path.counts[-1]) == answer["distinct_feature_vectors"], name
        assert (path.model(learner).predict(task) == task.target).sum() == answer["train_correct"], name
        correct, hits = [], []
        for number in np.unique(fold):
            inside = learner.fit_path(task, np.flatnonzero(fold != number), NOTHING)
            rows = np.flatnonzero(fold == number)
            correct.append(int((inside.outputs([learner], task, rows, False).predicted[0] == task.target[rows]).sum()))
            hits.append(int((inside.cells(task, rows)[0] == len(inside.keys)).sum()))
        assert hits == answer["cv_hits_per_fold"], name
        assert correct == answer["cv_correct_per_fold"], name
