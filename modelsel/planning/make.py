"""The plan of a selection: a pure value that says which fits are made for which candidates on which folds.

    cells = batches × folds        fits needed = cells + 1        fits of a loop = candidates × folds + 1

and for a learner that makes inner fits (a calibrator's) 1 + inner folds in the place of each 1

(the one more is the winner's fit on all development rows; a scheme's repeats are folds of their own).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.fingerprint import digest
from modelsel.core.spec import kind_of, spec_of
from modelsel.core.types import Candidate, Feature, Resampling, Task
from modelsel.preparer.base import BasePreparer

NO_CANDIDATE = Problem("MSEL-522", "there is no candidate", "space", "add an entry, or widen its sweep")

# Candidates that cannot differ on a table are one: smoothing of counts says nothing where every feature is a number.
#
# A learner says which of its settings can matter for features of some kinds, and where nothing reads class scores
# (`mattering`); candidates of which that is the same stand for one, the first that was declared. What a preparation step makes
# of the features is known only when it is fitted, so that candidates with preparation are left as they are; and so are
# learners that draw, whose draws follow their settings.


def distinct_candidates(
    candidates: Sequence[Candidate], features: Sequence[Feature], scores: bool = True
) -> tuple[Candidate, ...]:
    """The candidates that can differ on these features, the first of each set that cannot.

    `scores` says whether anything reads class scores, and not only predicted classes.

    >>> from modelsel.learner.naive_bayes import NaiveBayes
    >>> both = [Candidate(NaiveBayes(smoothing=1)), Candidate(NaiveBayes(smoothing=2))]
    >>> number, name = Feature("x", "numeric"), Feature("x", "nominal", ("a", "b"))
    >>> len(distinct_candidates(both, [number])), len(distinct_candidates(both, [name]))
    (1, 2)
    """
    kinds = frozenset(feature.kind for feature in features)
    found: dict[object, Candidate] = {}
    for candidate in candidates:
        found.setdefault((candidate.preparers, _mattering(candidate, kinds, scores)), candidate)
    return tuple(found.values())


def _mattering(candidate: Candidate, kinds: frozenset[str], scores: bool) -> object:
    """Return the learner without settings that do nothing on columns of these kinds."""
    learner = candidate.learner
    if candidate.preparers or not hasattr(learner, "mattering"):
        return learner
    return learner.mattering(kinds, scores)


def say_identical(before: int, after: int) -> str:
    """Say how many candidates cannot differ on this table; empty where all can."""
    if before == after:
        return ""
    return f"{before - after} of {before} candidates are identical to another on this table and are counted once"


def count_declared(said: int, families: int, candidates: Sequence[Candidate]) -> int:
    """Count the candidates that were declared, a family (`alpha: path`) by its members.

    >>> from dataclasses import replace
    >>> from modelsel.learner.naive_bayes import NaiveBayes
    >>> one = Candidate(NaiveBayes())
    >>> count_declared(2, 1, [one, *[replace(one, family="pruner.alpha: path")] * 6])  # one by itself, a family of six
    7
    """
    return said - families + sum(bool(candidate.family) for candidate in candidates)


# A batch: the candidates that one fit can answer.
#
# Two candidates share a batch when their preparation steps and the growing specification of their learners are equal: they
# differ in path parameters only. A learner that reads feature subsets off its fit (`reads_subsets`, naive Bayes) also shares
# it among candidates that differ in the selections (`selects`) which end their preparation. A learner may say what is so dear
# after the fit that it is worth a cell of its own (`apart`: widths found by search): it fits again, from the same generator. A
# candidate that is made of the answers of others has no batch.


@dataclass(frozen=True)
class Batch:
    """`growing` is the digest that the members share; `members` are positions among the plan's candidates, ascending.

    `apart` tells batches of equal growing from each other; empty where nothing keeps learners out of one cell.
    """

    growing: str
    members: tuple[int, ...]
    apart: str = ""

    @property
    def place(self) -> str:
        """The name under which the journal keeps it."""
        return digest([self.growing, self.apart]) if self.apart else self.growing


def batches(candidates: Sequence[Candidate]) -> tuple[Batch, ...]:
    """Group candidates by what their fit depends on, in order of first appearance.

    The canonical digest is taken once per group: what is compared per candidate is the plain JSON text of the same facts.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    steps: dict[tuple[object, ...], list[dict[str, object]]] = {}
    by_text: dict[str, str] = {}
    for position, candidate in enumerate(candidates):
        if candidate.of_others:
            continue
        before = preparation(candidate)
        if before not in steps:
            steps[before] = [spec_of(step) for step in before]
        facts = [kind_of(candidate.learner), candidate.learner.fit_key(), steps[before]]
        text = json.dumps(facts, sort_keys=True)
        if text not in by_text:
            by_text[text] = digest(facts)
        apart: dict[str, object] = getattr(candidate.learner, "apart", dict)()
        groups.setdefault((by_text[text], digest(apart) if apart else ""), []).append(position)
    return tuple(Batch(key, tuple(members), apart) for (key, apart), members in groups.items())


def fit_digest(candidate: Candidate) -> str:
    """Digest of what the fit of one candidate depends on: its batch, whatever else is planned."""
    return batches((candidate,))[0].growing


def preparation(candidate: Candidate) -> tuple[BasePreparer, ...]:
    """The preparation steps that the fit depends on: all, but for selections that the learner reads off its fit."""
    steps: tuple[BasePreparer, ...] = candidate.preparers
    if getattr(candidate.learner, "reads_subsets", False):
        while steps and getattr(steps[-1], "selects", False):
            steps = steps[:-1]
    return steps


# The plan: batches × folds.


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
        found.append(NO_CANDIDATE)
    if len({candidate.id for candidate in candidates}) < len(candidates):
        found.append(Problem("MSEL-523", "two candidates are the same", "space", "merge duplicates before planning"))
    return found


@dataclass(frozen=True)
class Estimate:
    """Seconds with so many workers, and bytes beyond the data."""

    seconds: float
    memory: float
    workers: int
