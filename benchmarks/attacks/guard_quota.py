"""How many exact answers a quota should leave: an analyst adds features by the answers, exact ones first, then a ladder.

    python -m benchmarks.attacks.guard_quota [--runs 40]

Per number of test rows and quota: by how much the last accepted model's shown error is too low, its true error, the half width
of the certificate at the last look, and how often all intervals hold together (95 % is promised).
"""

import argparse
import sys
from math import sqrt

import numpy as np
from scipy.stats import norm

from modelsel.guard.release import LabelSummary, LookTerms, ShownAnswer, count_channel
from modelsel.statistics.certificate import SpendingState, interval
from modelsel.statistics.prices import steps_near

DELTA, LOOKS, STRENGTH = 0.05, 100, 0.15
QUOTAS = (0, 1, 3, 5, 10, 20, LOOKS)


def analyst(n: int, quota: int, rng: np.random.Generator) -> tuple[float, float, float, bool]:
    """Bias, true error, half width of a further look, and whether every interval held."""
    means = np.r_[np.full(5, STRENGTH), np.zeros(195)]
    side_train, side = rng.choice([-1, 1], 200), rng.choice([-1, 1], n)
    train = rng.normal(size=(200, 200)) + side_train[:, None] * means
    test = rng.normal(size=(n, 200)) + side[:, None] * means
    centre = (train * side_train[:, None]).mean(axis=0)
    chosen, total, spent, held = np.zeros(200, bool), np.zeros(n), 0.0, True
    past: list[ShownAnswer] = []
    best, last, setter = 1.0, (0.5, 0.5), {}
    for look, feature in enumerate(rng.permutation(200)[:LOOKS], 1):
        tried = total + test[:, feature] * centre[feature]
        picked = chosen.copy()
        picked[feature] = True
        errors, weights = int((np.sign(tried) != side).sum()), centre * picked
        true = float(norm.cdf(-(weights @ means) / np.linalg.norm(weights)))
        exact = look <= quota
        terms = LookTerms("full" if exact else "ladder", steps=None if exact else steps_near(0.5 / sqrt(n)))
        shown = count_channel(terms, n, (0.5, 1), past, look).release(LabelSummary(n, errors, errors / n, (), n))
        limits = shown.interval(n, SpendingState(look, spent).nats(DELTA))
        assert limits is not None
        setter[look] = true
        about = setter[shown.set_by] if shown.stays and shown.set_by else true
        held &= limits[0] <= about <= limits[1]
        spent += shown.price
        past.append(ShownAnswer(look, n, shown.symbol, shown.score, limits))
        if not shown.stays and (look == 1 or float(shown.score or 0.0) < best):
            best, chosen, total, last = float(shown.score or 0.0), picked, tried, (errors / n, true)
    nats = SpendingState(LOOKS + 1, spent).nats(DELTA)
    low, high = interval(round(n * best), round(n * best), n, nats)
    return last[1] - last[0], last[1], (high - low) / 2, held


def table(runs: int) -> bool:
    """Print it; true when all intervals held together as often as promised."""
    print(f"{'rows':>6}{'quota':>7}{'bias':>9}{'true':>9}{'half':>9}{'held':>7}")
    good = True
    for n in (100, 500, 2000):
        for quota in QUOTAS:
            rng = np.random.default_rng([n, quota])
            bias, true, half, held = map(np.array, zip(*(analyst(n, quota, rng) for _ in range(runs))))
            good &= bool(held.mean() >= 1 - DELTA - 4 * sqrt(DELTA * (1 - DELTA) / runs))
            name = "none" if quota == LOOKS else str(quota)
            print(f"{n:6}{name:>7}{bias.mean():9.4f}{true.mean():9.4f}{half.mean():9.3f}{held.mean():7.0%}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    return 0 if table(parser.parse_args().runs) else 1


if __name__ == "__main__":
    sys.exit(main())
