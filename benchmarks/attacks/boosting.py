"""Boosting attacks on labels that are pure noise (Blum & Hardt 2015), against four ways of answering them.

k random submissions are answered; those that came out well are put to a majority vote (filter), or the others turned round as
well (flip); the vote is submission k + 1. The true error is ½ throughout.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from modelsel.statistics import prices
from modelsel.statistics.certificate import SpendingState, hoeffding, interval

DELTA = 0.05
Bits = np.ndarray


@dataclass(frozen=True)
class Shown:
    """The error shown for the vote, whether intervals about it cover ½, and the half width of the certificate.

    `half`: Hoeffding's for exact and rounded scores, where the exact one is half of all rates; for a board that of the exact
    binomial interval of all counts within one step of the board.
    """

    error: float
    naive: bool
    bonferroni: bool
    certified: bool
    half: float


def scored(n: int, k: int, rng: np.random.Generator, keep: Callable[[float], int], decimals: int | None) -> Shown:
    """The exact or rounded score is shown; `keep` says +1 (vote for), −1 (turned round) or 0 (left out)."""
    truth = _bits(n, rng)
    votes = np.zeros(n, np.int32)
    for _ in range(k):
        said = _bits(n, rng)
        error = int((said != truth).sum()) / n
        votes += keep(error if decimals is None else round(error, decimals)) * (2 * said.astype(np.int32) - 1)
    errors = int((_majority(votes) != truth).sum())
    steps = None if decimals is None else 10**decimals
    low, high = (errors, errors) if steps is None else prices.counts_of(prices.cell_of(errors, n, steps), n, steps)
    nats = SpendingState(k + 1, k * (prices.full(n) if steps is None else prices.grid(steps))).nats(DELTA)
    shown = errors / n if decimals is None else round(errors / n, decimals)
    return _judged(shown, low, high, n, k, nats, hoeffding(nats, n))


def ladder(n: int, k: int, rng: np.random.Generator, steps: int = 100) -> Shown:
    """Only the board is shown, and moves by a step of 1/steps or more; submissions that moved it are put to the vote."""
    truth = _bits(n, rng)
    votes, board, updates, spent = np.zeros(n, np.int32), steps, 0, 0.0
    for turn in range(k + 1):
        said = _bits(n, rng) if turn < k else _majority(votes)
        errors = int((said != truth).sum())
        improved = turn == 0 or errors * steps < (board - 1) * n
        spent += prices.ladder(turn, updates, board, improved, steps) if turn < k else 0.0
        if improved:
            board, updates = prices.cell_of(errors, n, steps), updates + 1
            votes += 2 * said.astype(np.int32) - 1
    low, high = prices.counts_of(board, n, steps)
    nats = SpendingState(k + 1, spent).nats(DELTA)
    around = (max(0, (board - 1) * n // steps), min(n, (board + 1) * n // steps))
    return _judged(board / steps, low, high, n, k, nats, _half(*around, n, nats))


def parameter_free(n: int, k: int, rng: np.random.Generator) -> Shown:
    """The board moves, in steps of 1/n, when a submission beats it by a standard error of their paired difference."""
    truth = _bits(n, rng)
    votes, board, updates, spent = np.zeros(n, np.int32), n, 0, 0.0
    best = np.zeros(n, np.int8)
    for turn in range(k + 1):
        said = _bits(n, rng) if turn < k else _majority(votes)
        wrong = (said != truth).astype(np.int8)
        errors = int(wrong.sum())
        improved = turn == 0 or errors < board - _spread(wrong, best) * sqrt(n)
        spent += prices.ladder(turn, updates, board, improved, n) if turn < k else 0.0
        if improved:
            board, updates, best = errors, updates + 1, wrong
            votes += 2 * said.astype(np.int32) - 1
    nats = SpendingState(k + 1, spent).nats(DELTA)
    return _judged(board / n, board, board, n, k, nats, _half(board, board, n, nats))


def thresholdout(n: int, k: int, rng: np.random.Generator) -> float:
    """Cross-validation's ½ is shown unless the test error differs by more than a noisy 4/√n."""
    truth = _bits(n, rng)
    votes = np.zeros(n, np.int32)

    def answer(said: Bits) -> float:
        noise, error = rng.normal(0, 1 / sqrt(n), 2), float((said != truth).mean())
        return 0.5 if abs(0.5 - error) <= 4 / sqrt(n) + noise[0] else error + float(noise[1])

    for _ in range(k):
        said = _bits(n, rng)
        votes += (1 if answer(said) <= 0.5 else -1) * (2 * said.astype(np.int32) - 1)
    return answer(_majority(votes))


def _judged(shown: float, low: int, high: int, n: int, k: int, nats: float, half: float) -> Shown:
    def covers(level: float) -> bool:
        limits = interval(low, high, n, level)
        return limits[0] <= 0.5 <= limits[1]

    return Shown(shown, covers(log(2 / DELTA)), covers(log(2 * (k + 1) / DELTA)), covers(nats), half)


def _half(low: int, high: int, n: int, nats: float) -> float:
    limits = interval(low, high, n, nats)
    return (limits[1] - limits[0]) / 2


def _bits(n: int, rng: np.random.Generator) -> Bits:
    return rng.integers(0, 2, n, dtype=np.int8)


def _majority(votes: Bits) -> Bits:
    return (votes > 0).astype(np.int8)


def _spread(wrong: Bits, best: Bits) -> float:
    """Standard deviation of the paired differences of two loss vectors, from counts."""
    n, differing, total = len(wrong), int((wrong != best).sum()), int(wrong.sum()) - int(best.sum())
    return sqrt((differing - total * total / n) / (n - 1))
