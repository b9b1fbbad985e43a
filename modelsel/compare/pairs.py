"""The winner and the best of every other learner, compared on the same folds."""

from modelsel.core.selection import Selection
from modelsel.core.types import Resampling
from modelsel.record.finished import Pair


def pairs(selection: Selection, resampling: Resampling) -> tuple[Pair, ...]:
    return ()
