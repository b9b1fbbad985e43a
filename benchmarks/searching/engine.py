"""A declared space against the loop that people would write: 1,000 tree candidates, 10 folds, waveform 5,000 × 21.

Theirs is GridSearchCV (n_jobs=2) on a sample of the same candidates and folds, divided by the sample's share; ours is the
whole run: plan, cells, journal on disk, scores, standard errors, loss matrix.

Equality: a candidate of depth 4 scores, fold by fold, exactly as scikit-learn's, whose trees are unique that far. Deeper
nodes of few rows have many tests of equal goodness: scikit-learn takes one at random, we take the first. So deep trees are
checked test by test instead: at every node, scikit-learn's own search finds nothing better than the test that stands there.
"""

from collections.abc import Iterable

import numpy as np
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.tree import DecisionTreeClassifier

from benchmarks.common.one_study import alone, lock_share, study
from benchmarks.common.timing import Row, seconds, side_by_side
from modelsel.core.spec import make as part
from modelsel.core.types import Candidate, Integers, Resampling, Task
from modelsel.dataset.waveform import Waveform
from modelsel.learner.tree import Tree
from modelsel.runner.final_fit import fit
from modelsel.runner.results import Results
from modelsel.scheme.stratified_kfold import StratifiedKfold

DEPTHS, SPLITS = [*range(1, 25), None], [*range(2, 42, 2)]
SAMPLE = {"criterion": ["gini"], "max_depth": [4, 12, None], "min_samples_split": [2, 20]}
SAMPLED = 6
UNIQUE = 4  # depth to which scikit-learn grows the same trees whatever its seed


def rows() -> Iterable[Row]:
    task = Waveform(rows=5000).read()
    folds = StratifiedKfold(folds=10).instantiate(task, 0)
    some = space()
    results = study(task, folds, some)
    same_as_a_loop(results, task, folds)
    grid = grid_search(task, folds)
    grid.fit(task.values, task.target)
    alike = same_where_unique(results, some, grid)
    tests = none_better(task, folds.folds[0].analysis)
    yield side_by_side(
        f"{len(some):,} tree candidates × 10 folds, waveform 5,000 × 21, per candidate and fold",
        "GridSearchCV(DecisionTreeClassifier), n_jobs=2, a sample of them",
        lambda: study(task, folds, some),
        lambda: grid.fit(task.values, task.target),
        equal=f"scores equal a plain loop of fits, and scikit-learn's where trees are unique (depth {UNIQUE}: {alike} of the "
        f"sample); at each of {tests} nodes of the full trees its search finds no better test",
        turns=3,
        goal=1000,
        share=SAMPLED / len(some),
        note=profile(task, folds, some),
    )


def profile(task: Task, folds: Resampling, some: tuple[Candidate, ...]) -> str:
    """Where the time goes: what is not in kernels holds the interpreter lock, and a second thread does not help there."""
    spent = seconds(lambda: alone(task, folds, some))
    outside = lock_share(lambda: alone(task, folds, some))
    each = spent * outside / len(some) / len(folds.folds)
    return (
        f"One thread takes {spent * 1e3:.0f} ms, of which {1 - outside:.0%} in compiled kernels that grow trees and send rows "
        f"down; the rest, {each * 1e6:.0f} µs a candidate and fold, is one interpreter's: truncating, predicting, counting "
        "errors, losses."
    )


def space() -> tuple[Candidate, ...]:
    return tuple(
        Candidate(Tree(criterion=part("criterion", criterion), max_depth=depth, min_split=split))
        for criterion in ("gini", "entropy") for depth in DEPTHS for split in SPLITS
    )  # fmt: skip


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


def same_where_unique(results: Results, some: tuple[Candidate, ...], grid: GridSearchCV) -> int:
    """Candidates of the sample up to the depth where nothing ties, fold by fold."""
    place = {(c.learner.max_depth, c.learner.min_split): i for i, c in enumerate(some[:500])}
    found = grid.cv_results_
    shallow = [i for i, params in enumerate(found["params"]) if params["max_depth"] == UNIQUE]
    for i in shallow:
        params = found["params"][i]
        ours = results.board.folds[place[params["max_depth"], params["min_samples_split"]]]
        theirs = [1 - found[f"split{fold}_test_score"][i] for fold in range(len(ours))]
        assert np.abs(ours - theirs).max() < 1e-12, params
    return len(shallow)


def none_better(task: Task, rows: Integers) -> int:
    """Goodness of every test of the full trees against the best that scikit-learn finds for the same rows."""
    return sum(_none_better(task, rows, criterion) for criterion in ("gini", "entropy"))


def _none_better(task: Task, rows: Integers, criterion: str) -> int:
    tree = Tree(criterion=part("criterion", criterion)).fit(task, rows, np.random.default_rng(0)).cut.tree
    here, tests = {0: rows}, np.flatnonzero(tree.test)
    for node in tests.tolist():
        own = here.pop(node)
        left = task.values[own, tree.feature[node]] <= tree.threshold[node]
        here.update(zip(tree.children(node).tolist(), (own[left], own[~left]), strict=True))
        stump = DecisionTreeClassifier(criterion=criterion, max_depth=1, random_state=0).fit(task.values[own], task.target[own])
        assert abs(_decrease(stump) - tree.goodness[node]) < 1e-9, (criterion, node)
    return len(tests)


def _decrease(stump: DecisionTreeClassifier) -> float:
    impurity, weight = stump.tree_.impurity, stump.tree_.weighted_n_node_samples
    return float(impurity[0] - weight[1:] @ impurity[1:] / weight[0])
