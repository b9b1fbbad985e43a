"""The pytest plugin where nobody asks for it: what `pytest` pays for its being installed, in processor time beside 50 ms."""

import statistics
import subprocess
import sys
from collections.abc import Iterable

from benchmarks.common.timing import Row

TURNS, ALLOWED = 11, 0.05
CODE = """
import time, pytest
begun = time.process_time()
import modelsel_watch.pytest_plugin as plugin
taken = time.process_time() - begun
import sys
heavy = {"numpy", "sklearn", "pandas", "mlflow", "hydra"} & set(sys.modules)
print(taken, ",".join(sorted(heavy)))
"""


def rows() -> Iterable[Row]:
    told = [_turn() for _ in range(TURNS)]
    yield Row("load the plugin, no --modelsel", "50 ms allowed", tuple(ALLOWED / one for one in told),
              statistics.median(told), ALLOWED, "none of numpy, sklearn, pandas, mlflow is loaded", goal=1.0)  # fmt: skip


def _turn() -> float:
    """Seconds of the processor, in a fresh process."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    seconds, _, heavy = done.stdout.strip().partition(" ")
    assert not heavy, heavy
    return float(seconds)
