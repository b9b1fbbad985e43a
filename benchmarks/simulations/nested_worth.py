"""When nested cross-validation is worth its price: bias of the plain best, of BBC and of nested, with the truth known.

    python -m benchmarks.simulations.nested_worth [--runs 200] [--signal 0 0.3 0.6]

Two classes of equal share; `columns` independent normal columns, the first three of which differ between the classes by
`signal` standard deviations. A candidate is the linear rule (class means, shared covariance) on three columns drawn at random;
the best by 10-fold cross-validation is chosen. The truth of a choice is the error of that rule, fitted on all rows, on rows
without end: it is computed from the coefficients. A bias is estimate − truth: below 0 is optimistic. `auto` is nested where BBC
lies within two standard errors of guessing, BBC elsewhere; `asked` is how often that was.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from modelsel.comparison.bbc import bbc
from modelsel.comparison.selection import is_near
from modelsel.core.types import Booleans, Floats, Integers, Scoreboard
from modelsel.rule.best import Best

FOLDS, RESAMPLES = 10, 200
SETTINGS = (
    (80, 60, 10),
    (80, 60, 30),
    (80, 60, 100),
    (300, 60, 10),
    (300, 60, 30),
    (300, 60, 100),
    (80, 200, 30),
    (300, 200, 30),
)


@dataclass(frozen=True, eq=False)
class Rules:
    """Linear rules, one per candidate: class 1 where x[columns] @ weights > cut."""

    columns: Integers  # candidates × 3
    weights: Floats  # candidates × 3
    cut: Floats

    def wrong(self, x: Floats, y: Integers) -> Booleans:
        """Rows × candidates."""
        said = np.einsum("rcj,cj->rc", x[:, self.columns], self.weights) > self.cut
        return np.asarray(said != (y[:, None] == 1))

    def errors(self, means: Floats) -> Floats:
        """The true error of each rule where class 1 has these means, class 0 their negative, and every variance is 1."""
        length = np.linalg.norm(self.weights, axis=1)
        centre = (self.weights * means[self.columns]).sum(axis=1)
        return np.asarray((norm.cdf((self.cut - centre) / length) + norm.sf((self.cut + centre) / length)) / 2)


def fit(x: Floats, y: Integers, columns: Integers) -> Rules:
    """All candidates at once, from the means and the covariance of all columns."""
    zero, one = x[y == 0], x[y == 1]
    low, high = zero.mean(axis=0), one.mean(axis=0)
    centred = np.concatenate([zero - low, one - high])
    shared = centred.T @ centred / (len(x) - 2)
    weights = np.linalg.solve(shared[columns[:, :, None], columns[:, None, :]], (high - low)[columns][:, :, None])[:, :, 0]
    return Rules(columns, weights, (weights * ((high + low) / 2)[columns]).sum(axis=1))


def stratified(y: Integers, rng: np.random.Generator) -> Integers:
    """The fold of each row."""
    fold = np.empty(len(y), np.int64)
    for which in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == which))
        fold[rows] = np.arange(len(rows)) % FOLDS
    return fold


def cross_validated(x: Floats, y: Integers, columns: Integers, rng: np.random.Generator) -> Floats:
    """Loss of each row under each candidate, out of fold."""
    fold, losses = stratified(y, rng), np.empty((len(x), len(columns)))
    for number in range(FOLDS):
        out = fold == number
        losses[out] = fit(x[~out], y[~out], columns).wrong(x[out], y[out])
    return losses


def nested(x: Floats, y: Integers, columns: Integers, rng: np.random.Generator) -> float:
    """The selection anew inside each of ten outer folds."""
    fold, wrong = stratified(y, rng), 0
    for number in range(FOLDS):
        out = fold == number
        best = columns[[int(cross_validated(x[~out], y[~out], columns, rng).mean(axis=0).argmin())]]
        wrong += int(fit(x[~out], y[~out], best).wrong(x[out], y[out]).sum())
    return wrong / len(x)


def study(rows: int, candidates: int, columns: int, signal: float, rng: np.random.Generator) -> tuple[float, ...]:
    """Truth of the choice, then plain best, BBC, nested and auto less the truth, and whether auto asked for nested."""
    means = np.r_[np.full(3, signal / 2), np.zeros(columns - 3)]
    y = np.arange(rows) % 2
    x = rng.normal(size=(rows, columns)) + np.where(y == 1, 1, -1)[:, None] * means
    triples = np.array([rng.choice(columns, 3, replace=False) for _ in range(candidates)])
    losses = cross_validated(x, y, triples, rng)
    mean, winner = losses.mean(axis=0), int(losses.mean(axis=0).argmin())
    board = scoreboard(losses)
    found = bbc(losses, board, Best(), winner=winner, resamples=RESAMPLES, rng=rng)
    assert found is not None
    outside = nested(x, y, triples, rng)
    true = float(fit(x, y, triples).errors(means)[winner])
    asked = is_near(found.mean, float(board.se[winner]), [0.5])
    return (true, mean[winner] - true, found.mean - true, outside - true, (outside if asked else found.mean) - true, asked)


def scoreboard(losses: Floats) -> Scoreboard:
    many, se = losses.shape[1], losses.std(axis=0, ddof=1) / np.sqrt(len(losses))
    return Scoreboard(
        ids=tuple(map(str, range(many))), mean=losses.mean(axis=0), se=se, folds=losses.mean(axis=0)[:, None],
        complexity=np.ones(many), unit=("",) * many, eligible=np.ones(many, bool), higher_is_better=False,
    )  # fmt: skip


def table(runs: int, signals: Sequence[float]) -> None:
    head = ("rows", "candidates", "columns", "signal", "truth", "best", "bbc", "nested", "auto", "asked", "± of a bias")
    print("".join(f"{word:>12}" for word in head))
    for rows, candidates, columns in SETTINGS:
        for signal in signals:
            rng = np.random.default_rng([rows, candidates, columns, round(100 * signal)])
            found = np.array([study(rows, candidates, columns, signal, rng) for _ in range(runs)])
            true, *bias, asked = found.mean(axis=0)
            spread = found[:, 3].std(ddof=1) / np.sqrt(runs)
            print(f"{rows:12}{candidates:12}{columns:12}{signal:12g}{true:12.3f}", end="")
            print("".join(f"{one:+12.3f}" for one in bias) + f"{asked:12.0%}{1.96 * spread:12.3f}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--signal", type=float, nargs="+", default=[0, 0.4, 0.8])
    args = parser.parse_args()
    table(args.runs, args.signal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
