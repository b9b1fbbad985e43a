"""What a job of a sweep costs beside the same study of a loop in one process: imports, composition and MLflow are shared.

Both are processes of their own, with a home of their own and tracking on; seconds are those of a processor, children included
(MLflow is written by a process beside). The scores of all jobs are compared.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.common.places import ROOT, scratch
from benchmarks.common.timing import Row

DEPTHS = range(1, 13)
TURNS = 3
LOOP = """
import json, modelsel
scores = [modelsel.run("dataset=iris", "learner=cart", f"learner.max_depth={depth}", "final_test=false").winner["cv"]["mean"]
          for depth in DEPTHS]
print(json.dumps(scores))
""".replace("DEPTHS", f"range({DEPTHS.start}, {DEPTHS.stop})")


def rows() -> Iterator[Row]:
    """Twelve jobs on iris by `modelsel run -m`, and by a loop of `modelsel.run`."""
    swept = ["-m", "modelsel", "run", "-m", "dataset=iris", "learner=cart", f"learner.max_depth={','.join(map(str, DEPTHS))}",
             "final_test=false"]  # fmt: skip
    with scratch() as place:
        _spent(["-m", "modelsel", "run", "dataset=iris", "learner=cart"], place / "first")  # kernels and bytecode are there
        pairs = []
        for turn in range(TURNS):
            ours, theirs = place / f"sweep {turn}", place / f"loop {turn}"
            pairs.append((_spent(swept, ours)[0], _spent(["-c", LOOP], theirs)[0]))
        found, expected = _swept_scores(ours), json.loads(_spent(["-c", LOOP], theirs)[1].splitlines()[-1])
    if found != expected:
        raise AssertionError(f"a sweep scores otherwise: {found} beside {expected}")
    spent = [median(each) for each in zip(*pairs)]
    yield Row("twelve jobs of a sweep on iris, tracked", "a loop of modelsel.run in one process: times as long",
              tuple(ours / theirs for ours, theirs in pairs), *spent, "scores of all jobs", most=1.5,
              note=f"Seconds of a processor, load {os.getloadavg()[0]:.0f}.")  # fmt: skip


def _spent(words: list[str], place: Path) -> tuple[float, str]:
    """Processor seconds of a Python process and of its children, and what it printed."""
    place.mkdir(exist_ok=True)
    own = {"MODELSEL_HOME": str(place / "home"), "PYTHONPATH": str(ROOT)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *words], cwd=place, env={**os.environ, **own}, capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def _swept_scores(place: Path) -> list[float]:
    """The scores of a sweep's jobs, in their order."""
    told = next((place / "runs" / "sweeps").glob("*/sweep.json"))
    return [job["cv"] for job in json.loads(told.read_text("utf-8"))["jobs"]]
