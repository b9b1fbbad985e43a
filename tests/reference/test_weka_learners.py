"""Majority, naive Bayes and neighbours against Weka 3.6's ZeroR, NaiveBayesSimple, NaiveBayes and IBk, on its own folds.

Named differences. Weka smooths the class prior too, (N_c + 1) / (N + classes): `prior=laplace`. A class of equal numbers
has deviation 0 there and no answer: such columns are left out of the comparison. Its NaiveBayes sees numbers with a precision
of its own and is compared on names and on discretised numbers; its kernel estimator has another width and is not compared.
Equal distances and equal votes
may differ in their last digit in either program: rows on which that decides are left out, and few differ (iris: one of 150).
IBk lets ranges grow with every query, all rows tied at the k-th distance vote, and each class starts with 1 / N votes: these
three are written down here, around our distances. A missing number counts max(v, 1 − v) there, 1 here: such sets are left out.
"""

from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import positions
from modelsel.distance.search import distances
from modelsel.learner.majority import Majority
from modelsel.learner.naive_bayes import NaiveBayes
from modelsel.preparer.discretise_mdl import DiscretiseMdl
from tests.reference.test_naive_bayes import has_narrow_classes

NOTHING = np.random.default_rng(0)
ROWS = 1100  # of the sets on which neighbours are compared one query at a time


def jobs(answers, job):
    """Data set and result of every file that has the job."""
    found = [(name, answer["jobs"][job]["result"]) for name, answer in answers("weka/*").items() if job in answer["jobs"]]
    return [(name, result) for name, result in found if "predicted_class_index" in result.get("cv", {})]


def parts(fold):
    return [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in np.unique(fold)]


def test_the_majority_is_zero_r(answers, reference_task, reference_folds):
    for name, expected in jobs(answers, "ZeroR"):
        task, predicted = reference_task(name), np.empty(0)
        predicted = np.full(len(task), -1)
        for analysis, assessment in parts(reference_folds(name)):
            predicted[assessment] = Majority().fit(task, analysis, NOTHING).predict(task)[assessment]
        assert predicted.tolist() == expected["cv"]["predicted_class_index"], name


def bayes(task, rows) -> np.ndarray:
    """Class scores of all rows by naive Bayes of some, with Weka's prior."""
    return NaiveBayes(smoothing=1, prior="laplace").fit(task, rows, NOTHING).scores(task)


@pytest.mark.parametrize("job", ["NaiveBayesSimple", "NaiveBayes"])
def test_naive_bayes_is_wekas(enough, answers, reference_task, reference_folds, job):
    compared = 0
    for name, expected in jobs(answers, job):
        task = reference_task(name)
        numeric = any(feature.kind == "numeric" for feature in task.features)
        if has_narrow_classes(task) or (numeric and job == "NaiveBayes"):
            continue
        first = expected["train"].get("distribution_first_rows", [])
        assert bayes(task, positions(task))[: len(first)] == pytest.approx(np.array(first, float), abs=1e-9), name
        predicted = np.full(len(task), -1)
        for analysis, assessment in parts(reference_folds(name)):
            predicted[assessment] = np.argmax(np.round(bayes(task, analysis)[assessment], 10), axis=1)
        assert predicted.tolist() == expected["cv"]["predicted_class_index"], name
        compared += len(task)
    assert enough(compared, 4000 if job == "NaiveBayesSimple" else 3000)


