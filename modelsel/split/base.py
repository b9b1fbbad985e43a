"""What an outer split has to offer."""

from collections.abc import Iterable
from typing import ClassVar

from modelsel.core.types import Partition, Task


class BaseSplit:
    """Base of outer splits into development and test rows. A new one defines `partition`.

    `Partition.test` is empty for `split=none`. The class attribute `reads_times` says that rows are divided in the order
    of time.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.split.random import Random
    >>> parts = Random(test=0.5).partition(PlayTennis().read())
    >>> len(parts.development), len(parts.test)
    (7, 7)
    """

    reads_times: ClassVar[bool] = False  # where True, a lone column of dates is the time of the rows

    def problems(self, task: Task) -> Iterable[str]:
        """List reasons why it cannot be used on this task.

        Parameters
        ----------
        task : Task
            All rows.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        return ()

    def partition(self, task: Task) -> Partition:
        """Choose the test rows.

        Parameters
        ----------
        task : Task
            All rows.

        Returns
        -------
        Partition
            Positions of the development and of the test rows; no row is in both.
        """
        raise NotImplementedError
