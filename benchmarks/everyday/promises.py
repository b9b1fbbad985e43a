"""What `plan` promises beside what then happens: twelve shapes of tables × five spaces, time and memory.

Each case in a process of its own: planned for one worker on a free machine, then run with the test opened. Seconds are those of
a processor, which a busy machine leaves as they are; memory is the most that the process held, beside what it held before the
run and what the plan adds to it. What a plan says to take longer than `MOST` is not run, and is counted.
"""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.mixed_table import mixed_table
from benchmarks.common.timing import Row
from benchmarks.everyday.waiting import apart

SPACES = ("naive_bayes", "knn", "cart", "trees", "default")
MOST = 20.0  # seconds
TIME, MEMORY = 2.0, 1.5  # how far what is said may be from what was
CASE = """
import json, sys, time
from pathlib import Path
import modelsel.runner.costs as costs, modelsel.reporting.forecast as forecast
costs.slowness = forecast.slowness = lambda: 1.0
import modelsel
from modelsel.core.system.memory import give_back
path, space, most, folder = sys.argv[1:]
def held(what):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(what)) * 1024
given = {"target": "y", "space": space, "pool": "sequential", "runs": folder}
began = time.process_time()
plan = modelsel.plan(path, **given)
found = {"said": plan.seconds, "planned": time.process_time() - began, "memory": plan.memory}
if plan.seconds <= float(most):
    give_back()
    found["memory"] += held("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    began = time.process_time()
    modelsel.run(path, tracking="off", **given)
    found |= {"took": time.process_time() - began, "held": held("VmHWM")}
print(json.dumps(found))
"""
Made = Callable[[np.random.Generator], pd.DataFrame]


def numbers(rows: int, columns: int, classes: int = 2) -> Made:
    """Numbers alone, and classes that hang on the first of them."""

    def made(rng: np.random.Generator) -> pd.DataFrame:
        values = rng.normal(size=(rows, columns))
        lean = values[:, :3].sum(axis=1) + rng.normal(size=rows)
        cuts = np.quantile(lean, np.linspace(0, 1, classes + 1)[1:-1])
        names = np.array([f"class {at}" for at in range(classes)])
        return pd.DataFrame(values, columns=[f"x{at}" for at in range(columns)]).assign(y=names[np.searchsorted(cuts, lean)])

    return made


def names(rows: int, columns: int, levels: int) -> Made:
    """Names of many levels alone."""

    def made(rng: np.random.Generator) -> pd.DataFrame:
        codes = rng.integers(levels, size=(rows, columns))
        effects = rng.normal(size=levels)
        lean = effects[codes].sum(axis=1) + rng.normal(size=rows)
        columns_of = {f"name{at}": np.char.add("v", codes[:, at].astype(str)) for at in range(columns)}
        return pd.DataFrame(columns_of).assign(y=np.where(lean > 0, "yes", "no"))

    return made


SHAPES: dict[str, Made] = {
    **{f"{rows:,} × 17 mixed": (lambda rng, rows=rows: mixed_table(rows)) for rows in (1_000, 10_000, 100_000, 1_000_000)},
    "1,000 × 500 numbers": numbers(1_000, 500),
    "5,000 × 100 numbers": numbers(5_000, 100),
    "50,000 × 20 numbers": numbers(50_000, 20),
    "300,000 × 10 numbers": numbers(300_000, 10),
    "5,000 × 4 names of 300 levels": names(5_000, 4, 300),
    "50,000 × 6 names of 100 levels": names(50_000, 6, 100),
    "3,000 × 15 numbers, 26 classes": numbers(3_000, 15, 26),
    "20,000 × 10 numbers, 100 classes": numbers(20_000, 10, 100),
}  # fmt: skip


def rows() -> Iterable[Row]:
    """A row per case that was run, and how many of them were kept."""
    cases: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as place:
        for shape, made in SHAPES.items():
            path = Path(place) / "table.parquet"
            made(np.random.default_rng(0)).to_parquet(path)
            for space in SPACES:
                cases.append(apart(CASE, str(path), space, str(MOST)))
                if "took" in cases[-1]:
                    yield case(f"{shape}, space={space}", cases[-1])
    run = [one for one in cases if "took" in one]
    note = f"of {len(cases)} cases {len(cases) - len(run)} were said to take more than {MOST:.0f} s, and were not run"
    for what, said, was, within in (("time", "said", "took", TIME), ("memory", "memory", "held", MEMORY)):
        kept = sum(1 / within <= one[said] / one[was] <= within for one in run)
        yield Row(
            f"plans whose {what} is within {within:g} × of what was, share of {len(run)}", "55 of 60", (kept / len(run),),
            float("nan"), float("nan"), "", goal=55 / 60, note=note,
        )  # fmt: skip


def case(work: str, found: dict[str, float]) -> Row:
    """What was said over what was."""
    said, held = found["memory"] / 2**20, found["held"] / 2**20
    note = f"planned in {found['planned']:.1f} s; MiB said {said:,.0f}, held {held:,.0f}"
    ratio = found["said"] / found["took"]
    return Row(work, "what plan said", (ratio,), found["took"], found["said"], "", goal=1 / TIME, most=TIME, note=note)
