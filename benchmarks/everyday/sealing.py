"""Sealing the test rows of a large table, and looking at them once: seconds of a processor, in a fresh process."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.common.mixed_table import mixed_table
from benchmarks.common.timing import Row
from benchmarks.everyday.waiting import apart

TABLES = ((30_000, 17, 4.0), (300_000, 17, 4.0), (1_000_000, 20, 8.0))  # rows, columns, seconds
MISSED = "By a profile the hashes of rows and columns take 4 s, of them Blake2b .9 and sorting 1.2; links 1.9."
STUDY = """
import json, sys, time
import modelsel
from modelsel.guard.gate import Gate
path, folder = sys.argv[1:]
spent = {"seal": 0.0, "look": 0.0}
def timed(name):
    own = getattr(Gate, name)
    def call(*arguments, **more):
        began = time.process_time()
        try:
            return own(*arguments, **more)
        finally:
            spent[name] += time.process_time() - began
    setattr(Gate, name, call)
timed("seal"), timed("look")
modelsel.run(path, target="y", space="naive_bayes", tracking="off", runs=folder)
print(json.dumps(spent))
"""


def rows() -> Iterable[Row]:
    """A row per table."""
    with tempfile.TemporaryDirectory() as place:
        for many, columns, budget in TABLES:
            frame, path = mixed_table(many), Path(place) / f"{many}.parquet"
            rng = np.random.default_rng(1)
            for at in range(columns - 17):
                frame.insert(0, f"more{at}", rng.normal(size=many))
            frame.to_parquet(path)
            found = apart(STUDY, str(path))
            took = found["seal"] + found["look"]
            note = f"sealing {found['seal']:.2f} s, looking {found['look']:.2f} s of a processor"
            note += f". {MISSED}" if took > budget else ""
            what, against = f"sealing and looking, {many:,} × {columns} mixed", f"a budget of {budget:g} s"
            yield Row(what, against, (took / budget,), took, budget, "", most=1.0, note=note)