@pytest.mark.slow
def test_naive_bayes_on_discretised_numbers_is_wekas(enough, answers, reference_task, reference_folds):
    """Cuts and counts of the analysis rows of each fold: the preparation belongs to the candidate, as in Weka's -D."""
    compared = different = 0
    for name, expected in jobs(answers, "NaiveBayes_D_supervised_discretization"):
        task = reference_task(name)
        for analysis, assessment in parts(reference_folds(name)):
            step = DiscretiseMdl().fit(task, analysis, NOTHING)
            said = np.argmax(np.round(bayes(step.apply(task), analysis)[assessment], 10), axis=1)
            different += int((said != np.array(expected["cv"]["predicted_class_index"])[assessment]).sum())
        compared += len(task)
    assert enough(compared, 3000)
    assert different == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("job", "distance"),
    [
        ("IBk_K1", "euclidean"),
        pytest.param("IBk_K3", "euclidean", marks=pytest.mark.slow),
        pytest.param("IBk_K5", "euclidean", marks=pytest.mark.slow),
        pytest.param("IBk_K11", "euclidean", marks=pytest.mark.slow),
        pytest.param("IBk_K5_manhattan", "manhattan", marks=pytest.mark.slow),
    ],
)
def test_neighbours_with_wekas_conventions_are_ibks(enough, answers, reference_task, reference_folds, job, distance):
    semantics, compared, differing = answers("knn/weka_semantics").get("weka_semantics", {}).get("comparison", {}), 0, 0
    for name, expected in jobs(answers, job):
        task = reference_task(name)
        numeric = np.array([feature.kind == "numeric" for feature in task.features])
        if len(task) > ROWS or np.isnan(task.values[:, numeric]).any():
            continue
        k = int(job.split("_")[1][1:])
        predicted, tied = np.full(len(task), -1), np.zeros(len(task), bool)
        for analysis, assessment in parts(reference_folds(name)):
            predicted[assessment], tied[assessment] = ibk(task, analysis, assessment, k, make("distance", distance))
        other = predicted != np.array(expected["cv"]["predicted_class_index"])
        assert not other[~tied].any(), name
        if distance == "euclidean" and str(k) in semantics.get(name, {}):
            said = semantics[name][str(k)]  # of a plain program with the same conventions, beside Weka
            assert said["rows"] == len(task), name
            assert said["different_from_weka"] == 0, name
            assert other.sum() <= said["vote_ties"], name
        compared, differing = compared + int((~tied).sum()), differing + int(other.sum())
    assert enough(compared, 3000)
    assert differing <= 12


@pytest.mark.slow
@pytest.mark.about("segment_train")
@pytest.mark.parametrize("k", [1, 5])
def test_no_row_of_a_larger_table_differs_from_ibk(answers, reference_task, reference_folds, k):
    """segment_train, 1,500 rows, tied ones too."""
    task, predicted = reference_task("segment_train"), np.full(1500, -1)
    for analysis, assessment in parts(reference_folds("segment_train")):
        predicted[assessment], _ = ibk(task, analysis, assessment, k, make("distance", "euclidean"))
    said = answers("weka/segment_train")["segment_train"]["jobs"][f"IBk_K{k}"]["result"]["cv"]["predicted_class_index"]
    assert predicted.tolist() == said


def ibk(task, analysis, assessment, k, distance) -> tuple[list[int], list[bool]]:
    """Weka's answers to queries in their order, and whether they hang on the last digit of a distance or of a vote.

    The ranges are those of the stored rows and of the queries so far.
    """
    metric = distance.fit(task, analysis, "range")
    low, high = (
        pick(task.values[analysis], axis=0, where=~np.isnan(task.values[analysis]), initial=start)
        for pick, start in ((np.min, np.inf), (np.max, -np.inf))
    )
    said, tied = [], []
    for query in assessment:
        low, high = np.fmin(low, task.values[query]), np.fmax(high, task.values[query])
        number = metric.kinds == 0
        spread = np.where(number, high - low, 1.0)
        scale = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
        grown = replace(metric, center=np.where(number, low, 0.0), scale=scale)
        stored, asked = (grown.encode(task.values[rows], task.features) for rows in (analysis, [query]))
        found = distances(grown, stored, asked)[0]
        near = found <= np.sort(found)[k - 1] * (1 + 1e-12)
        votes = np.bincount(task.target[analysis[near]], minlength=len(task.classes)) + 1 / len(analysis)
        said.append(int(np.argmax(votes)))
        best = np.sort(votes)[-2:]
        tied.append(bool(near.sum() != (found <= np.sort(found)[k - 1]).sum() or best[1] - best[0] < 1e-9))
    return said, tied
