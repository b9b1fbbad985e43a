"""Memory of whole studies of large tables, as `modelsel run FILE TARGET` makes them: reading, sealing, choosing, test, report.

What is counted is all that the process holds at its largest: the interpreter, the libraries and the compiled kernels too. A
study of 200 rows tells how much of it these are.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.common.places import ROOT
from benchmarks.common.timing import Row
from benchmarks.everyday.studies import COLUMNS, MANY, MILLION, written

SMALL = 200
SETTINGS = ("learner=tree", "scheme.folds=3", "pool.n_jobs=2")
RUN = """
import sys
from modelsel.cli.dispatch import main

code = main(["run", *sys.argv[1:]])
lines = open("/proc/self/status").read().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
sys.exit(code)
"""


def rows() -> Iterable[Row]:
    """One large enough that all else is little beside its numbers, and one of which what else is held is taken off."""
    with tempfile.TemporaryDirectory() as place:
        held(Path(place), SMALL)  # kernels are compiled before
        base, _ = held(Path(place), SMALL)
        for many, taken_off in ((MILLION, 0), (MANY, base)):
            peak, took = held(Path(place), many)
            matrix = many * COLUMNS * 8
            beside = f" beyond a study of {SMALL} rows" if taken_off else ""
            yield Row(
                f"a study of {many:,} × {COLUMNS} from CSV, one tree, 3 folds, test opened: peak memory{beside}",
                "its float64 matrix: times as many bytes", ((peak - taken_off) / matrix,), took, float("nan"), "", most=6.0,
                note=f"{peak / 1e6:.0f} MB, of which a study of {SMALL} rows takes {base / 1e6:.0f}; the matrix is "
                f"{matrix / 1e6:.0f} MB; two threads, load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores.",
            )  # fmt: skip


def held(place: Path, many: int) -> tuple[int, float]:
    """The most bytes that the process of a study held, and its seconds on the wall."""
    path = written(place / f"{many}.csv", many)
    surroundings = {**os.environ, "MODELSEL_HOME": tempfile.mkdtemp(dir=place)}
    surroundings["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    began = time.monotonic()
    words = [sys.executable, "-c", RUN, str(path), "y", *SETTINGS]
    done = subprocess.run(words, cwd=place, env=surroundings, capture_output=True, text=True, check=True)
    path.unlink()
    return int(done.stdout.split()[-1]) * 1024, time.monotonic() - began
