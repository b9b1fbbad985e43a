"""Estimates and tests beside the certificate where rows stand in units: do they hold when units are counted, and if rows are?

    python -m benchmarks.simulations.by_units [--runs 300] [--units 40 120] [--kept FILE]

Units of 1 to 12 rows have one label, and a place of their own in every column (`shared` is its part of the variance), so that
rows of a unit are alike. Each row by itself is as in `nested_worth`: the error of a linear rule on units that nobody has seen
is computed from its coefficients. Everything is done twice: with folds, resamples and tests of whole units, and as if rows were
independent.

    bbc            the interval around the best of 30 candidates holds its error; the mean of estimate − truth
    nested         the same, 10 × 10 folds, of the selection anew in each (the interval of corrected t)
    correlated t   the 95 % posterior interval over ten folds (as corrected t's) holds the difference of two candidates
    one holdout    the 95 % interval of t, of sums over units, holds the difference of two fitted rules
    .632+          the mean of estimate − truth, one candidate, 25 resamples; it has no interval
"""

import argparse
import json
import zlib
from pathlib import Path

import numpy as np

from benchmarks.simulations.nested_worth import FOLDS, Rules, fit, scoreboard
from modelsel.comparison.bbc import bbc
from modelsel.comparison.nested import sum_up_outer
from modelsel.comparison.point632 import no_information_error, point632_plus
from modelsel.core.types import Floats, Integers
from modelsel.rule.best import Best
from modelsel.statistics.bayesian import bayes_correlated
from modelsel.statistics.paired import unit_t

CANDIDATES, COLUMNS, SIGNAL, RESAMPLES, BAGS = 30, 20, 0.8, 200, 25
MEANS = np.r_[np.full(3, SIGNAL / 2), np.zeros(COLUMNS - 3)]
HELD = ("bbc", "nested", "correlated t", "one holdout")
FIGURES = (*HELD, "bbc − truth", "nested − truth", ".632+ − truth")
STEP = 20


def drawn(units: int, shared: float, rng: np.random.Generator) -> tuple[Floats, Integers, Integers]:
    """Columns, labels and units of rows."""
    unit = np.repeat(np.arange(units), rng.integers(1, 13, units))
    place = np.sqrt(shared) * rng.normal(size=(units, COLUMNS))[unit]
    label = (np.arange(units) % 2)[unit]
    own = np.sqrt(1 - shared) * rng.normal(size=(len(unit), COLUMNS))
    return place + own + np.where(label == 1, 1, -1)[:, None] * MEANS, label, unit


def folds(unit: Integers, rng: np.random.Generator) -> Integers:
    """The fold of each row; rows of a unit have one."""
    return np.asarray((rng.permutation(unit.max() + 1) % FOLDS)[unit])


def out_of_fold(x: Floats, y: Integers, fold: Integers, columns: Integers) -> Floats:
    """Loss of each row under each candidate."""
    losses = np.empty((len(x), len(columns)))
    for out in (fold == number for number in np.unique(fold)):
        losses[out] = fit(x[~out], y[~out], columns).wrong(x[out], y[out])
    return losses


def ratio(fold: Integers) -> float:
    """n_test / n_train, on average."""
    share = 1 / len(np.unique(fold))
    return share / (1 - share)


def anew(x: Floats, y: Integers, unit: Integers, columns: Integers, rng: np.random.Generator) -> tuple[float, float, float]:
    """Nested cross-validation: mean, low, high."""
    fold, scores = folds(unit, rng), []
    for out in (fold == number for number in np.unique(fold)):
        inner = folds(np.unique(unit[~out], return_inverse=True)[1], rng)
        best = columns[[int(out_of_fold(x[~out], y[~out], inner, columns).mean(axis=0).argmin())]]
        scores.append(float(fit(x[~out], y[~out], best).wrong(x[out], y[out]).mean()))
    found = sum_up_outer(scores, ratio(fold), [""] * len(scores))
    return found.mean, found.low, found.high


