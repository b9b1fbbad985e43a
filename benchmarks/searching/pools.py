"""What a second worker adds, and what a cell costs beside its fit."""

from collections.abc import Iterable

import numpy as np

from benchmarks.common.one_study import alone, lock_share, study
from benchmarks.common.timing import Row, side_by_side
from modelsel.core.types import Candidate
from modelsel.dataset.waveform import Waveform
from modelsel.learner.majority import Majority
from modelsel.learner.tree import Tree
from modelsel.scheme.repeated_kfold import RepeatedKfold
from modelsel.scheme.stratified_kfold import StratifiedKfold


def rows() -> Iterable[Row]:
    yield two_threads(5_000)
    yield two_threads(20_000)
    yield a_cell()


def two_threads(size: int) -> Row:
    """Twenty fits per fold, each with its own growing, so that every cell is a fit.

    What is not kernel holds the interpreter lock. With a share s of a cell's processor time two threads do 2 / (1 + s) of the
    work of one if neither computes while the other holds it (Amdahl), and more where one is in a kernel meanwhile.
    """
    task = Waveform(rows=size).read()
    folds = StratifiedKfold(folds=10).instantiate(task, 0)
    some = tuple(Candidate(Tree(min_leaf=leaf)) for leaf in range(1, 21))
    one, two = study(task, folds, some, 1), study(task, folds, some, 2)
    assert np.array_equal(one.board.folds, two.board.folds)
    held = lock_share(lambda: alone(task, folds, some))
    return side_by_side(
        f"200 cells of one tree each, {size:,} × 21, two threads",
        "one thread",
        lambda: study(task, folds, some, 2),
        lambda: study(task, folds, some, 1),
        equal="scores bit for bit",
        goal=1.7,
        note=f"{held:.0%} of a cell's processor time is not in kernels: {2 / (1 + held):.2f} if all waited for it",
    )


def a_cell() -> Row:
    """500 cells of a learner that does nothing, against the same predictions made in a bare loop."""
    task = Waveform(rows=1000).read()
    folds = RepeatedKfold(folds=10, repeats=50).instantiate(task, 0)
    some = (Candidate(Majority()),)

    def engine() -> np.ndarray:
        return alone(task, folds, some).board.folds

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
