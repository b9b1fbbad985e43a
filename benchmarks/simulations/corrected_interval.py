"""How often the interval of the corrected score holds the truth, and how wide it is, with the truth known.

Errors have the interval of a share of rows, other losses that of percentiles; percentiles stand beside both.

    python -m benchmarks.simulations.corrected_interval [--runs 500] [--rows 80 300 1000] [--measure error log_loss]

Two classes of equal share; `columns` independent normal columns, the first three of which differ between the classes by
`signal` standard deviations. A candidate is the linear rule (class means, shared covariance) on three columns drawn at random;
the best of 60 by 10-fold cross-validation is chosen. The truth is the expected loss of the chosen rule, fitted on all rows.
In units five rows share a class and half of the variance of every column, and folds and resamples take whole units.
`percentiles` is the interval of Tsamardinos et al. (2018): percentiles of the scores out of bag.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.simulations.nested_worth import FOLDS, Rules, fit, scoreboard, stratified
from modelsel.comparison import bbc as correction
from modelsel.core.types import Floats, Integers
from modelsel.rule.best import Best

CANDIDATES, RESAMPLES, SHARED = 60, 500, 0.5
SIGNALS = ((0.0, 30), (0.6, 30), (1.5, 30), (2.5, 10))  # and columns
MEASURES = ("error", "log_loss")
NODES, SHARES = np.polynomial.hermite_e.hermegauss(60)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of units, which share a class; class 1 has `means`, class 0 their negative."""

    x: Floats
    y: Integers
    unit: Integers
    means: Floats


def sample(rows: int, columns: int, signal: float, size: int, rng: np.random.Generator) -> Sample:
    units = rows // size
    unit = np.repeat(np.arange(units), size)
    y = rng.permutation(np.arange(units) % 2)[unit]
    x = rng.normal(size=(len(unit), columns))
    if size > 1:
        x = np.sqrt(1 - SHARED) * x + np.sqrt(SHARED) * rng.normal(size=(units, columns))[unit]
    means = np.r_[np.full(3, signal / 2), np.zeros(columns - 3)]
    return Sample(x + np.where(y == 1, 1, -1)[:, None] * means, y, unit, means)


def scores(rules: Rules, x: Floats) -> Floats:
    """Log odds of class 1, rows × candidates."""
    return np.asarray(np.einsum("rcj,cj->rc", x[:, rules.columns], rules.weights) - rules.cut)


def losses(measure: str, said: Floats, y: Integers) -> Floats:
    if measure == "error":
        return np.asarray((said > 0) != (y[:, None] == 1), np.float64)
    return np.asarray(np.logaddexp(0, -np.where(y == 1, 1, -1)[:, None] * said))


def truth(measure: str, rules: Rules, chosen: int, means: Floats) -> float:
    """Expected loss on rows without end: of log odds that are normal in each class, by Gauss's quadrature."""
    if measure == "error":
        return float(rules.errors(means)[chosen])
    weights, own = rules.weights[chosen], means[rules.columns[chosen]]
    spread, centre, cut = np.linalg.norm(weights), weights @ own, rules.cut[chosen]
    both = np.logaddexp(0, -(centre - cut + spread * NODES)) + np.logaddexp(0, -centre - cut + spread * NODES)
    return float(SHARES @ both / SHARES.sum() / 2)


def folded(data: Sample, triples: Integers, measure: str, rng: np.random.Generator) -> Floats:
    """Out-of-fold losses, rows × candidates; units stay whole."""
    first = np.unique(data.unit, return_index=True)[1]
    fold, found = stratified(data.y[first], rng)[data.unit], np.empty((len(data.y), len(triples)))
    for number in range(FOLDS):
        out = fold == number
        found[out] = losses(measure, scores(fit(data.x[~out], data.y[~out], triples), data.x[out]), data.y[out])
    return found


def study(
    measure: str, rows: int, columns: int, signal: float, size: int, rng: np.random.Generator, resamples: int = RESAMPLES
) -> tuple[float, ...]:
    """The truth, the corrected score, the ends of its interval, and those of percentiles."""
    data = sample(rows, columns, signal, size, rng)
    triples = np.array([rng.choice(columns, 3, replace=False) for _ in range(CANDIDATES)])
    matrix = folded(data, triples, measure, rng)
    winner, board, seed = int(matrix.mean(axis=0).argmin()), scoreboard(matrix), int(rng.integers(2**32))
    groups = data.unit if size > 1 else None
    found = correction.bbc(
        matrix, board, Best(), winner=winner, groups=groups, resamples=resamples, rng=np.random.default_rng(seed),
        zero_one=measure == "error",
    )  # fmt: skip
    assert found is not None
    of = correction.units(matrix, board.eligible, groups, None)
    drawn = np.concatenate(list(correction.draws(len(of.weight), resamples, np.random.default_rng(seed))))
    left, picked = drawn == 0, (drawn @ of.total.astype(np.float64)).argmin(axis=1)
    outside = np.einsum("bu,ub->b", left, of.total[:, picked].astype(np.float64)) / (left @ of.weight)
    ends = np.quantile(outside, [0.025, 0.975])
    return truth(measure, fit(data.x, data.y, triples), winner, data.means), found.mean, found.low, found.high, *ends.tolist()


def table(runs: int, rows: Sequence[int], measures: Sequence[str]) -> None:
    print("| measure | rows | units of | signal | truth | bias | holds | width | percentiles hold | their width |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for measure in measures:
        for number in rows:
            for size in (1, 5):
                for signal, columns in SIGNALS:
                    rng = np.random.default_rng([number, size, round(100 * signal)])
                    found = np.array([study(measure, number, columns, signal, size, rng) for _ in range(runs)])
                    true, mean, *ends = found.T
                    said = f"{true.mean():.3f} | {(mean - true).mean():+.3f}"
                    for low, high in (ends[:2], ends[2:]):
                        said += f" | {np.mean((low <= true) & (true <= high)):.1%} | {(high - low).mean():.3f}"
                    print(f"| {measure} | {number} | {size} | {signal:g} | {said} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--rows", type=int, nargs="+", default=[80, 300, 1000])
    parser.add_argument("--measure", nargs="+", default=MEASURES, choices=MEASURES)
    args = parser.parse_args()
    table(args.runs, args.rows, args.measure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
