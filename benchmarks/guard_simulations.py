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
# test rows, looks, strength of the signal: shown, true, and in how many runs the naive and the Bonferroni interval cover
ANALYSTS = {
    (100, 100, True): (0.3253, 0.4830, 0.10, 0.64), (100, 100, False): (0.3386, 0.5000, 0.09, 0.62),
    (500, 100, True): (0.3953, 0.4600, 0.15, 0.72), (2000, 200, True): (0.3848, 0.4137, 0.28, 0.85),
}  # fmt: skip
LADDER_BIAS = {(500, 100): 0.051, (500, 50): 0.041, (2000, 100): 0.014, (2000, 50): 0.011}  # rows, steps: true − shown
LAST_DIGIT = 0.0005  # to which half of a unit the expected values are known, besides chance
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
    bonferroni: bool
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
    naive, many = (interval(last[0], last[0], n, log(2 * count / DELTA)) for count in (1, looks))
    return Analyst(last[0] / n, last[1], naive[0] <= last[1] <= naive[1], many[0] <= last[1] <= many[1], covered)


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
    good &= defended(runs, rng)
    print("naive and Bonferroni intervals cover ½ in 0 %, the certificate in 100 % of the runs" if good else "OUTSIDE ITS BAND")
    return good


def defended(runs: int, rng: np.random.Generator, sizes: tuple[tuple[int, int], ...] = SIZES) -> bool:
    """The rows of ladder and thresholdout; true when shown errors lie in their bands. Half widths (Hoeffding) are printed."""
    cells: dict[str, list[str]] = {name: [] for name in BOARDS}
    good = True
    for (n, k), *expected in zip(sizes, *BOARDS.values()):
        boards, noisy = [ladder(n, k, rng) for _ in range(runs)], [thresholdout(n, k, rng) for _ in range(runs)]
        errors, halves = [one.error for one in boards], [one.half for one in boards]
        good &= all(one.certified for one in boards)
        # an answer of thresholdout is ½ or, rarely, has noise of standard deviation 1/√n
        fits = (inside(errors, expected[0]), inside(noisy, expected[1], 1 / sqrt(n)))
        good &= all(fits)
        shown = (
            f"{np.mean(errors):.4f}{'' if fits[0] else '!'} ±{np.mean(halves):.3f}",
            f"{np.mean(noisy):.4f}{'' if fits[1] else '!'}",
        )
        for name, cell in zip(BOARDS, shown):
            cells[name].append(cell.rjust(18))
    for name, row in cells.items():
        print(f"{name:26}" + "".join(row))
    return good


def inside(found: list[float], expected: float, least: float = 0.0) -> bool:
    """Is the mean within four standard errors? The standard deviation is that of the runs, but `least`."""
    sd = max(float(np.std(found, ddof=1)), least)
    return abs(float(np.mean(found)) - expected) <= 4 * sd / sqrt(len(found)) + LAST_DIGIT


def often(found: list[bool], expected: float) -> bool:
    """Is the share within four standard errors?"""
    return abs(float(np.mean(found)) - expected) <= 4 * sqrt(expected * (1 - expected) / len(found))


def analysts(runs: int, strength: float) -> bool:
    """The table of the ordinary analyst, exact counts and ladders; true when every column lies in its band."""
    rng = np.random.default_rng(7)
    good = True
    print(f"\n{'ordinary analyst':38}{'shown':>9}{'true':>9}{'naive':>9}{'Bonferroni':>12}{'certified':>11}")
    for (n, looks, signal), expected in ANALYSTS.items():
        for steps in (None, 100, 50):
            found = [analyst(n, looks, strength * signal, rng, steps) for _ in range(runs)]
            fits = _as_expected(found, n, steps, expected)
            good &= fits
            shown, true, naive, bonferroni, covered = (
                float(np.mean([getattr(one, name) for one in found]))
                for name in ("shown", "true", "naive", "bonferroni", "covered")
            )
            mode = "exact" if steps is None else f"ladder {1 / steps:g}"
            name = f"n={n}, {looks} looks, {mode}{'' if signal else ', no signal'}"
            print(f"{name:38}{shown:9.4f}{true:9.4f}{naive:9.0%}{bonferroni:12.0%}{covered:11.0%}{'' if fits else '!'}")
    return good


def _as_expected(found: list[Analyst], n: int, steps: int | None, expected: tuple[float, float, float, float]) -> bool:
    covered = [one.covered for one in found]
    held = float(np.mean(covered)) >= 1 - DELTA - 4 * sqrt(DELTA * (1 - DELTA) / len(found))
    if steps is not None:
        bias = LADDER_BIAS.get((n, steps))
        return held and (bias is None or inside([one.true - one.shown for one in found], bias))
    shown, true, naive, bonferroni = expected
    return (
        held and inside([one.shown for one in found], shown) and inside([one.true for one in found], true)
        and often([one.naive for one in found], naive) and often([one.bonferroni for one in found], bonferroni)
    )  # fmt: skip


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