def out_of_bag(x: Floats, y: Integers, unit: Integers, rule: Rules, rng: np.random.Generator) -> float:
    """The .632+ estimate of one candidate: units are drawn, whole."""
    many, rates = unit.max() + 1, []
    rows = [np.flatnonzero(unit == one) for one in range(many)]
    for _ in range(BAGS):
        bag = rng.integers(0, many, many)
        out = ~np.isin(unit, bag)
        inside = np.concatenate([rows[one] for one in bag])
        if out.any():
            rates.append(fit(x[inside], y[inside], rule.columns).wrong(x[out], y[out]).mean())
    wrong, truth = rule.wrong(x, y)[:, 0], y.astype(np.int32)
    chance = no_information_error(truth, np.where(wrong, 1 - truth, truth).astype(np.int32), 2)
    return point632_plus(float(wrong.mean()), float(np.mean(rates)), chance)


def figures(units: int, shared: float, whole: bool, rng: np.random.Generator) -> tuple[float, ...]:
    """One study: what held, and the errors of estimates."""
    x, y, own = drawn(units, shared, rng)
    unit = own if whole else np.arange(len(own))
    triples = np.array([rng.choice(COLUMNS, 3, replace=False) for _ in range(CANDIDATES)])
    triples[0] = 0, 1, 2
    every = fit(x, y, triples)
    truth, fold = every.errors(MEANS), folds(unit, rng)
    losses = out_of_fold(x, y, fold, triples)
    winner = int(losses.mean(axis=0).argmin())
    groups = unit if whole else None
    best = bbc(losses, scoreboard(losses), Best(), winner=winner, groups=groups, resamples=RESAMPLES, rng=rng)
    assert best is not None
    mean, low, high = anew(x, y, unit, triples, rng)
    between = [float((losses[fold == one, 0] - losses[fold == one, 1]).mean()) for one in np.unique(fold)]
    known = truth[0] - truth[1]
    below = bayes_correlated(np.array(between) - known, ratio(fold)).below
    fresh, label, others = drawn(units, shared, rng)
    wrong = every.wrong(fresh, label)
    test = unit_t(wrong[:, 0].astype(float) - wrong[:, 1], others if whole else np.arange(len(others)))
    first = out_of_bag(x, y, unit, Rules(every.columns[:1], every.weights[:1], every.cut[:1]), rng)
    return (
        best.low <= truth[winner] <= best.high, low <= truth[winner] <= high, 0.025 <= below <= 0.975,
        float(test.low) <= known <= float(test.high), best.mean - truth[winner], mean - truth[winner], first - truth[0],
    )  # fmt: skip


def summed(units: int, shared: float, whole: bool, runs: int, kept: Path | None) -> Floats:
    """Mean figures of some runs; sums so far stand in a file."""
    name = f"{units}, {shared:g}, {'units' if whole else 'rows'}"
    known = json.loads(kept.read_text()) if kept is not None and kept.is_file() else {}
    done, sums = known.get(name, (0, [0.0] * len(FIGURES)))
    while done < runs:
        until = min(runs, done + STEP)
        seeds = ([run, units, zlib.crc32(str(shared).encode())] for run in range(done, until))
        found = [figures(units, shared, whole, np.random.default_rng(seed)) for seed in seeds]
        done, sums = until, (np.array(sums) + np.sum(found, axis=0)).tolist()
        if kept is not None:
            kept.write_text(json.dumps({**known, name: (done, sums)}, indent=1))
    return np.asarray(np.divide(sums, done))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--units", type=int, nargs="+", default=[40, 120])
    parser.add_argument("--shared", type=float, nargs="+", default=[0.0, 0.5])
    parser.add_argument("--kept", type=Path, help="file of the sums so far, from which the same command goes on")
    args = parser.parse_args()
    print(f"| units | shared | counted | {' | '.join(FIGURES)} |\n|---|---|---|{'---|' * len(FIGURES)}")
    for units in args.units:
        for shared in args.shared:
            for whole in (True, False):
                found = summed(units, shared, whole, args.runs, args.kept)
                cells = [f"{one:.3f}" for one in found[: len(HELD)]] + [f"{one:+.3f}" for one in found[len(HELD) :]]
                print(f"| {units} | {shared:g} | {'units' if whole else 'rows'} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
