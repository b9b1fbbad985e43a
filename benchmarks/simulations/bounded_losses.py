"""How wide intervals of bounded losses are, beside those that a range alone gives.

    python -m benchmarks.simulations.bounded_losses [--rows 2000 8000] [--nats 4.6 20]

A model's out-of-fold scores for 3,000 development rows, and its scores for the sealed rows, are drawn alike: labels are 1 four
times in ten, log odds are normal about ± `signal` with deviation 1.6. What looks had before plans did is √(nats / 2n) times the
range of the loss (Hoeffding); the figure is the half width of the released interval as a share of that, the mean of some draws.
"""

import argparse
from math import sqrt

import numpy as np

from modelsel.core.spec import make
from modelsel.core.types import Outputs
from modelsel.guard.bounded_losses import SealedSide, form_of, plan_release
from modelsel.guard.labels import truth
from modelsel.guard.requests import OutOfFold

COSTS = ((0.0, 5.0), (1.0, 0.0))
MEASURES = (
    ("brier", {}), ("cost_matrix", {"costs": COSTS}), ("balanced_error", {}), ("recall", {"positive": 1}),
    ("precision", {"positive": 1}), ("f_beta", {"positive": 1}),
)  # fmt: skip
SIGNALS = (1.5, 2.2, 2.8, 4.0)


def drawn(rows: int, rng: np.random.Generator, signal: float) -> OutOfFold:
    """Labels and scores of some rows."""
    label = (rng.random(rows) < 0.4).astype(np.int32)
    p = 1 / (1 + np.exp(-(signal * (2 * label - 1) + rng.normal(0, 1.6, rows))))
    scores = np.column_stack([1 - p, p])
    return OutOfFold(Outputs(scores.argmax(axis=1).astype(np.int32)[None], scores[None]), label)


def share(kind: str, settings: dict[str, object], rows: int, nats: float, signal: float, seed: int) -> tuple[float, float]:
    """Half width as a share of the former one, and the error rate."""
    rng, measure = np.random.default_rng(seed), make("measure", kind, **settings)
    seen, sealed = drawn(3000, rng, signal), drawn(rows, rng, signal)
    form = form_of(measure, 2, seen)
    assert form is not None
    release = plan_release(form, seen, SealedSide(sealed.outputs, None, None), nats, None, None)
    assert release is not None
    summary = truth(measure, sealed.outputs, (("0", "1"), sealed.truth, None), np.ones(rows, bool), form)
    limits = release.release(summary).interval(rows, nats, None, release.plan)
    assert limits is not None
    return (limits[1] - limits[0]) / 2 / (abs(form.width) * sqrt(nats / (2 * rows))), summary.errors / rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=(2000, 8000))
    parser.add_argument("--nats", type=float, nargs="+", default=(4.6, 20.0))
    parser.add_argument("--draws", type=int, default=3)
    args = parser.parse_args()
    print(f"| measure | rows | nats | {' | '.join(f'signal {signal:g}' for signal in SIGNALS)} |")
    print("|---|---|---|" + "---|" * len(SIGNALS))
    for kind, settings in MEASURES:
        for rows in args.rows:
            for nats in args.nats:
                found = [
                    np.mean([share(kind, settings, rows, nats, signal, seed) for seed in range(args.draws)], axis=0)
                    for signal in SIGNALS
                ]
                cells = " | ".join(f"{ratio:.2f} (error {rate:.2f})" for ratio, rate in found)
                print(f"| {kind} | {rows:,} | {nats:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
