"""A search that goes by the scores: batches of trials are asked for, computed, and told in the order in which they were asked.

    ask a batch of every entry -> cells of those that are new -> tell each its mean over folds -> ... until the trials are done

What is asked for depends on the space, the seeds and the scores alone: not on workers, and not on what a journal knows. A
search that goes on after an interruption asks the same again and finds the answers in the journal. Batches are fixed, so that
the candidates of one share their fits.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

from modelsel.config.expand import AdaptiveEntry
from modelsel.core.errors import NoCandidateError
from modelsel.core.outcome import SearchFacts, TrialFacts
from modelsel.core.surroundings import Progress
from modelsel.core.types import Candidate, Resampling, Task
from modelsel.foreign.tpe import AskedTrial, Tpe, sampler
from modelsel.planning.make import Plan, make
from modelsel.runner.results import Results
from modelsel.runner.run import QUIET

Compute = Callable[[Plan, Task, Resampling], Results]
ENOUGH = 10  # candidates of which not one could be fitted; as many trials are drawn at random before scores matter


@dataclass(frozen=True)
class RecordedTrial:
    """A trial on record: `score` is the mean over folds that the search was told, None where it failed."""

    entry: str
    number: int
    seed: int
    candidate: str
    score: float | None


@dataclass(frozen=True, eq=False)
class Searched:
    """The candidates: those that were declared, then each at the trial at which it was first asked for; and all trials."""

    candidates: tuple[Candidate, ...]
    trials: tuple[RecordedTrial, ...]

    def facts(self, entries: Sequence[AdaptiveEntry]) -> SearchFacts:
        """The facts of the search that study.json states."""
        each = [
            TrialFacts(entry=one.entry, trial=one.number, seed=one.seed, id=one.candidate, score=one.score)
            for one in self.trials
        ]
        most = sum(one.trials for one in entries)
        return SearchFacts(kind="tpe", sampler=sampler(), batch=entries[0].batch, most=most, trials=each)


@dataclass(eq=False)
class _Entry:
    """The state of one entry's search."""

    declared: AdaptiveEntry
    tpe: Tpe
    asked: int = 0

    def batch(self) -> list[tuple[AskedTrial, Candidate, int]]:
        """Ask for the next trials, with the candidate and the seed of each; none once all were asked for."""
        numbers = range(self.asked + 1, min(self.asked + self.declared.batch, self.declared.trials) + 1)
        self.asked = max(self.asked, *numbers) if numbers else self.asked
        return [self._trial(number) for number in numbers]

    def _trial(self, number: int) -> tuple[AskedTrial, Candidate, int]:
        seed = self.declared.seed_of(number)
        asked = self.tpe.ask(seed)
        return asked, self.declared.candidate(asked, number), seed


@dataclass(eq=False)
class AdaptiveSearch:
    """A search of some entries. `seconds` after which no further batch is asked for; `progress` is told of all cells."""

    entries: Sequence[AdaptiveEntry]
    seconds: float | None = None
    progress: Progress = QUIET
    _found: dict[str, Candidate] = field(default_factory=dict)
    _scores: dict[str, float | None] = field(default_factory=dict)
    _trials: list[RecordedTrial] = field(default_factory=list)

    def run(self, listed: Sequence[Candidate], task: Task, resampling: Resampling, compute: Compute, higher: bool) -> Searched:
        """Search on the folds of a task, after the candidates that were listed.

        Raises NoCandidateError where the first ten candidates fail, and what computing raises.
        """
        began = time.monotonic()
        self._found, self._scores, self._trials = {one.id: one for one in listed}, {}, []
        searching = [_Entry(entry, Tpe(higher)) for entry in self.entries]
        fresh = list(listed)
        while asked := self._ask_batch(searching, began):
            for _, _, candidate, _ in asked:
                if self._found.setdefault(candidate.id, candidate) is candidate:
                    fresh.append(candidate)
            self._compute(fresh, task, resampling, compute)
            for entry, trial, candidate, seed in asked:
                score = self._scores[candidate.id]
                entry.tpe.tell(trial, score)
                self._trials.append(RecordedTrial(entry.declared.name, candidate.trial, seed, candidate.id, score))
            fresh = []
        return Searched(tuple(self._found.values()), tuple(self._trials))

    def _ask_batch(self, searching: Sequence[_Entry], began: float) -> list[tuple[_Entry, AskedTrial, Candidate, int]]:
        """A batch of each entry that has trials left; nothing once the seconds are over."""
        if self.seconds is not None and self._trials and time.monotonic() - began > self.seconds:
            left = sum(entry.declared.trials - entry.asked for entry in searching)
            self.progress.say(f"search: {self.seconds:g} s were over before {left} trials were asked for")
            return []
        return [(entry, *one) for entry in searching for one in entry.batch()]

    def _compute(self, fresh: Sequence[Candidate], task: Task, resampling: Resampling, compute: Compute) -> None:
        """Compute the candidates that are new, and keep the mean of each; None of one that did not finish every fold."""
        if not fresh:
            return
        try:
            board = compute(make(fresh, task, resampling), task, resampling).board
        except NoCandidateError:
            self._scores |= {one.id: None for one in fresh}  # each failed on the first fold, as candidates of a batch may
            if len(self._scores) >= ENOUGH and all(score is None for score in self._scores.values()):
                raise
            return
        scores = zip(board.ids, board.mean.tolist(), board.eligible.tolist(), strict=True)
        self._scores |= {name: mean if able else None for name, mean, able in scores}


class Rounds:
    """The progress of a search as one, in candidates × folds: how many fits they share is known round by round."""

    def __init__(self, shown: Progress, folds: int, candidates: int, higher: bool) -> None:
        """Begin the whole."""
        self._shown, self._choose, self._folds = shown, max if higher else min, folds
        self._best: float | None = None
        self._each, self._owed = 1.0, 0.0  # what a cell of this round stands for, and what is not told yet
        shown.start(folds * candidates, candidates)

    def start(self, cells: int, candidates: int) -> None:
        """Begin a round."""
        self._each = self._folds * candidates / max(cells, 1)

    def advance(self, cells: int = 1, best: float | None = None, failures: int = 0) -> None:
        """Count cells; the best of a round counts where it is the best of all."""
        if best is not None:
            self._best = best if self._best is None else self._choose(best, self._best)
        self._owed += cells * self._each
        whole = round(self._owed)
        self._owed -= whole
        self._shown.advance(whole, self._best, failures)

    def say(self, message: str) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None: ...
