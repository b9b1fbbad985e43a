"""k-NN against formula answers (HEOM, its Manhattan form, Gower), scikit-learn's, and R's Gower distances.

Named differences: the formulas let all rows tied at the k-th distance vote, here exactly k rows vote and a digest of the row
settles ties: rows that this can change are listed as ambiguous there and left out. Weka's IBk counts a missing number as
max(v, 1 − v) and lets ranges grow with every query; its answers agree where nothing is missing, as the files say.
"""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from modelsel.core.spec import make
from modelsel.core.types import positions
from modelsel.distance.search import distances
from modelsel.learner.knn import Knn

NOTHING = np.random.default_rng(0)


def learner_of(variant: str) -> Knn:
    """`manhattan_heom_k5`: the Manhattan distance on values scaled by their range."""
    name, _, k = variant.rpartition("_k")
    return Knn(k=int(k), distance=make("distance", {"manhattan_heom": "manhattan"}.get(name, name)), normalise="range")


def crossed(learners, task, fold):
    """Out-of-fold predictions, learners × rows, from one path per fold."""
    predicted = np.empty((len(learners), len(task)), np.int64)
    for number in np.unique(fold):
        path = learners[0].fit_path(task, np.flatnonzero(fold != number), NOTHING)
        predicted[:, fold == number] = path.outputs(learners, task, np.flatnonzero(fold == number), scores=False).predicted
    return predicted


@pytest.mark.parametrize("distance", ["heom", "manhattan_heom", "gower"])
def test_predictions_are_those_of_the_formulas(enough, answers, reference_task, reference_folds, distance):
    compared = 0
    for answer in answers("knn/formula_*").values():
        task, fold = reference_task(answer["dataset"]), reference_folds(answer["dataset"])
        variants = {name: v for name, v in answer["variants"].items() if name.rpartition("_k")[0] == distance}
        predicted = crossed([learner_of(name) for name in variants], task, fold)
        for own, expected in zip(predicted, variants.values()):
            if expected["ambiguous_rows"] is None:  # too many to be listed
                continue
            certain = np.setdiff1d(np.arange(len(task)), expected["ambiguous_rows"])
            assert np.array_equal(own[certain], np.array(expected["cv_predicted_class_index"])[certain]), answer["dataset"]
            compared += len(certain)
    assert enough(compared, 3000)


def test_distances_are_those_of_gower_in_r(answers, reference_task):
    for answer in answers("knn/gower_*").values():
        task = reference_task(answer["dataset"])
        metric = make("distance", "gower").fit(task, positions(task), "none")
        first = metric.encode(task.values[: answer["n_first_rows"]], task.features)
        found = distances(metric, first, first)
        expected = np.array(answer["distance_matrix_first_rows"], float)
        assert found == pytest.approx(np.where(np.isnan(expected), 1.0, expected), abs=1e-9), answer["dataset"]


@pytest.mark.slow
@pytest.mark.parametrize("p", [1, 2])
def test_predictions_are_those_of_scikit_learn(answers, reference_task, reference_folds, p):
    for answer in answers("sklearn/*").values():
        task, fold = reference_task(answer["dataset"]), reference_folds(answer["dataset"])
        expected = {name: own for name, own in answer["knn"].items() if f"p={p}" in name}
        distance = make("distance", "minkowski", p=p)
        learners = [Knn(k=int(name.split("=")[1].split("_")[0]), distance=distance, normalise="none") for name in expected]
        predicted, loose = crossed(learners, task, fold), ties(learners, task, fold)
        for own, undecided, theirs in zip(predicted, loose, expected.values()):
            hits = np.bincount(fold, own == task.target)
            assert np.abs(hits - theirs["cv_correct_per_fold"]).sum() <= undecided, answer["dataset"]


def ties(learners, task, fold) -> np.ndarray:
    """Per learner, how many rows have a tie at the k-th distance, or between the two classes of most votes."""
    count = np.zeros(len(learners), np.int64)
    for number in np.unique(fold):
        path, rows = learners[0].fit_path(task, np.flatnonzero(fold != number), NOTHING), np.flatnonzero(fold == number)
        distance = path.neighbours(task, rows, 1 + max(learner.k for learner in learners)).distance
        votes = np.sort(path.outputs(learners, task, rows, scores=True).scores, axis=2)
        for position, learner in enumerate(learners):
            at_the_end = np.isclose(distance[:, learner.k], distance[:, learner.k - 1], rtol=1e-9)
            count[position] += (at_the_end | np.isclose(votes[position, :, -1], votes[position, :, -2])).sum()
    return count


@pytest.mark.slow
@pytest.mark.parametrize(("k", "p"), [(1, 2), (5, 1), (5, 2), (11, 2)])
def test_row_by_row_only_ties_differ_from_scikit_learn(reference_task, reference_folds, k, p):
    """569 rows: of equal votes scikit-learn takes the first class, here that of the nearest rows."""
    task, fold = reference_task("sk_breast_cancer"), reference_folds("sk_breast_cancer")
    own = crossed([Knn(k=k, distance=make("distance", "minkowski", p=p), normalise="none")], task, fold)[0]
    theirs, tied = np.empty(len(task), np.int64), np.zeros(len(task), bool)
    for number in np.unique(fold):
        known, asked = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        other = KNeighborsClassifier(k + 1, p=p, algorithm="brute").fit(task.values[known], task.target[known])
        distance, near = other.kneighbors(task.values[asked])
        votes = np.array([np.bincount(row, minlength=len(task.classes)) for row in task.target[known][near[:, :k]]])
        best = np.sort(votes, axis=1)[:, -2:]
        theirs[asked] = votes.argmax(axis=1)
        tied[asked] = (best[:, 1] == best[:, 0]) | (distance[:, k] - distance[:, k - 1] <= 1e-9 * distance[:, k])
    assert not (own != theirs)[~tied].any()
    assert tied.sum() < len(task) / 10
