"""Prices of released answers: price = −ln p(answer | history) nats, p fixed before the answer is known.

For every release mode p sums to one over all answers that could have been released, so that the prices of a history of
answers add up to a weight that sums to at most one over all histories (the condition of `certificate`). An answer that
agrees with what cross-validation had said costs little. With n test rows, e errors, s rows in cross-validation of error v:

    full        1 / (n + 1)                                   each count
    grid        1 / (m + 1)                                   each multiple of 1/m
    predicted   0.1 / (n + 1) + 0.9 · BetaBinomial(e | n, s·v, s·(1 − v)), parameters not below ½
    predicted on a grid: 0.1 / (m + 1) + 0.9 · mass of the cell
    pass/fail   1/2
    ladder      the board moves with the Krichevsky-Trofimov probability, uniformly over the lower boards

Source: description length bounds, Dwork et al. (2015); ladder, Blum & Hardt (2015).
"""

from collections.abc import Sequence
from math import log

import numpy as np

from modelsel.core.types import Floats, Integers

PASS_OR_FAIL = log(2)
PRIOR = 0.1  # what the mixture leaves for answers that cross-validation did not foresee


def full(n: int) -> float:
    """Any of n + 1 counts.

    >>> round(full(2000), 4)
    7.6014
    """
    return log(n + 1)


def grid(steps: int) -> float:
    """Any multiple of 1/steps in [0, 1].

    >>> round(grid(100), 4)
    4.6151
    """
    return log(steps + 1)


def confusion(sizes: Sequence[int]) -> float:
    """Price of showing the number of wrong rows of each of two classes, where the sizes of the classes are known.

    >>> round(confusion((1700, 300)), 2)
    13.15
    """
    return sum(full(size) for size in sizes)


def price_of_count(errors: int, n: int, cv_error: float, cv_rows: int) -> float:
    """The exact count, foreseen by cross-validation.

    >>> round(price_of_count(200, 2000, 0.10, 2000), 2), round(price_of_count(260, 2000, 0.10, 2000), 2)
    (3.97, 8.34)
    """
    return -log(count_probabilities(n, cv_error, cv_rows)[errors])


def predicted_grid(cell: int, steps: int, n: int, cv_error: float, cv_rows: int) -> float:
    """The rounded score, foreseen by cross-validation.

    >>> [round(predicted_grid(cell, 100, 2000, 0.10, 2000), 3) for cell in (10, 9, 12, 20)]
    [1.013, 1.507, 2.95, 6.918]
    """
    low, high = counts_of(cell, n, steps)
    mass = error_count_distribution(n, cv_error, cv_rows)[low : high + 1].sum()
    return -log(PRIOR / (steps + 1) + (1 - PRIOR) * float(mass))


def ladder(rounds: int, updates: int, board: int, improved: bool, steps: int) -> float:
    """The board after `rounds` answers, of which `updates` moved it, to `board`/steps: does it move now, and where to.

    The first answer (rounds = 0) is any multiple of 1/steps.

    >>> round(ladder(1, 1, 31, False, 100), 4), round(ladder(2, 1, 31, True, 100), 4)
    (0.6931, 4.8203)
    """
    if rounds == 0:
        return grid(steps)
    return coin(rounds, updates, improved) + (log(board) if improved else 0.0)


def coin(rounds: int, updates: int, improved: bool) -> float:
    """Price of showing whether the best so far is beaten, after `rounds` answers.

    `updates` of them were improvements, the first answer counted.

    The Krichevsky-Trofimov probability of an improvement is (updates − 1/2) / rounds.

    >>> round(coin(1, 1, True), 4), round(coin(3, 1, False), 4)
    (0.6931, 0.1823)
    """
    up = (updates - 0.5) / rounds
    return -log(up) if improved else -log(1 - up)


def error_count_distribution(n: int, cv_error: float, cv_rows: int) -> Floats:
    """The Beta-binomial distribution of the error count, n + 1 probabilities that sum to one for any forecast.

    p(e + 1) / p(e) = (n − e)(a + e) / ((e + 1)(b + n − 1 − e)), summed in logarithms away from the mode: with differences of
    ln Γ a forecast from 10¹⁸ rows, which anybody may state, would make the probabilities add up to more than one.

    >>> [round(float(error_count_distribution(284, 0.05, rows).sum()), 9) for rows in (1, 284, 10**9, 10**18)]
    [1.0, 1.0, 1.0, 1.0]
    """
    a, b = max(0.5, cv_rows * cv_error), max(0.5, cv_rows * (1 - cv_error))
    e = np.arange(n, dtype=np.float64)
    steps = np.log(n - e) - np.log(e + 1) + np.log(a + e) - np.log(b + (n - 1 - e))
    mode = int(np.r_[0.0, np.cumsum(steps)].argmax())
    logs = np.r_[-np.cumsum(steps[:mode][::-1])[::-1], 0.0, np.cumsum(steps[mode:])]
    mass = np.exp(logs)
    return np.asarray(mass / mass.sum())


def count_probabilities(n: int, cv_error: float, cv_rows: int) -> Floats:
    """The mixture that prices `price_of_count`, n + 1 probabilities."""
    return PRIOR / (n + 1) + (1 - PRIOR) * error_count_distribution(n, cv_error, cv_rows)


def cell_of(errors: int, n: int, steps: int) -> int:
    """The multiple of 1/steps that is nearest to errors/n, halves up, in integers.

    >>> cell_of(190, 2000, 100), cell_of(209, 2000, 100), cell_of(210, 2000, 100)
    (10, 10, 11)
    """
    return (2 * errors * steps + n) // (2 * n)


def counts_of(cell: int, n: int, steps: int) -> tuple[int, int]:
    """The smallest and the largest count that round to a cell (an empty range where none does).

    >>> counts_of(10, 2000, 100)
    (190, 209)
    """
    low, high = -(-n * (2 * cell - 1) // (2 * steps)), -(-n * (2 * cell + 1) // (2 * steps)) - 1
    return max(0, low), min(n, high)


def steps_near(se: float) -> int:
    """The grid whose step, a power of ten or half of one, is nearest to a standard error.

    >>> steps_near(0.008), steps_near(0.004), steps_near(0.03)
    (100, 200, 20)
    """
    choices: Integers = np.outer(10 ** np.arange(1, 7), [1, 2]).ravel()
    return int(choices[np.argmin(np.abs(np.log(choices * se)))])
