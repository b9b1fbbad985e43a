"""A declared space against the loop that people would write: 1,000 tree candidates, 10 folds, waveform 5,000 × 21.

Theirs is GridSearchCV (n_jobs=2) on a sample of the same candidates and folds, divided by the sample's share; ours is the
whole run: plan, cells, journal on disk, scores, standard errors, loss matrix.
"""

import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.tree import DecisionTreeClassifier

from benchmarks._frame import Row, side_by_side
from modelsel.core.spec import make as part
from modelsel.core.types import Candidate, Resampling, Task
from modelsel.dataset.waveform import Waveform
from modelsel.learner.tree import Tree
from modelsel.measure.error import Error
from modelsel.plan.make import make
from modelsel.runner.final import fit
from modelsel.runner.journal import Journal
from modelsel.runner.pool import Pool
from modelsel.runner.results import Results
from modelsel.runner.run import run
from modelsel.scheme.stratified_kfold import StratifiedKfold

DEPTHS, SPLITS = [*range(1, 25), None], [*range(2, 42, 2)]
SAMPLE = {"criterion": ["gini"], "max_depth": [4, 12, None], "min_samples_split": [2, 20]}
SAMPLED = 6


def rows() -> Iterable[Row]:
    task = Waveform(rows=5000).read()
    folds = StratifiedKfold(folds=10).instantiate(task, 0)
    some = space()
    results = study(task, folds, some)
    same_as_a_loop(results, task, folds)
    grid = grid_search(task, folds)
    grid.fit(task.values, task.target)
    apart = differences(results, some, grid)
    yield side_by_side(
        f"{len(some):,} tree candidates × 10 folds, waveform 5,000 × 21, per candidate and fold",
        "GridSearchCV(DecisionTreeClassifier), n_jobs=2, a sample of them",
        lambda: study(task, folds, some),
        lambda: grid.fit(task.values, task.target),
        equal=f"scores equal a plain loop of fits; mean errors within {apart:.4f} of scikit-learn's (ties)",
        turns=3,
        goal=1000,
        share=SAMPLED / len(some),
    )


def space() -> tuple[Candidate, ...]:
    return tuple(
        Candidate(Tree(criterion=part("criterion", criterion), max_depth=depth, min_split=split))
        for criterion in ("gini", "entropy") for depth in DEPTHS for split in SPLITS
    )  # fmt: skip


def study(task: Task, folds: Resampling, some: tuple[Candidate, ...], workers: int = 2) -> Results:
    """All of what the engine does for a study, the journal on disk."""
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
        return run(make(some, task, folds), task, folds, Error(), Pool("threads", workers), journal)


def same_as_a_loop(results: Results, task: Task, folds: Resampling) -> None:
    """Every hundredth candidate, fitted alone on the first fold, scores the same."""
    fold = folds.folds[0]
    for position in range(0, len(results.candidates), 100):
        predicted = fit(results.candidates[position], task, 0, fold.analysis).predict(task)[fold.assessment]
        assert np.mean(predicted != task.target[fold.assessment]) == results.board.folds[position, 0]


def grid_search(task: Task, folds: Resampling) -> GridSearchCV:
    fold_of = np.empty(len(task), int)
    for fold in folds.folds:
        fold_of[fold.assessment] = fold.index
    tree = DecisionTreeClassifier(random_state=0)
    return GridSearchCV(tree, SAMPLE, cv=PredefinedSplit(fold_of), n_jobs=2, refit=False)


def differences(results: Results, some: tuple[Candidate, ...], grid: GridSearchCV) -> float:
    """Largest difference of mean errors over the sample; equal but for ties between tests, so it must be small."""
    ours = {(c.learner.max_depth, c.learner.min_split): mean for c, mean in zip(some[:500], results.board.mean, strict=False)}
    scored = zip(grid.cv_results_["params"], grid.cv_results_["mean_test_score"], strict=True)
    apart = max(abs(1 - score - ours[params["max_depth"], params["min_samples_split"]]) for params, score in scored)
    assert apart < 0.01, apart
    return float(apart)
