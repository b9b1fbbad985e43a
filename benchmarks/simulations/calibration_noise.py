"""What calibrators learn from scores that know nothing: labels are noise, a score is the class's share in the analysis rows.

    python -m benchmarks.simulations.calibration_noise [--runs 400] [--rows 100]

Two classes of equal chance, no feature. The score of a row is the share of class 2 among the rows that its model was fitted
on: with rows left out, it is the smaller the more rows of class 2 were left out, so that across folds scores and labels are
opposed. `crossed`: the curve of a fold is learnt from the scores of the other outer folds, whose models saw the fold's rows.
`inner`: it is learnt from five inner folds of the fold's analysis rows, as `calibrator` does. The truth of any error rate is
.5, and of any log loss ln 2 = .693 at best. Leave-one-out is run a tenth as often.
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import minimize

from modelsel.calibrator.base import BaseCalibrator
from modelsel.core.spec import make
from modelsel.core.types import Codes, Floats, Integers
from modelsel.statistics.sampling import deal

FOLDS = 10
SLOW = {"leave-one-out": 10}
Learnt = Callable[[Floats, Codes], Callable[[Floats], Floats]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--rows", type=int, default=100)
    args = parser.parse_args()
    print(f"{args.runs} runs, {args.rows} rows; error and log loss (truth .5 and .693 at best)\n")
    print("| outer folds | curve | crossed | inner |\n|---|---|---|---|")
    for scheme in SCHEMES:
        for name in CURVES:
            found = [_run(scheme, name, args.rows, seed) for seed in range(max(1, args.runs // SLOW.get(scheme, 1)))]
            error, loss = np.mean(found, axis=0)
            cells = " | ".join(f"{error[i]:.3f}, {loss[i]:.3f}" for i in (0, 1))
            print(f"| {scheme} | {name} | {cells} |", flush=True)


def free_platt(score: Floats, truth: Codes) -> Callable[[Floats], Floats]:
    """Platt's curve whose slope may be negative, on scores in units of their spread."""
    up, down = int((truth == 1).sum()), int((truth == 0).sum())
    target = np.where(truth == 1, (up + 1) / (up + 2), 1 / (down + 2))
    spread = score.std() or 1.0

    def loss(c: Floats) -> float:
        raw = c[0] * (score - score.mean()) / spread + c[1]
        return float(np.sum(np.logaddexp(0, raw) - target * raw))

    slope, start = minimize(loss, [0.0, np.log((up + 1) / (down + 1))]).x
    return lambda asked: 1 / (1 + np.exp(-np.clip(slope * (asked - score.mean()) / spread + start, -50, 50)))


def ours(kind: str) -> Learnt:
    """A calibrator of the package."""
    calibrator: BaseCalibrator = make("calibrator", kind)

    def learn(score: Floats, truth: Codes) -> Callable[[Floats], Floats]:
        found = calibrator.fit(np.column_stack([1 - score, score]), truth, np.ones(len(truth)))
        return lambda asked: found(np.column_stack([1 - asked, asked]))[:, 1]

    return learn


CURVES: dict[str, Learnt] = {
    "Platt, slope free": free_platt, "platt": ours("platt"), "isotonic": ours("isotonic"), "beta": ours("beta"),
    "temperature": ours("temperature"),
}  # fmt: skip
SCHEMES: dict[str, Callable[[Codes, np.random.Generator], Integers]] = {
    "leave-one-out": lambda truth, rng: np.arange(len(truth)),
    "10-fold, unstratified": lambda truth, rng: deal(len(truth), FOLDS, rng),
    "10-fold, stratified": lambda truth, rng: deal(len(truth), FOLDS, rng, truth),
}


def _run(scheme: str, curve: str, rows: int, seed: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Errors (crossed, inner) and log losses of one table."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=rows).astype(np.int32)
    fold = SCHEMES[scheme](truth, rng)
    score = _shares(truth, fold)
    chances = np.array(list(_both(curve, truth, fold, score, rng)))  # rows × (crossed, inner), fold by fold
    order = np.argsort(fold, kind="stable")
    said = np.clip(chances, 1e-15, 1 - 1e-15)
    true = truth[order][:, None] == 1
    wrong = np.where(said == 0.5, 0.5, (said > 0.5) != true)
    loss = -np.log(np.where(true, said, 1 - said))
    return tuple(wrong.mean(axis=0)), tuple(loss.mean(axis=0))


def _both(curve: str, truth: Codes, fold: Integers, score: Floats, rng: np.random.Generator) -> Iterator[tuple[float, float]]:
    """The chance of class 2 by either way, for the rows in the order of their folds."""
    for number in np.unique(fold):
        held, seen = fold == number, np.flatnonzero(fold != number)
        crossed = CURVES[curve](score[seen], truth[seen])
        inside = _shares(truth[seen], deal(len(seen), 5, rng, truth[seen]))
        inner = CURVES[curve](inside, truth[seen])
        yield from zip(crossed(score[held]).tolist(), inner(score[held]).tolist(), strict=True)


def _shares(truth: Codes, fold: Integers) -> Floats:
    """Per row the share of class 2 among the rows of the other folds."""
    size, ones = np.bincount(fold), np.bincount(fold, truth)
    return np.asarray((truth.sum() - ones[fold]) / (len(truth) - size[fold]))


if __name__ == "__main__":
    main()
