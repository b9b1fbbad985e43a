"""What you will wait: shapes of tables × spaces, each study in a fresh process, beside what somebody would run instead.

Seconds are those of a processor, after imports, so that a busy machine shows the same; on two free cores a study of more
than some seconds takes a little more than half of them. The note says what `plan` had promised by the clock of a free machine,
and the most memory that the process held. Sealing and looking have a budget of their own.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_score
from threadpoolctl import threadpool_limits

from benchmarks.common.mixed_table import mixed_table
from benchmarks.common.timing import Row, processor

SPACES = ("naive_bayes", "trees", "default")
ROWS = (1_000, 30_000, 300_000)
STUDY = """
import json, resource, sys, time
import modelsel.runner.costs as costs, modelsel.reporting.forecast as forecast
costs.slowness = forecast.slowness = lambda: 1.0
import modelsel
path, space, folder = sys.argv[1:]
began = time.process_time()
plan = modelsel.plan(path, target="y", space=space, runs=folder)
planned = time.process_time() - began
began = time.process_time()
done = modelsel.run(path, target="y", space=space, tracking="off", runs=folder)
print(json.dumps({"said": plan.seconds, "planned": planned, "took": time.process_time() - began,
                  "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def rows() -> Iterable[Row]:
    with tempfile.TemporaryDirectory() as place:
        for many in ROWS:
            frame, path = mixed_table(many), Path(place) / f"{many}.parquet"
            frame.to_parquet(path)
            theirs = boosted(frame)
            for space in SPACES:
                found = study(path, space)
                yield waited(f"{many:,} × 17 mixed, space={space}", found, theirs)


def study(path: Path, space: str) -> dict[str, float]:
    """Plan and run a study with the test opened."""
    return apart(STUDY, str(path), space)


def apart(program: str, *arguments: str) -> dict[str, float]:
    """What a program prints last in a process of its own, with a ledger of its own, in the folder that is its last argument."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", program, *arguments, folder]
        own = {**os.environ, "MODELSEL_HOME": folder}
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=own)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def boosted(frame: pd.DataFrame) -> float:
    """Ten folds of HistGradientBoosting on seven tenths of the rows: seconds of a processor."""
    some = frame[: len(frame) * 7 // 10]
    X, y = some.drop(columns="y"), some["y"]
    X["name5"] = X["name5"].cat.codes  # it takes no more than 255 levels
    own = HistGradientBoostingClassifier(categorical_features=[f"name{at}" for at in range(5)], random_state=0)
    with threadpool_limits(1):
        return processor(lambda: np.mean(cross_val_score(own, X, y, cv=10)))


def waited(work: str, found: dict[str, float], theirs: float) -> Row:
    """A study of many candidates beside one setting of a strong learner: plan, choice, test and report."""
    said = f"plan said {found['said']:.1f} s with two workers, in {found['planned']:.1f} s"
    note = f"{said}; {found['bytes'] / 2**20:,.0f} MiB at most"
    against = "ten folds of HistGradientBoosting, one setting"
    return Row(work, against, (theirs / found["took"],), found["took"], theirs, "none asked: other learners", note=note)
