"""Base of schemes: a new one is a frozen dataclass with settings and `pairs`.

@dataclass(frozen=True)
class EveryNth(BaseScheme):
    folds: int = whole(5, least=2)

    def pairs(self, task, rng):
        number = np.arange(len(task)) % self.folds
        for fold in range(self.folds):
            yield number != fold, number == fold
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.spec import kind_of
from modelsel.core.types import Booleans, Fold, Integers, Resampling, Task
from modelsel.scheme.partition import groups_ignored


class BaseScheme:
    """Base of schemes: a recipe for folds. A new one defines `pairs`.

    The class attribute `reads_groups` says that folds respect groups; else tasks with groups are refused. `reads_times`
    says that folds follow the order of time.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.scheme.kfold import Kfold
    >>> len(Kfold(folds=7).instantiate(PlayTennis().read(), seed=0).folds)
    7
    """

    reads_groups: ClassVar[bool] = False  # else tasks with groups are refused, whose rows it would tear apart
    reads_times: ClassVar[bool] = False  # where True, a lone column of dates is the time of the rows

    def pairs(self, task: Task, rng: np.random.Generator) -> Iterable[tuple[Booleans | Integers, Booleans | Integers]]:
        """Return analysis and assessment rows of each fold, as positions or as masks.

        Parameters
        ----------
        task : Task
            The development rows.
        rng : numpy.random.Generator
            The only source of chance; the same for the same seed and rows.

        Returns
        -------
        iterable of pairs
            Two arrays per fold: row positions, or masks over all rows.
        """
        raise NotImplementedError

    def problems(self, task: Task) -> Iterator[str]:
        """Yield reasons why it cannot be used on this task.

        Parameters
        ----------
        task : Task
            The development rows.

        Yields
        ------
        str
            Sentences for the error message; none where all is well.
        """
        if not self.reads_groups:
            yield from groups_ignored(task, self)

    def instantiate(self, task: Task, seed: int) -> Resampling:
        """Make the folds on the rows of a task.

        Parameters
        ----------
        task : Task
            The development rows.
        seed : int
            The study's seed.

        Returns
        -------
        Resampling
            The folds, bound to these rows by the task's fingerprint.

        Raises
        ------
        ValueError
            For a fold without rows in one half, or with a row in both.
        """
        own = getattr(self, "seed", None)  # as that of the schemes here: none is the study's
        pairs = self.pairs(task, generator(seed if own is None else own, task.draw_fingerprint, kind_of(self)))
        folds = tuple(Fold(index, 0, _rows(one), _rows(other)) for index, (one, other) in enumerate(pairs))
        for fold in folds:
            if not len(fold.analysis) or not len(fold.assessment) or np.intersect1d(fold.analysis, fold.assessment).size:
                raise ValueError(f"scheme {kind_of(self)}: fold {fold.index} has an empty half, or a row in both")
        return Resampling(kind_of(self), task.fingerprint, folds)


def _rows(which: Booleans | Integers) -> Integers:
    """Turn a mask or positions into read-only positions."""
    found = np.asarray(which)
    rows = np.flatnonzero(found) if found.dtype == np.bool_ else found.astype(np.int64)
    rows.flags.writeable = False
    return rows
