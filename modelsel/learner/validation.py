"""Validation rows of a fit that stops early: a part of its own analysis rows, divided as the scheme divides rows.

The scheme makes its folds once more, of the analysis rows alone; the last one says which of them are fitted on and which are
held. So groups stay whole, classes stay in proportion, and what is held comes later in time, after the scheme's gap, where the
scheme says so. Rows of neither half are left out. A row that stands in the analysis part several times is on one side only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from modelsel.core.spec import kind_of
from modelsel.core.types import ClassTask, Integers, Task

FEWEST = 2  # rows that can say when to stop


@dataclass(frozen=True)
class Holding:
    """The scheme that holds rows back, and the seed that it draws from where it has none of its own."""

    scheme: Any
    seed: int = 0

    def divided(self, task: Task, rows: Integers) -> tuple[Integers, Integers]:
        """Rows that are fitted on, and those that say when to stop; of the latter none of a class that nothing is fitted on.

        Raises ValueError where the scheme cannot divide these rows.
        """
        distinct = np.unique(rows)
        part = task.take(distinct)
        if reason := next(iter(self.scheme.problems(part)), ""):
            raise ValueError(reason)
        last = self.scheme.instantiate(part, self.seed).folds[-1]
        fitted, held = rows[np.isin(rows, distinct[last.analysis])], distinct[last.assessment]
        if np.isin(held, fitted).any():
            raise ValueError(f"scheme={kind_of(self.scheme)} judges rows that it is fitted on")
        if isinstance(task, ClassTask):
            held = held[np.isin(task.target[held], task.target[fitted])]
        if len(held) < FEWEST:
            few = f"holds {len(held)} of {len(distinct)} rows back, too few to stop by"
            raise ValueError(f"scheme={kind_of(self.scheme)} {few}")
        return fitted, held

    def objection(self, task: Task, rows: Integers) -> str | None:
        """Say why these rows cannot be divided; None where they can."""
        try:
            self.divided(task, np.asarray(rows))
        except ValueError as error:
            return f"early_stopping: no validation rows: {error}; say which: validation: {{kind: stratified_kfold, folds: 5}}"
        return None

    def problems(self, task: Task) -> Iterator[str]:
        """Yield why the analysis rows of a fold cannot be divided: of the first fold of which that is so."""
        if any(True for _ in self.scheme.problems(task)):
            return  # it is said of the scheme itself
        for fold in self.scheme.instantiate(task, self.seed).folds:
            if reason := self.objection(task, fold.analysis):
                yield reason
                return
