"""The floor: what guessing costs on the same folds, by the most common class or a draw of one; of numbers, by mean or median.

Scored in every study, beside the candidates and never among them: a line of the floor cannot be chosen, is not counted, and
changes nothing in what is chosen. Where the space lists the same learner, its own scores are the line.
"""

from dataclasses import dataclass
from typing import Any

from modelsel.core.errors import NoCandidateError
from modelsel.core.spec import kind_of, make
from modelsel.core.types import Candidate, TaskKind
from modelsel.planning import make as plan
from modelsel.runner.aggregation.results import Results
from modelsel.runner.execution.executors import Pool
from modelsel.runner.run import run

KINDS: dict[TaskKind, tuple[str, ...]] = {"classes": ("majority", "prior_draw"), "numbers": ("mean", "median")}


@dataclass(frozen=True, eq=False)
class BaselineScore:
    """A learner that looks at no feature; `cv` is None where it has no score, with the reason."""

    candidate: Candidate
    in_space: bool  # the space lists it: it is a candidate too
    cv: dict[str, Any] | None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as study.json has it."""
        learner = kind_of(self.candidate.learner)
        return {"id": self.candidate.id, "learner": learner, "candidate": self.in_space, "cv": self.cv, "reason": self.reason}


def floor(results: Results) -> tuple[BaselineScore, ...]:
    """Score the learners of the floor on the folds of these results, in this process; their cells go into the same journal."""
    declared = {candidate.id: position for position, candidate in enumerate(results.candidates)}
    lines = []
    for candidate in (Candidate(make("learner", kind), entry=kind) for kind in KINDS[results.book.work.task.kind]):
        at = declared.get(candidate.id)
        lines.append(_score_alone(candidate, results) if at is None else _line(candidate, results, at, in_space=True))
    return tuple(lines)


def _score_alone(candidate: Candidate, results: Results) -> BaselineScore:
    """Score a candidate as if it were a whole space."""
    work, journal = results.book.work, results.book.journal
    cells = plan.make((candidate,), work.task, work.resampling)
    try:
        own = run(
            cells, work.task, work.resampling, work.measure, Pool("sequential"), journal, seed=work.seed, se_of=results.se_of
        )
    except NoCandidateError as error:
        return BaselineScore(candidate, in_space=False, cv=None, reason=error.problems[0].what)
    return _line(candidate, own, 0, in_space=False)


def _line(candidate: Candidate, results: Results, at: int, *, in_space: bool) -> BaselineScore:
    """Describe one of the floor's candidates by its score, or by the reason why it has none."""
    board = results.board
    if not board.eligible[at]:
        return BaselineScore(candidate, in_space, None, results.reasons[at])
    cv = {"mean": float(board.mean[at]), "se": float(board.se[at]), "folds": board.folds[at].tolist()}
    return BaselineScore(candidate, in_space, cv)
