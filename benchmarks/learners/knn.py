"""k-NN: 156 candidates (26 k × 3 distances × 2 votes) in ten folds, one search per distance and fold, against GridSearchCV."""

from collections.abc import Iterable
from itertools import product

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.common.timing import Row, in_two_threads, side_by_side
from modelsel.core.spec import make
from modelsel.core.types import Task
from modelsel.learner.knn import Knn

KS, DISTANCES, VOTES = range(1, 52, 2), ("euclidean", "manhattan", "chebyshev"), ("uniform", "inverse")
THEIR_VOTE = {"uniform": "uniform", "inverse": "distance"}


def rows() -> Iterable[Row]:
    task = make("dataset", "waveform", rows=5000).read()
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(task.values, task.target))
    check(task, folds)
    grid = {"n_neighbors": list(KS), "metric": list(DISTANCES), "weights": [THEIR_VOTE[vote] for vote in VOTES]}
    search = GridSearchCV(KNeighborsClassifier(), grid, scoring="accuracy", cv=folds, n_jobs=2, refit=False)
    yield side_by_side(
        "156 k-NN candidates × 10 folds, 5,000 × 21",
        "GridSearchCV(KNeighborsClassifier), n_jobs=2",
        lambda: accuracies(task, folds),
        lambda: search.fit(task.values, task.target),
        equal="accuracies of all inverse-vote candidates over all folds, class scores of all candidates on one fold (1e-9)",
        turns=3,
        goal=30,
        note="Two threads of ours. Uniform votes that tie between classes are decided by nearness here and by class there.",
    )


def candidates(distance: str) -> list[Knn]:
    return [Knn(k=k, distance=make("distance", distance), normalise="none", vote=vote) for vote in VOTES for k in KS]


def accuracies(task: Task, folds: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Mean accuracy of every candidate, distances × (votes × k)."""

    def one(cell: tuple[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        learners, (analysis, assessment) = candidates(cell[0]), cell[1]
        path = learners[0].fit_path(task, analysis, np.random.default_rng(0))
        predicted = path.outputs(learners, task, assessment, scores=False).predicted
        return np.asarray((predicted == task.target[assessment]).mean(axis=1))

    found = np.array(in_two_threads(one, product(DISTANCES, folds)))
    return np.asarray(found.reshape(len(DISTANCES), len(folds), -1).mean(axis=1))


def check(task: Task, folds: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """The same answers from both."""
    ours = accuracies(task, folds).reshape(len(DISTANCES), len(VOTES), len(KS))
    for place, distance in enumerate(DISTANCES):
        grid = {"n_neighbors": list(KS)}
        theirs = GridSearchCV(KNeighborsClassifier(metric=distance, weights="distance"), grid, cv=folds, n_jobs=2, refit=False)
        assert np.allclose(ours[place, 1], theirs.fit(task.values, task.target).cv_results_["mean_test_score"], atol=1e-12)
        analysis, assessment = folds[0]
        learners = candidates(distance)
        scores = (
            learners[0]
            .fit_path(task, analysis, np.random.default_rng(0))
            .outputs(learners, task, assessment, scores=True)
            .scores
        )
        assert scores is not None
        for learner, own in zip(learners, scores, strict=True):
            there = KNeighborsClassifier(learner.k, metric=distance, weights=THEIR_VOTE[learner.vote])
            there.fit(task.values[analysis], task.target[analysis])
            assert np.allclose(own, there.predict_proba(task.values[assessment]), atol=1e-9)
