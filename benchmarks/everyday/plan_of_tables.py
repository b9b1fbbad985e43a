"""What `plan` adds to reading a table: wide, long with five things wrong, classes of one row in two hundred.

Processor seconds of the command, from the shell to its end, beside a process of modelsel that reads the table and ends.
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.mixed_table import mixed_table
from benchmarks.common.timing import Row

GOAL, SCREEN = 1 / 1.5, 40  # plan at most 1.5 times reading, and lines of a screen
MORE = 3.0  # seconds that planning a large ordinary table may take beside reading it
TURNS = 2
READ = """
import sys
from modelsel.api.commands.table_words import as_overrides
from modelsel.config.compose import compose
compose(as_overrides([sys.argv[1], "y"])).dataset.load()
"""


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
        path = Path(folder) / "table.parquet"
        mixed_table(300_000).to_parquet(path)
        yield more_than_reading("300,000 × 17 mixed", path)


def beside_reading(name: str, path: Path) -> Row:
    """A plan on one screen, beside reading the table."""
    ours, theirs, said = in_turns(path)
    lines = said.count("\n")
    assert lines <= SCREEN, said
    ratios = tuple(their / our for our, their in zip(ours, theirs, strict=True))
    middle = (sorted(one)[TURNS // 2] for one in (ours, theirs))
    return Row(f"plan of {name}", "reading it", ratios, *middle, "", GOAL, note=f"{lines} lines")


def more_than_reading(name: str, path: Path) -> Row:
    """What a plan takes more than reading the table."""
    ours, theirs, _ = in_turns(path)
    more = [our - their for our, their in zip(ours, theirs, strict=True)]
    what = f"plan of {name}, beside reading it"
    return Row(what, f"a budget of {MORE:g} s", tuple(one / MORE for one in more), sorted(more)[TURNS // 2], MORE, "", most=1.0)


def in_turns(path: Path) -> tuple[list[float], list[float], str]:
    """Seconds of planning and of reading, and what the plan said."""
    ours, theirs, said = [], [], ""
    for _ in range(TURNS):
        spent, said = spent_by(["-m", "modelsel", "plan", str(path), "y"])
        ours.append(spent)
        theirs.append(spent_by(["-c", READ, str(path)])[0])
    return ours, theirs, said


def spent_by(words: Sequence[str]) -> tuple[float, str]:
    """Processor seconds of a process of Python, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said
