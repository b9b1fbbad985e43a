"""A part of a table's rows in disguise, after one look at the table: in how many homes it is refused, by share of the rows.

The tables have 4, 10, 13, 15 and 30 columns: three by rule, wine and breast cancer. The part is split by another seed, under
`guard=strict`. Which triples are kept, and which waves are asked, follow from the key of a home: so each is asked in several.

    python -m benchmarks.recognition.guard_parts [--homes 3]
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.recognition.disguise_tables import bundled, drawn
from benchmarks.recognition.guard_disguises import Change, look, noise, renamed, scaled, standardised, subset
from modelsel.core.types import Feature, Task

TABLES: dict[int, Callable[[], Task]] = {
    4: lambda: drawn(400, "rrrr", 1), 10: lambda: drawn(600, "rrrssrrrss", 2), 13: lambda: bundled("wine"),
    15: lambda: drawn(690, "rrsiizlllmmmkkb", 3), 30: lambda: bundled("breast_cancer"),
}  # fmt: skip
SHARES = (0.6, 0.4, 0.25)


def four_digits(task: Task, rng: np.random.Generator) -> Task:
    del rng
    numeric = np.array([feature.kind == "numeric" for feature in task.features])
    rounded = np.array([[float(f"{value:.4g}") for value in row] for row in task.values])
    return task.with_features(task.features, np.where(numeric, rounded, task.values))


def components(task: Task, rng: np.random.Generator) -> Task:
    """Principal components of the standardised columns."""
    values = standardised(task, rng).values  # type: ignore[union-attr]
    made = values @ np.linalg.svd(np.nan_to_num(values - values.mean(axis=0)), full_matrices=False)[2].T
    return task.with_features(tuple(Feature(f"pc{i}", "numeric") for i in range(made.shape[1])), made)


def averaged(task: Task, rng: np.random.Generator) -> Task:
    """Means of two rows each."""
    del rng
    half = len(task) // 2
    first = task.take(np.arange(half))
    return replace(first, values=(first.values + task.values[half : 2 * half]) / 2)


WAYS: dict[str, tuple[Change, ...]] = {
    "other units": (scaled,), "standardised anew": (standardised,), "renamed, other units": (renamed, scaled),
    "noise of 5 %, names kept": (noise(0.05),), "noise of 10 %, names kept": (noise(0.1),),
    "rounded to 4 digits": (four_digits,), "noise of 5 %, renamed": (renamed, noise(0.05)),
    "principal components": (components,), "averaged pairs": (averaged,),
}  # fmt: skip


def seen(table: Task, ways: tuple[Change, ...], share: float, seed: int) -> bool:
    """Whether a part in disguise is refused in a home of its own."""
    rng = np.random.default_rng(seed)
    part = subset(share)(table, rng)
    for way in ways:
        part = None if part is None else way(part, rng)
    assert part is not None
    with tempfile.TemporaryDirectory() as folder:
        look(Path(folder), table, 0)
        return look(Path(folder), part, 1, "another") != "answered"


def main(homes: int) -> int:
    print("| disguise | " + " | ".join(f"{share:.0%}" for share in SHARES) + " |")
    for name, ways in WAYS.items():
        found = []
        for share in SHARES:
            counts = {
                n: sum(seen(make_table(), ways, share, seed) for seed in range(homes)) for n, make_table in TABLES.items()
            }
            always = [str(n) for n, count in counts.items() if count == homes]
            some = [f"{n} in {count}" for n, count in counts.items() if 0 < count < homes]
            found.append(", ".join((*always, *some)) or "none")
        print(f"| {name} | {' | '.join(found)} |", flush=True)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--homes", type=int, default=3)
    sys.exit(main(parser.parse_args().homes))
