"""The ten tables that are disguised: three of scikit-learn's, seven by rule; numeric, nominal and mixed, 150 to 50,000 rows.

Those by rule have what real tables have: columns that hang together through a few hidden causes, whole numbers, few-valued and
skewed columns, zeros in bulk, levels of very unequal size.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from modelsel.core.spec import make
from modelsel.core.types import Feature, Floats, Task
from modelsel.dataset.read_table import read_table

Rng = np.random.Generator


def tables() -> dict[str, Callable[[], Task]]:
    """By name: how each is made."""
    return {
        "iris 150 × 4": lambda: bundled("iris"),
        "wine 178 × 13": lambda: bundled("wine"),
        "breast_cancer 569 × 30": lambda: bundled("breast_cancer"),
        "integers 846 × 18": lambda: drawn(846, "i" * 18, 1),
        "codes 1,500 × 10": lambda: drawn(1500, "iiidddsszz", 2),
        "credit 690 × 15": lambda: drawn(690, "rrsiizlllmmmkkb", 3),
        "votes 1,000 × 12": lambda: drawn(1000, "lllmmmmbbbkk", 4),
        "sites 3,000 × 20": lambda: drawn(3000, "k" * 20, 5),
        "adults 20,000 × 14": lambda: drawn(20_000, "isizzidmmllkbb", 6),
        "showers 50,000 × 10": lambda: drawn(50_000, "rrrsssrrsi", 7),
    }


def given(folder: Path) -> dict[str, Callable[[], Task]]:
    """Every table of a folder whose last column is the class: `name.csv`."""
    return {path.stem: lambda path=path: _last(path) for path in sorted(folder.glob("*.csv"))}  # type: ignore[misc]


def bundled(which: str) -> Task:
    task: Task = make("dataset", "sklearn_bundled", which=which).read()
    return task


def drawn(rows: int, letters: str, seed: int, world: int | None = None) -> Task:
    """A table by rule: a column per letter of `KINDS`; `world` fixes the rule, `seed` the rows that are drawn from it."""
    made = np.random.default_rng(1000 + (seed if world is None else world))
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(rows, 4))
    columns = [_column(letter, causes @ made.normal(size=4) / 2 + rng.normal(size=rows), made) for letter in letters]
    features = tuple(Feature(f"x{i}", kind, levels) for i, (_, kind, levels) in enumerate(columns))  # type: ignore[arg-type]
    values = np.column_stack([values for values, _, _ in columns]).astype(np.float64)
    target = (causes[:, 0] + rng.normal(size=rows) > 0).astype(np.int32)
    return Task(name="t", features=features, values=values, rows=np.arange(rows), classes=("no", "yes"), target=target)


def _column(letter: str, x: Floats, made: Rng) -> tuple[Floats, str, tuple[str, ...]]:
    """r real, s skewed, i whole numbers, d a few whole numbers, z zeros in bulk; b, k, l, m nominal of 2, 4, 7, 14 levels."""
    place, scale = made.uniform(-20, 200), made.uniform(1, 40)
    if letter == "r":
        return (place + scale * x).round(4), "numeric", ()
    if letter == "s":
        return np.exp(x * 0.7 + place / 100).round(4), "numeric", ()
    if letter == "i":
        return np.round(place + scale * x), "numeric", ()
    if letter == "d":
        return np.clip(np.round(2 * x + 3), 0, 9), "numeric", ()
    if letter == "z":
        return np.where(x > 1, np.round(scale * 10 * np.abs(x)), 0), "numeric", ()
    return _levels(x, {"b": 2, "k": 4, "l": 7, "m": 14}[letter], made)


def _levels(x: Floats, count: int, made: Rng) -> tuple[Floats, str, tuple[str, ...]]:
    cuts = np.quantile(x, np.cumsum(made.dirichlet(np.full(count, 2.0)))[:-1])
    names = made.permutation(count)
    return names[np.searchsorted(cuts, x)].astype(np.float64), "nominal", tuple(f"level {i}" for i in range(count))


def _last(path: Path) -> Task:
    header: Sequence[str] = path.open(encoding="utf-8").readline().strip().split(",")
    return read_table(path, header[-1].strip('"'))
