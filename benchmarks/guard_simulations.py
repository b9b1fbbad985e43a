"""What looking again does to a test set, and what the certificate makes of it: attacks on labels that are pure noise.

    python -m benchmarks.guard_simulations [--runs 50]

Boosting attack (Blum & Hardt 2015): k random submissions, those that came out well are put to a majority vote (filter),
or the others turned round as well (flip). True error ½ throughout. Theory for the shown error of the vote:
filter 1 − Φ(.5642 √(k/n)), flip 1 − Φ(.7979 √(k/n)). Ordinary analyst: features are added one by one if the test score
improves. Ends with 1 when a mean lies outside its band (4 standard errors about the expected value).
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from scipy.stats import norm

from benchmarks._frame import Row
from modelsel.statistics import prices
from modelsel.statistics.certificate import Standing, hoeffding, interval

SIZES = ((2000, 200), (2000, 1000), (4000, 400), (4000, 1000))
EXPECTED = {
    "full precision, filter": ((0.4297, 0.0091), (0.3457, 0.0088), (0.4298, 0.0060), (0.3903, 0.0064)),
    "full precision, flip": ((0.3994, 0.0084), (0.2850, 0.0087), (0.3991, 0.0059), (0.3440, 0.0059)),
    "two decimals, flip": ((0.3896, 0.0088), (0.2631, 0.0076), (0.3877, 0.0064), (0.3264, 0.0062)),
}  # fmt: skip
BOARDS = {"ladder, step .01": (0.4731, 0.4664, 0.4796, 0.4790), "thresholdout, flip": (0.4995, 0.5000, 0.4997, 0.4998)}
DELTA = 0.05
STRENGTH = 0.15  # of the weak features, in standard deviations


@dataclass
class Shown:
    """The last shown error and whether intervals about it cover ½."""

    error: float
    naive: bool
    bonferroni: bool
    certified: bool
    half: float


def attack(n: int, k: int, rng: np.random.Generator, keep: Callable[[float], int], decimals: int | None) -> Shown:
    """The exact or rounded score is shown; `keep` says +1 (vote for), −1 (turned round) or 0 (left out)."""
    truth = rng.integers(0, 2, n, dtype=np.int8)
    votes = np.zeros(n, np.int32)
    for _ in range(k):
        said = rng.integers(0, 2, n, dtype=np.int8)
        error = int((said != truth).sum()) / n
        votes += keep(error if decimals is None else round(error, decimals)) * (2 * said.astype(np.int32) - 1)
    errors = int(((votes > 0).astype(np.int8) != truth).sum())
    steps = None if decimals is None else 10**decimals
    low, high = (errors, errors) if steps is None else prices.counts_of(prices.cell_of(errors, n, steps), n, steps)
    spent = k * (prices.full(n) if steps is None else prices.grid(steps))
    shown = errors / n if decimals is None else round(errors / n, decimals)
    return _judged(shown, low, high, n, k, spent)


def ladder(n: int, k: int, rng: np.random.Generator, steps: int = 100) -> Shown:
    """Only the board is shown; submissions that moved it are put to the vote."""
    truth = rng.integers(0, 2, n, dtype=np.int8)
    votes, board, updates, spent = np.zeros(n, np.int32), steps, 0, 0.0
    low = high = n
    for turn in range(k + 1):
        said = rng.integers(0, 2, n, dtype=np.int8) if turn < k else (votes > 0).astype(np.int8)
        errors = int((said != truth).sum())
        improved = turn == 0 or errors * steps < (board - 1) * n
        price = prices.ladder(turn, updates, board, improved, steps)
        if improved:
            board, updates = prices.cell_of(errors, n, steps), updates + 1
            low, high = prices.counts_of(board, n, steps)
            votes += 2 * said.astype(np.int32) - 1
        spent += price if turn < k else 0.0
    return _judged(board / steps, low, high, n, k, spent)


def thresholdout(n: int, k: int, rng: np.random.Generator) -> float:
    """Cross-validation's ½ is shown unless the test error differs by more than a noisy 4/√n."""
    truth = rng.integers(0, 2, n, dtype=np.int8)
    votes = np.zeros(n, np.int32)

    def answer(said: np.ndarray) -> float:
        noise, error = rng.normal(0, 1 / sqrt(n), 2), float((said != truth).mean())
        return 0.5 if abs(0.5 - error) <= 4 / sqrt(n) + noise[0] else error + float(noise[1])

    for _ in range(k):
        said = rng.integers(0, 2, n, dtype=np.int8)
        votes += (1 if answer(said) <= 0.5 else -1) * (2 * said.astype(np.int32) - 1)
    return answer((votes > 0).astype(np.int8))


def _judged(shown: float, low: int, high: int, n: int, k: int, spent: float) -> Shown:
    nats = Standing(k + 1, spent).nats(DELTA)

    def covers(level: float) -> bool:
        limits = interval(low, high, n, level)
        return limits[0] <= 0.5 <= limits[1]

    return Shown(shown, covers(log(2 / DELTA)), covers(log(2 * (k + 1) / DELTA)), covers(nats), hoeffding(nats, n))


@dataclass
class Analyst:
    shown: float
    true: float
    naive: bool
    covered: bool  # all looks at once


