"""What `plan` adds to reading a table: wide, long with five things wrong, classes of one row in two hundred.

Beside reading alone, after imports, in processor seconds.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.timing import Row, by_processor
from modelsel.api.commands.table_words import as_overrides
from modelsel.config.compose import compose
from modelsel.reporting.forecast import forecast

GOAL, SCREEN = 1 / 1.5, 40  # plan at most 1.5 times reading, and lines of a screen


def wide(rng: np.random.Generator) -> pd.DataFrame:
    """2,000 rows of 1,500 numbers, 300 constants and 200 names."""
    rows = 2_000
    columns = {f"x{at}": rng.normal(size=rows).round(3) for at in range(1_500)}
    columns |= {f"c{at}": np.ones(rows, np.int64) for at in range(300)}
    columns |= {f"k{at}": rng.choice(["a", "b", "c"], rows) for at in range(200)}
    return pd.DataFrame(columns).assign(y=np.where(columns["x0"] > 0, "a", "b"))


def long(rng: np.random.Generator) -> pd.DataFrame:
    """300,000 rows with an id, a constant, a code for missing, a twin and classes of 1:200."""
    rows = 300_000
    columns: dict[str, object] = {f"x{at}": rng.normal(size=rows).round(3) for at in range(6)}
    columns |= {"customer id": [f"{number}-q" for number in rng.permutation(rows)], "const": np.ones(rows, np.int64)}
    columns |= {"temp": np.where(rng.random(rows) < 0.02, -200, rng.normal(20, 5, rows).round(1)), "twin": columns["x0"]}
    return pd.DataFrame(columns).assign(y=np.where(rng.random(rows) < 0.005, "rare", "common"))


TABLES: dict[str, Callable[[np.random.Generator], pd.DataFrame]] = {
    "2,000 rows × 2,000 columns": wide, "300,000 rows with five things wrong": long
}  # fmt: skip


def rows() -> Iterator[Row]:
    """A row per table."""
    with tempfile.TemporaryDirectory() as folder:
        for name, make in TABLES.items():
            path = Path(folder) / "table.csv"
            make(np.random.default_rng(0)).to_csv(path, index=False)
            yield beside_reading(name, path)


def beside_reading(name: str, path: Path) -> Row:
    """A plan on one screen, beside reading the table."""
    config = compose(as_overrides([str(path), "y"]))
    found = forecast(config)
    lines = found.screen.count("\n") + 1
    assert lines <= SCREEN, found.screen
    read = config.dataset.load().task
    assert found.rows + found.test_rows == len(read)
    note = f"{lines} lines; worst first: {found.findings[0].code}" if found.findings else ""
    return by_processor(
        f"plan of {name}", "reading it", lambda: forecast(config), config.dataset.load, GOAL, "all rows are planned for",
        turns=3, note=note,
    )  # fmt: skip
