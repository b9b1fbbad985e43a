"""A run on doubles in one call, for the tests of this room."""

from modelsel.planning.make import make
from modelsel.runner.execution.executors import Pool
from modelsel.runner.journal import Journal
from modelsel.runner.run import run
from tests import doubles
from tests.doubles import Wrong, identity

WRONG, ALONE = Wrong(), Pool("sequential")


def study(folder, some, measure=WRONG, pool=ALONE, task=None, folds=3, repeats=1, name="a", older=(), **more):
    task = task or doubles.task()
    resampling = doubles.folds(task, folds, repeats)
    plan = make(some, task, resampling)
    with Journal(folder / name, older) as journal:
        return run(plan, task, resampling, measure, pool, journal, **more)


def answer(results):
    """A digest of everything that a person could see of the results."""
    board = results.board
    assessed = results.out_of_fold(range(len(board.ids)))
    matrix = results.losses.matrix
    return identity(
        board.ids, list(results.status), list(results.reasons), str(board.folds.tolist()), str(board.mean.tolist()),
        str(board.se.tolist()), str(board.complexity.tolist()), assessed.predicted.tolist(),
        None if matrix is None else str(matrix.tolist()), None if assessed.scores is None else str(assessed.scores.tolist()),
    )  # fmt: skip
