"""An ordinary analyst: features are added one by one, and stay if the score shown for the test rows improves.

Nearest centroid on 5 weak and 195 noise features, 200 training rows; the true error of each model is known in closed form.
"""

from dataclasses import dataclass
from math import log

import numpy as np
from scipy.stats import norm

from modelsel.statistics import prices
from modelsel.statistics.certificate import SpendingState, interval

DELTA = 0.05
STRENGTH = 0.15  # of the weak features, in standard deviations


@dataclass(frozen=True)
class Analyst:
    """What the last accepted model was shown to do and does, and which intervals about it hold."""

    shown: float
    true: float
    naive: bool
    bonferroni: bool
    covered: bool  # all looks at once
    half: float  # of the certificate at the last accepted look
    accepted: int


def analyst(n: int, looks: int, strength: float, rng: np.random.Generator, steps: int | None) -> Analyst:
    """One analyst. `steps`: None shows exact counts, otherwise a ladder with steps of 1/steps."""
    means = np.r_[np.full(5, strength), np.zeros(195)]
    side_train, side = rng.choice([-1, 1], 200), rng.choice([-1, 1], n)
    train = rng.normal(size=(200, 200)) + side_train[:, None] * means
    test = rng.normal(size=(n, 200)) + side[:, None] * means
    centre = (train * side_train[:, None]).mean(axis=0)
    chosen, total, best, spent, updates, board = np.zeros(200, bool), np.zeros(n), n, 0.0, 0, 0
    covered, half, last = True, 0.5, (n, 0.5)
    for turn, feature in enumerate(rng.permutation(200)[:looks]):
        tried = total + test[:, feature] * centre[feature]
        errors = int((np.sign(tried) != side).sum())
        picked = chosen.copy()
        picked[feature] = True
        true = _true_error(centre * picked, means)
        nats = SpendingState(turn + 1, spent).nats(DELTA)
        if steps is None:
            improved, low, high = errors < best, errors, errors
            spent += prices.full(n)
        else:
            improved = turn == 0 or errors * steps < (board - 1) * n
            spent += prices.ladder(turn, updates, board, improved, steps)
            low, high = prices.counts_of(prices.cell_of(errors, n, steps), n, steps)
            if not improved:
                low, high = -(-(board - 1) * n // steps), n
        limits = interval(max(0, low), high, n, nats)
        covered &= limits[0] <= true <= limits[1]
        if improved:
            best, chosen, total, last, half = errors, picked, tried, (errors, true), (limits[1] - limits[0]) / 2
            board, updates = prices.cell_of(errors, n, steps or n), updates + 1
    naive, many = (interval(last[0], last[0], n, log(2 * count / DELTA)) for count in (1, looks))
    held = (limits[0] <= last[1] <= limits[1] for limits in (naive, many))
    return Analyst(last[0] / n, last[1], *held, covered, half, updates)


def _true_error(weights: np.ndarray, means: np.ndarray) -> float:
    return float(norm.cdf(-(weights @ means) / np.linalg.norm(weights)))
