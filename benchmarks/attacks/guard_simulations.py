"""What looking again does to a test set, and what the certificate makes of it: attacks on labels that are pure noise.

    python -m benchmarks.attacks.guard_simulations [--runs 50]

The boosting attack (`_boosting`; theory for the shown error of the vote: filter 1 − Φ(.5642 √(k/n)), flip
1 − Φ(.7979 √(k/n))) and the ordinary analyst (`_analyst`). Seeds are fixed. A mean that lies outside its band (4 standard
errors about the expected value) is marked with ! and ends the program with 1, as does a certificate that fails, or a naive or
Bonferroni interval that survives the boosting attack.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from math import sqrt

import numpy as np
from scipy.stats import norm

from benchmarks.attacks.analyst import DELTA, STRENGTH, Analyst, analyst
from benchmarks.attacks.boosting import Shown, ladder, parameter_free, scored, thresholdout
from benchmarks.common.timing import Row

Size = tuple[int, int]
SIZES: tuple[Size, ...] = ((2000, 200), (2000, 1000), (4000, 400), (4000, 1000))
# per size: the error shown for the vote, and its standard deviation in one run
SCORES: dict[str, tuple[tuple[float, float], ...]] = {
    "full precision, filter": ((0.4297, 0.0091), (0.3457, 0.0088), (0.4298, 0.0060), (0.3903, 0.0064)),
    "full precision, flip": ((0.3994, 0.0084), (0.2850, 0.0087), (0.3991, 0.0059), (0.3440, 0.0059)),
    "two decimals, flip": ((0.3896, 0.0088), (0.2631, 0.0076), (0.3877, 0.0064), (0.3264, 0.0062)),
}  # fmt: skip
FULL = (0.620, 1.380, 0.646, 1.019)  # per size: Hoeffding half width of the certificate after k exact scores
KEEP: dict[str, tuple[Callable[[float], int], int | None]] = {
    "full precision, filter": (lambda error: int(error < 0.5), None),
    "full precision, flip": (lambda error: int(np.sign(0.5 - error)), None),
    "two decimals, flip": (lambda error: int(np.sign(0.5 - error)), 2),
}
# per size: the board after the vote, and the half width
BOARDS: dict[str, tuple[Callable[[int, int, np.random.Generator], Shown], tuple[tuple[float, float], ...]]] = {
    "ladder, step .01": (ladder, ((0.4731, 0.106), (0.4664, 0.119), (0.4796, 0.079), (0.4790, 0.082))),
    "ladder, parameter-free": (parameter_free, ((0.4755, 0.097), (0.4690, 0.108), (0.4806, 0.073), (0.4782, 0.077))),
}
NOISY = (0.4995, 0.5000, 0.4997, 0.4998)
# test rows, looks, is there a signal: shown, true, and in how many runs the naive and the Bonferroni interval cover
ANALYSTS = {
    (100, 100, True): (0.3253, 0.4830, 0.10, 0.64), (100, 100, False): (0.3386, 0.5000, 0.09, 0.62),
    (500, 100, True): (0.3953, 0.4600, 0.15, 0.72), (2000, 200, True): (0.3848, 0.4137, 0.28, 0.85),
}  # fmt: skip
# test rows, steps of the ladder (None: exact counts): true − shown, half width, accepted features
GUARDED: dict[tuple[int, int | None], tuple[float | None, float, tuple[int, int] | None]] = {
    (500, None): (None, 0.456, (13, 27)), (2000, None): (None, 0.424, (13, 27)),
    (500, 100): (0.051, 0.187, (5, 6)), (2000, 100): (0.014, 0.116, (5, 6)),
    (500, 50): (0.041, 0.156, None), (2000, 50): (0.011, 0.095, None),
}  # fmt: skip
RUNS = 50
LAST_DIGIT = 0.0005  # to which half of a unit the expected values are known, besides chance


def boosting(runs: int, sizes: Sequence[Size] = SIZES) -> bool:
    """The table of the attack; true when every mean lies in its band and every interval does what is said of it."""
    rng = np.random.default_rng(20_150_216)
    print(f"{'shown error of the vote':26}" + "".join(f"  n={n}, k={k}".rjust(18) for n, k in sizes))
    for factor, name in ((0.5642, "theory, filter"), (0.7979, "theory, flip")):
        print(f"{name:26}" + "".join(f"{1 - norm.cdf(factor * sqrt(k / n)):18.4f}" for n, k in sizes))
    good = [_line(name, [_scored(name, size, runs, rng) for size in sizes]) for name in SCORES]
    good += [_line(name, [_board(name, size, runs, rng) for size in sizes]) for name in BOARDS]
    good += [_line("thresholdout, flip", [_noisy(size, runs, rng) for size in sizes])]
    print("naive and Bonferroni intervals about exact scores cover ½ in 0 %, certificates in 100 % of the runs" if all(good)
          else "OUTSIDE ITS BAND")  # fmt: skip
    return all(good)


def _line(name: str, cells: list[tuple[str, bool]]) -> bool:
    print(f"{name:26}" + "".join(f"{cell}{'' if good else '!'}".rjust(18) for cell, good in cells))
    return all(good for _, good in cells)


def _scored(name: str, size: Size, runs: int, rng: np.random.Generator) -> tuple[str, bool]:
    mean, sd = SCORES[name][SIZES.index(size)]
    keep, decimals = KEEP[name]
    found = [scored(*size, rng, keep, decimals) for _ in range(runs)]
    shown = float(np.mean([one.error for one in found]))
    good = abs(shown - mean) <= 4 * sd / sqrt(runs)
    good &= decimals is not None or abs(found[0].half - FULL[SIZES.index(size)]) <= LAST_DIGIT
    held = all(one.certified for one in found) and not any(one.naive or one.bonferroni for one in found)
    return f"{shown:.4f} ±{found[0].half:.3f}", good and held


def _board(name: str, size: Size, runs: int, rng: np.random.Generator) -> tuple[str, bool]:
    attack, expected = BOARDS[name]
    error, half = expected[SIZES.index(size)]
    found = [attack(*size, rng) for _ in range(runs)]
    errors, halves = [one.error for one in found], [one.half for one in found]
    good = inside(errors, error) and inside(halves, half) and all(one.certified for one in found)
    return f"{np.mean(errors):.4f} ±{np.mean(halves):.3f}", good


def _noisy(size: Size, runs: int, rng: np.random.Generator) -> tuple[str, bool]:
    """An answer of thresholdout is ½ or, rarely, has noise of standard deviation 1/√n."""
    found = [thresholdout(*size, rng) for _ in range(runs)]
    return f"{np.mean(found):.4f}", inside(found, NOISY[SIZES.index(size)], 1 / sqrt(size[0]))


def inside(found: list[float], expected: float, least: float = 0.0) -> bool:
    """Is the mean within four standard errors? The standard deviation is that of the runs, but `least`."""
    sd = max(float(np.std(found, ddof=1)), least)
    return abs(float(np.mean(found)) - expected) <= 4 * sd / sqrt(len(found)) + LAST_DIGIT


def often(found: list[bool], expected: float) -> bool:
    """Is the share within four standard errors?"""
    return abs(float(np.mean(found)) - expected) <= 4 * sqrt(expected * (1 - expected) / len(found))


def analysts(runs: int, strength: float = STRENGTH) -> bool:
    """The table of the ordinary analyst, exact counts and ladders; true when every column lies in its band."""
    rng = np.random.default_rng(7)
    good = True
    head = ("shown", "true", "naive", "Bonferroni", "certified", "half", "accepted")
    print(f"\n{'ordinary analyst':38}" + "".join(f"{name:>11}" for name in head))
    for (n, looks, signal), expected in ANALYSTS.items():
        for steps in (None, 100, 50):
            found = [analyst(n, looks, strength * signal, rng, steps) for _ in range(runs)]
            fits = as_expected(found, n, steps, expected)
            good &= fits
            mode = "exact" if steps is None else f"ladder {1 / steps:g}"
            name = f"n={n}, {looks} looks, {mode}{'' if signal else ', no signal'}"
            print(f"{name:38}" + _means(found) + ("" if fits else "!"))
    return good


def _means(found: list[Analyst]) -> str:
    names = ("shown", "true", "naive", "bonferroni", "covered", "half", "accepted")
    means = (float(np.mean([getattr(one, name) for one in found])) for name in names)
    return "".join(
        f"{mean:{width}}" for mean, width in zip(means, ("11.4f", "11.4f", "11.0%", "11.0%", "11.0%", "11.3f", "11.1f"))
    )


def as_expected(found: list[Analyst], n: int, steps: int | None, expected: tuple[float, float, float, float]) -> bool:
    """Do all looks together hold as often as promised, and do the columns lie in their bands?"""
    covered = float(np.mean([one.covered for one in found]))
    held = covered >= 1 - DELTA - 4 * sqrt(DELTA * (1 - DELTA) / len(found)) and _as_guarded(found, n, steps)
    if steps is not None:
        return held
    shown, true, naive, bonferroni = expected
    return (
        held and inside([one.shown for one in found], shown) and inside([one.true for one in found], true)
        and often([one.naive for one in found], naive) and often([one.bonferroni for one in found], bonferroni)
    )  # fmt: skip


def _as_guarded(found: list[Analyst], n: int, steps: int | None) -> bool:
    """Bias, half width and accepted features, where a value is known for these rows and steps."""
    if (n, steps) not in GUARDED:
        return True
    bias, half, accepted = GUARDED[n, steps]
    fits = inside([one.half for one in found], half)
    if bias is not None:
        fits &= inside([one.true - one.shown for one in found], bias)
    if accepted is not None:
        counts = [one.accepted for one in found]
        slack = 0.5 + 4 * float(np.std(counts, ddof=1)) / sqrt(len(counts))  # the bounds are known to a whole feature
        fits &= bool(accepted[0] - slack <= np.mean(counts) <= accepted[1] + slack)
    return fits


def rows() -> Iterator[Row]:
    """No timing: the tables are printed, and their bands asserted."""
    assert boosting(RUNS)
    assert analysts(4 * RUNS)
    yield from ()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--strength", type=float, default=STRENGTH, help="of the five weak features, in standard deviations")
    options = parser.parse_args()
    results = [boosting(options.runs), analysts(4 * options.runs, options.strength)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
