"""A large table as offices have them: numbers with gaps, whole numbers, names of few and of many levels, two classes."""

import numpy as np
import pandas as pd

LEVELS = (2, 4, 7, 12, 24, 991)  # of the names; the last one is as a postal code, its levels of very unequal sizes


def mixed_table(rows: int, seed: int = 0) -> pd.DataFrame:
    """Eight numbers with 5 % gaps, six names, three whole numbers, and the classes `y`, about a quarter of them by chance."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, 8))
    whole = np.column_stack([rng.poisson(mean, rows) for mean in (2, 9, 40)])
    names = [_drawn(levels, rows, rng) for levels in LEVELS]
    effects = [rng.normal(scale=0.5, size=levels) for levels in LEVELS]
    lean = numbers @ rng.normal(scale=0.5, size=8) + 0.4 * numbers[:, 0] * numbers[:, 1] + 0.15 * (whole[:, 0] - 2)
    lean = lean + sum(effect[name] for effect, name in zip(effects, names, strict=True))
    chance = 1 / (1 + np.exp(-(lean - np.median(lean))))
    numbers[rng.random(numbers.shape) < 0.05] = np.nan
    columns = {f"x{at}": numbers[:, at] for at in range(8)}
    columns |= {f"name{at}": pd.Series(names[at]).map("v{:03d}".format).astype("category") for at in range(len(LEVELS))}
    columns |= {f"count{at}": whole[:, at] for at in range(3)}
    return pd.DataFrame(columns).assign(y=np.where(rng.random(rows) < chance, "yes", "no"))


def _drawn(levels: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Levels in Zipf-like shares."""
    shares = 1.0 / np.arange(1, levels + 1) ** 0.7
    return rng.choice(levels, rows, p=shares / shares.sum())
