"""What would an interval of R² on sealed rows be worth? Why `guard.beside` refuses `measure=r2`.

1 − R² = Σ (y − f)² / Σ (y − ȳ)² is a ratio whose terms have no bound. With both capped at B, the square of what a guess of the
median exceeds for one row in a hundred, Π (1 + λ (num − μ den)) bounds the ratio from below for 0 < λ < 1 / (μ B) and from
above for −1 / B < λ < 0. Printed: R², the ratio of capped means, and the median half width of 95 % beside a count, on 300
rows, with the best of 60 bets in hindsight at the price of 20: no honest choice of a bet is narrower by much.

    python -m benchmarks.simulations.r2_interval
"""

from collections.abc import Callable
from math import log

import numpy as np
from scipy.optimize import brentq

LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "log-normal": lambda rng, n: rng.lognormal(size=n),
    "t(2)": lambda rng, n: rng.standard_t(2, n),
}
ROWS, RUNS, MANY = 300, 40, 10**6
NATS = log(2 * 2 / 0.05) - log(0.8)
SHARES = np.linspace(0.01, 0.99, 60)  # of the largest bet


def limits(num: np.ndarray, den: np.ndarray, cap: float) -> tuple[float, float]:
    """The ratios of means that are not excluded."""
    centre = float(num.sum() / den.sum())

    def excess(mu: float, largest: float) -> float:
        return max(float(np.log1p(share * largest * (num - mu * den)).sum()) for share in SHARES) - log(20) - NATS

    def below(mu: float) -> float:
        return excess(mu, 1 / (mu * cap))

    def above(mu: float) -> float:
        return excess(mu, -1 / cap)

    return brentq(below, 1e-6, centre), brentq(above, centre, 50.0)


def main() -> None:
    rng = np.random.default_rng(0)
    print("| errors | R² | with capped terms | half width |\n|---|---|---|---|")
    for law, draw in LAWS.items():
        x, error = rng.normal(size=MANY), draw(rng, MANY)
        error -= error.mean()
        y = x + error
        cap = float(np.quantile(np.abs(y - np.median(y)), 0.99)) ** 2
        num, den = np.minimum(error**2, cap), np.minimum((y - y.mean()) ** 2, cap)
        halves = []
        for _ in range(RUNS):
            rows = rng.choice(MANY, ROWS, replace=False)
            low, high = limits(num[rows], den[rows], cap)
            halves.append((high - low) / 2)
        whole = 1 - float((error**2).mean() / ((y - y.mean()) ** 2).mean())
        print(f"| {law} | {whole:.2f} | {1 - num.mean() / den.mean():.2f} | {np.median(halves):.2f} |", flush=True)


if __name__ == "__main__":
    main()
