"""A splitter object of one's own: `modelsel.run(frame, target="y", scheme=GroupKFold(5))`, or what has `split(X, y, groups)`.

It is asked once, on the development rows: X are their columns as they were handed over, y their labels, groups those declared.
A row that is assessed again belongs to a further repeat. A file can only name it: the object is in the memory of its process.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.spec import kind_of, plain
from modelsel.core.types import ClassTask, Fold, Integers, Resampling, Task
from modelsel.foreign import objects
from modelsel.foreign.identity import identity
from modelsel.scheme.base import BaseScheme

Pair = tuple[Integers, Integers]


@dataclass(frozen=True)
class Splitter(BaseScheme):
    """Folds by a splitter object of one's own, which may follow groups or time; one that tears a group is refused."""

    identity: str = plain("", help="of the object that was handed over in Python")
    splitter: str = plain("", help="what it is, for people")

    portable: ClassVar[bool] = False
    reads_source: ClassVar[bool] = True

    def problems(self, task: Task) -> Iterator[str]:
        """Yield why it cannot be asked, or what is wrong with its folds."""
        if not self.identity:
            yield "scheme=splitter is an object: hand it over in Python, scheme=GroupKFold(5)"
        elif not objects.is_held(self.identity):
            yield f"the splitter {self.splitter} is in the memory of the process in which it was made, and not of this one"
        elif _draws(made := objects.held_object(self.identity)):
            yield f"{self.splitter} draws other folds each time: give it random_state=NUMBER"
        elif identity(made) != self.identity:
            yield f"{self.splitter} has changed since it was handed over"
        else:
            try:
                yield from _wrong(self._pairs_of(task), task)
            except Exception as error:
                yield f"{self.splitter} cannot divide these rows: {error}"

    def instantiate(self, task: Task, seed: int) -> Resampling:
        """Make its folds; the seed is its own."""
        times = np.zeros(len(task), np.int64)
        folds: list[Fold] = []
        for analysis, assessment in self._pairs_of(task):
            for rows in (analysis, assessment):
                rows.flags.writeable = False
            folds.append(Fold(len(folds), int(times[assessment].max()), analysis, assessment))
            times[assessment] += 1
        return Resampling(kind_of(self), task.fingerprint, tuple(folds))

    def _pairs_of(self, task: Task) -> list[Pair]:
        """Return the splitter's pairs as positions among the rows of the task."""
        X = np.zeros((len(task), 1)) if task.source is None else task.source.take(task.rows)
        y = np.array(task.classes)[task.target] if isinstance(task, ClassTask) else task.target
        every = np.arange(len(task), dtype=np.int64)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The groups parameter is ignored")  # what tears them is refused
            pairs = list(objects.held_object(self.identity).split(X, y, task.groups))
        return [(every[np.asarray(one)], every[np.asarray(other)]) for one, other in pairs]


def _draws(splitter: object) -> bool:
    """Say whether it draws and was told no seed that stays the same."""
    state = getattr(splitter, "random_state", 0)
    return getattr(splitter, "shuffle", True) is not False and not isinstance(state, int | np.integer)


def _wrong(pairs: Sequence[Pair], task: Task) -> Iterator[str]:
    """Yield what no folds may be: none, empty halves, rows or groups on both sides."""
    if not pairs:
        yield "the splitter makes no folds"
    for number, (analysis, assessment) in enumerate(pairs):
        if not len(analysis) or not len(assessment):
            yield f"fold {number} of the splitter has an empty half"
        elif both := len(np.intersect1d(analysis, assessment)):
            yield f"{both} rows are in both halves of fold {number} of the splitter"
        elif len(np.unique(assessment)) < len(assessment):
            yield f"fold {number} of the splitter assesses rows twice"
        elif task.groups is not None and (torn := len(np.intersect1d(task.groups[analysis], task.groups[assessment]))):
            yield f"{torn} groups are on both sides of fold {number} of the splitter: use one that holds groups together"
