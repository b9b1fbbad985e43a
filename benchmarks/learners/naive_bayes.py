"""Naive Bayes: 150 candidates (75 smoothings × 2 priors) in ten folds, one count per fold, against GridSearchCV on mushroom."""

import sys
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import CategoricalNB

from benchmarks.common.places import DATA
from benchmarks.common.timing import Row, side_by_side
from modelsel.core.spec import make
from modelsel.core.types import Feature, Task
from modelsel.learner.naive_bayes import NaiveBayes

MUSHROOM = DATA / "mushroom.csv"
SMOOTHINGS = np.geomspace(1e-3, 100, 75)
LEARNERS = [NaiveBayes(smoothing=float(l), prior=prior) for l in SMOOTHINGS for prior in ("empirical", "uniform")]  # noqa: E741
RNG = np.random.default_rng(0)


def rows() -> Iterable[Row]:
    if not MUSHROOM.is_file():
        print(f"naive_bayes: skipped, {MUSHROOM.name} is not there", file=sys.stderr)
        return
    task = known(make("dataset", "csv", path=str(MUSHROOM), target="class").read())
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(task.values, task.target))
    grid = {"alpha": SMOOTHINGS.tolist(), "fit_prior": [True, False]}
    estimator = CategoricalNB(min_categories=[len(feature.levels) for feature in task.features])
    search = GridSearchCV(estimator, grid, scoring="accuracy", cv=folds, n_jobs=2, refit=False)
    theirs = search.fit(task.values, task.target).cv_results_["mean_test_score"]
    assert np.allclose(accuracies(task, folds), theirs, atol=1e-12)
    yield side_by_side(
        "150 naive Bayes candidates × 10 folds, mushroom 8,124 × 22",
        "GridSearchCV(CategoricalNB), n_jobs=2",
        lambda: accuracies(task, folds),
        lambda: search.fit(task.values, task.target),
        equal="accuracies of all candidates (1e-12)",
        turns=3,
        goal=50,
        note="One thread of ours.",
    )


def known(task: Task) -> Task:
    """Missing values as a level of their own, which the other side needs."""
    features = tuple(Feature(f.name, f.kind, (*f.levels, "?")) for f in task.features)
    missing = np.array([len(f.levels) for f in task.features], np.float64)
    return replace(task, features=features, values=np.where(np.isnan(task.values), missing, task.values))


def accuracies(task: Task, folds: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Mean accuracy of every candidate."""
    found = []
    for analysis, assessment in folds:
        predicted = LEARNERS[0].fit_path(task, analysis, RNG).outputs(LEARNERS, task, assessment, scores=False).predicted
        found.append((predicted == task.target[assessment]).mean(axis=1))
    return np.mean(found, axis=0)
