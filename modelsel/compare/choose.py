"""From results to the choice: the rule's winner, who cannot be told from it, what its score is worth."""

from modelsel.core.errors import NoCandidateError, Problem
from modelsel.core.protocols import Rule
from modelsel.core.selection import Selection
from modelsel.core.types import Resampling, Scoreboard
from modelsel.runner.results import Results


def choose(results: Results, rule: Rule, resampling: Resampling, seed: int) -> Selection:
    """Apply the rule; NoCandidateError (exit 7) when no candidate finished all folds with a finite score."""
    board = results.board
    if not board.eligible.any():
        raise NoCandidateError(_nobody(results))
    winner = rule.choose(board)
    return Selection(
        candidates=results.candidates,
        status=results.status,
        reasons=results.reasons,
        board=board,
        training_error=results.training_error,
        losses=results.losses,
        assessed=results.assessed([winner, *best_of_each(results, winner)]),
        winner=winner,
        indistinguishable=(),
    )


def best_of_each(results: Results, winner: int) -> list[int]:
    """The best candidate of every space entry but the winner's, best first."""
    entry = [candidate.entry for candidate in results.candidates]
    best: dict[str, int] = {}
    for position in ranked(results.board):
        best.setdefault(entry[position], position)
    return [position for name, position in best.items() if name != entry[winner]]


def ranked(board: Scoreboard) -> list[int]:
    """Eligible candidates, best mean first; ties: simpler, then declared order."""
    cost = board.cost
    return sorted((i for i in range(len(board.ids)) if board.eligible[i]), key=lambda i: (cost[i], board.complexity[i], i))


def _nobody(results: Results) -> Problem:
    first = next((reason for reason in results.reasons if reason), "no candidate finished all folds")
    return Problem(
        "MSEL-701", f"none of {len(results.candidates)} candidates is eligible", "space", f"the first reason: {first}"
    )
