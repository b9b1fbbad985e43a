"""The plan of a selection: a pure value that says which fits are made for which candidates on which folds.

    cells = batches × folds        fits needed = cells + 1        fits of a loop = candidates × folds + 1

and for a learner that makes inner fits (a calibrator's) 1 + inner folds in the place of each 1

(the one more is the winner's fit on all development rows; a scheme's repeats are folds of their own).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.fingerprint import digest
from modelsel.core.types import Candidate, Resampling, Task
from modelsel.planning.batch import Batch, batches


@dataclass(frozen=True, order=True)
class Cell:
    """The unit of work, of parallelism, of the journal and of resume: positions of a fold and of a batch."""

    fold: int
    batch: int


@dataclass(frozen=True, eq=False)
class Plan:
    """Candidates in declared order, their batches, and the fingerprint of the folds that they are planned for."""

    candidates: tuple[Candidate, ...]
    batches: tuple[Batch, ...]
    folds: int
    rows: int
    resampling: str  # fingerprint

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, first fold first, so that a space that cannot work is known after one fold."""
        return tuple(Cell(fold, batch) for fold in range(self.folds) for batch in range(len(self.batches)))

    @property
    def families(self) -> tuple[Candidate, ...]:
        """Candidates that still stand for several (`alpha: path`): resolved before the plan is run."""
        return tuple(candidate for candidate in self.candidates if getattr(candidate.learner, "is_family", False))

    @property
    def needed(self) -> int:
        """Inner fits of learners that make some are counted too."""
        return self.folds * sum(self._fits(batch.members[0]) for batch in self.batches) + 1

    @property
    def naive(self) -> int:
        return self.folds * sum(self._fits(member) for member in range(len(self.candidates))) + 1

    @property
    def inner(self) -> int:
        """Count the needed fits that are made inside analysis parts."""
        return self.needed - 1 - len(self.cells)

    def _fits(self, member: int) -> int:
        return int(getattr(self.candidates[member].learner, "fits", 1))

    @cached_property
    def fingerprint(self) -> str:
        return digest([self.resampling, [candidate.id for candidate in self.candidates]])

    def check(self, task: Task, resampling: Resampling) -> None:
        """Refuse folds or rows that the plan was not made for."""
        if resampling.fingerprint != self.resampling or resampling.task_fingerprint != task.fingerprint:
            raise ConfigurationError(
                Problem("MSEL-521", "the plan was made for other rows or folds", f"task {task.name!r}", "make the plan again")
            )


def make(candidates: Sequence[Candidate], task: Task, resampling: Resampling) -> Plan:
    """Plan the cells of all candidates on the folds of a scheme that was instantiated on this task.

    Raises ConfigurationError when the folds belong to other rows, when two candidates are the same, or when there is none.
    """
    ConfigurationError.raise_if(_problems(candidates, task, resampling))
    return Plan(tuple(candidates), batches(candidates), len(resampling.folds), len(task), resampling.fingerprint)


def _problems(candidates: Sequence[Candidate], task: Task, resampling: Resampling) -> list[Problem]:
    """Find the reasons why no plan can be made of these candidates and folds."""
    found = []
    if resampling.task_fingerprint != task.fingerprint:
        found.append(Problem("MSEL-521", "the folds were made for other rows", f"scheme {resampling.scheme}",
                             "instantiate the scheme on this task"))  # fmt: skip
    if not candidates:
        found.append(Problem("MSEL-522", "there is no candidate", "space", "add an entry, or widen its sweep"))
    if len({candidate.id for candidate in candidates}) < len(candidates):
        found.append(Problem("MSEL-523", "two candidates are the same", "space", "merge duplicates before planning"))
    return found