def analyst(n: int, looks: int, strength: float, rng: np.random.Generator, steps: int | None) -> Analyst:
    """Nearest centroid on 5 weak and 195 noise features (200 training rows); a feature stays if the shown error falls.

    `steps`: None shows exact counts, otherwise a ladder with steps of 1/steps.
    """
    means = np.r_[np.full(5, strength), np.zeros(195)]
    side_train, side = rng.choice([-1, 1], 200), rng.choice([-1, 1], n)
    train = rng.normal(size=(200, 200)) + side_train[:, None] * means
    test = rng.normal(size=(n, 200)) + side[:, None] * means
    centre = (train * side_train[:, None]).mean(axis=0)
    order = rng.permutation(200)[:looks]
    chosen, total, best, spent, updates, board = np.zeros(200, bool), np.zeros(n), n, 0.0, 0, 0
    covered, last = True, (n, 0.5)
    for turn, feature in enumerate(order):
        tried = total + test[:, feature] * centre[feature]
        errors = int((np.sign(tried) != side).sum())
        picked = chosen.copy()
        picked[feature] = True
        true = _true_error(centre * picked, means)
        nats = Standing(turn + 1, spent).nats(DELTA)
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
            best, chosen, total, last = errors, picked, tried, (errors, true)
            board, updates = prices.cell_of(errors, n, steps or n), updates + 1
    naive = interval(last[0], last[0], n, log(2 / DELTA))
    return Analyst(last[0] / n, last[1], naive[0] <= last[1] <= naive[1], covered)


def _true_error(weights: np.ndarray, means: np.ndarray) -> float:
    return float(norm.cdf(-(weights @ means) / np.linalg.norm(weights)))


def boosting(runs: int) -> bool:
    """The table of the attack; true when every mean lies in its band."""
    rng = np.random.default_rng(20_150_216)
    good = True
    modes: dict[str, tuple[Callable[[float], int], int | None]] = {
        "full precision, filter": (lambda e: int(e < 0.5), None),
        "full precision, flip": (lambda e: int(np.sign(0.5 - e)), None),
        "two decimals, flip": (lambda e: int(np.sign(0.5 - e)), 2),
    }
    print(f"{'shown error of the vote':26}" + "".join(f"  n={n}, k={k}".rjust(18) for n, k in SIZES))
    for factor, name in ((0.5642, "theory, filter"), (0.7979, "theory, flip")):
        print(f"{name:26}" + "".join(f"{1 - norm.cdf(factor * sqrt(k / n)):18.4f}" for n, k in SIZES))
    for name, (keep, decimals) in modes.items():
        cells = []
        for (n, k), (mean, sd) in zip(SIZES, EXPECTED[name]):
            found = [attack(n, k, rng, keep, decimals) for _ in range(runs)]
            shown = float(np.mean([one.error for one in found]))
            inside = abs(shown - mean) <= 4 * sd / sqrt(runs)
            good &= inside and all(one.certified for one in found) and not any(one.naive or one.bonferroni for one in found)
            cells.append(f"{shown:.4f}{'' if inside else '!'} ±{found[0].half:.3f}".rjust(18))
        print(f"{name:26}" + "".join(cells))
    found_boards = {name: [] for name in BOARDS}
    for n, k in SIZES:
        boards = [ladder(n, k, rng) for _ in range(runs)]
        good &= all(one.certified for one in boards)
        half = float(np.mean([one.half for one in boards]))
        found_boards["ladder, step .01"].append(f"{np.mean([one.error for one in boards]):.4f} ±{half:.3f}".rjust(18))
        shown = [thresholdout(n, k, rng) for _ in range(runs)]
        found_boards["thresholdout, flip"].append(f"{np.mean(shown):.4f}".rjust(18))
    for name, cells in found_boards.items():
        print(f"{name:26}" + "".join(cells) + "   expected " + " ".join(f"{one:.4f}" for one in BOARDS[name]))
    print("naive and Bonferroni intervals cover ½ in 0 %, the certificate in 100 % of the runs" if good else "OUTSIDE ITS BAND")
    return good


def analysts(runs: int, strength: float) -> bool:
    rng = np.random.default_rng(7)
    good = True
    print(f"\n{'ordinary analyst':26}{'shown':>9}{'true':>9}{'naive':>9}{'certified':>11}")
    for n, looks in ((100, 100), (500, 100), (2000, 200)):
        for steps, name in ((None, "exact"), (100, "ladder .01")):
            found = [analyst(n, looks, strength, rng, steps) for _ in range(runs)]
            shown, true = (float(np.mean([getattr(one, name) for one in found])) for name in ("shown", "true"))
            naive, covered = (float(np.mean([getattr(one, name) for one in found])) for name in ("naive", "covered"))
            good &= covered >= 1 - DELTA - 3 * sqrt(DELTA * (1 - DELTA) / runs)
            print(f"n={n}, {looks} looks, {name:10}".ljust(26) + f"{shown:9.4f}{true:9.4f}{naive:9.0%}{covered:11.0%}")
    return good


def rows() -> Iterator[Row]:
    """No timing: the tables are printed, and their bands asserted."""
    assert boosting(20)
    assert analysts(40, STRENGTH)
    yield from ()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--strength", type=float, default=STRENGTH, help="of the five weak features, in standard deviations")
    options = parser.parse_args()
    results = [boosting(options.runs), analysts(4 * options.runs, options.strength)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
