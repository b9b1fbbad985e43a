"""What a second worker adds, and what a cell costs beside its fit."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks._frame import Row, side_by_side
from benchmarks.engine import study
from modelsel.core.types import Candidate
from modelsel.dataset.waveform import Waveform
from modelsel.learner.majority import Majority
from modelsel.learner.tree import Tree
from modelsel.measure.error import Error
from modelsel.plan.make import make
from modelsel.runner.journal import Journal
from modelsel.runner.pool import Pool
from modelsel.runner.run import run
from modelsel.scheme.repeated_kfold import RepeatedKfold
from modelsel.scheme.stratified_kfold import StratifiedKfold


def rows() -> Iterable[Row]:
    yield two_threads()
    yield a_cell()


def two_threads() -> Row:
    """Twenty fits per fold, each with its own growing, so that every cell is a fit."""
    task = Waveform(rows=5000).read()
    folds = StratifiedKfold(folds=10).instantiate(task, 0)
    some = tuple(Candidate(Tree(min_leaf=leaf)) for leaf in range(1, 21))
    one, two = study(task, folds, some, 1), study(task, folds, some, 2)
    assert np.array_equal(one.board.folds, two.board.folds)
    return side_by_side(
        "200 cells of one tree each, two threads",
        "one thread",
        lambda: study(task, folds, some, 2),
        lambda: study(task, folds, some, 1),
        equal="scores bit for bit",
        goal=1.7,
    )


def a_cell() -> Row:
    """500 cells of a learner that does nothing, against the same predictions made in a bare loop."""
    task = Waveform(rows=1000).read()
    folds = RepeatedKfold(folds=10, repeats=50).instantiate(task, 0)
    some = (Candidate(Majority()),)

    def engine() -> np.ndarray:
        with tempfile.TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
            return run(make(some, task, folds), task, folds, Error(), Pool("sequential"), journal).board.folds

    def loop() -> np.ndarray:
        scores = []
        for fold in folds.folds:
            path = Majority().fit_path(task, fold.analysis, np.random.default_rng(0))
            predicted = path.outputs([Majority()], task, fold.assessment, False).predicted
            scores.append(np.mean(predicted != task.target[fold.assessment]))
        return np.array(scores)[None]

    np.testing.assert_allclose(engine(), loop())
    row = side_by_side("500 cells with journal, scores and statistics", "a bare loop", engine, loop, equal="scores")
    cost = (row.ours - row.theirs) / len(folds.folds)
    return Row(**{**vars(row), "note": f"a cell costs {cost * 1e3:.2f} ms beside its fit: what the record is worth"})
