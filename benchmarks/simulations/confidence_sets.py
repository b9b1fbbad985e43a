"""How often the confidence sets of candidates hold a best one, and every best one, with the truth known.

    python -m benchmarks.simulations.confidence_sets [--runs 500] [--candidates 1000] [--rows 200 1000]

0/1 losses of candidates that find the same rows hard. `equal`: all err as often (.3). `line`: error rates lie evenly in .2 to
.4. `five`: like `line`, and five are best. The columns: runs in which the first set holds a best one; share of the best ones in
it; share of all candidates in it; runs in which the second set holds every best one; share of all in it.
"""

import argparse

import numpy as np
from scipy.special import ndtri

from modelsel.core.types import Floats
from modelsel.statistics.confidence_set import differences, every_best, may_be_best, resample


def losses(rng: np.random.Generator, rows: int, rates: Floats) -> Floats:
    hard = 0.8 * rng.normal(size=(rows, 1)) + 0.6 * rng.normal(size=(rows, len(rates)))
    return (hard < ndtri(rates)).astype(np.float32)


def rates(kind: str, candidates: int) -> Floats:
    line = np.linspace(0.2, 0.4, candidates)
    return {"equal": np.full(candidates, 0.3), "line": line, "five": np.where(np.arange(candidates) < 5, 0.2, line)}[kind]


def shares(kind: str, rows: int, candidates: int, runs: int) -> Floats:
    """Means of the five columns over the runs."""
    rate, found = rates(kind, candidates), np.empty((runs, 5))
    best = rate == rate.min()
    for run in range(runs):
        rng = np.random.default_rng(run)
        matrix = losses(rng, rows, rate)
        own = differences(matrix, int(matrix.mean(axis=0).argmin()), rng)
        moved = resample(own, rng)
        first, second = may_be_best(own, moved), every_best(own, moved)
        found[run] = first[best].any(), first[best].mean(), first.mean(), second[best].all(), second.mean()
    return np.asarray(found.mean(axis=0))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--candidates", type=int, default=1000)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 1000])
    args = parser.parse_args()
    print("| errors | rows | holds a best one | the best ones in it | size | holds every best one | size |")
    print("|---|---|---|---|---|---|---|")
    for kind in ("equal", "line", "five"):
        for rows in args.rows:
            cells = " | ".join(f"{share:.3f}" for share in shares(kind, rows, args.candidates, args.runs))
            print(f"| {kind} | {rows:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
