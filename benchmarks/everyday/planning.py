"""Planning: how long it takes, and how near the predicted cost is to what then happens.

Composing, expanding, ids, batches, reading and splitting the rows, the estimate from trials on few rows and the printed lines
are timed as `modelsel plan` does them after its imports. Predictions for one worker are compared with a run in a process of
its own: seconds of a processor, which a busy machine leaves as they are, and the most memory held at once beyond what was held
before it.
"""

import json
import subprocess
import sys
from collections.abc import Iterable

from benchmarks.common.places import DATA
from benchmarks.common.timing import Row, processor

WAVEFORM = "dataset=waveform"
MUSHROOM = DATA / "mushroom.csv"
TREES = "learner.sweep={criterion: 'choice(gini,entropy)', max_depth: 'range(1,21)', min_split: 'range(2,42,4)'}"
NEAR = "learner.sweep={k: 'range(1,52,2)', distance: 'choice(euclidean,manhattan)', vote: 'choice(uniform,inverse)'}"
BAYES = "learner.sweep={smoothing: 'range(0,3,0.02)'}"
DEEP = "learner.sweep={max_depth: 'range(1,26)', min_split: 'range(2,42,2)', min_leaf: 'range(1,%d)'}"
SPACES = {
    "400 trees, 20,000 rows": (WAVEFORM, "dataset.rows=20000", "learner=cart", TREES),
    "400 trees, 2,900 rows": (WAVEFORM, "dataset.rows=2900", "learner=cart", TREES),
    "104 k-NN, 5,000 rows": (WAVEFORM, "dataset.rows=5000", "learner=knn", NEAR),
    "104 k-NN, 20,000 rows": (WAVEFORM, "dataset.rows=20000", "learner=knn", NEAR),
    "150 naive Bayes, mushroom": (
        "dataset=csv", f"dataset.path={MUSHROOM}", "dataset.target=class", "learner=naive_bayes", BAYES,
    ),
    "CART, k-NN and naive Bayes by log loss, 5,000 rows": (
        WAVEFORM, "dataset.rows=5000", "space=[cart,knn,naive_bayes]", "measure=log_loss",
    ),
}  # fmt: skip
TURNS = 3
RUN = """
import json, sys, tempfile, time
from pathlib import Path
from modelsel.config.compose import compose
from modelsel.planning.make import make
from modelsel.runner.costs import estimate
from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.families import resolve
from modelsel.runner.journal import Journal
from modelsel.runner.study_data import prepare
from modelsel.runner.execution.executors import Pool
from modelsel.core.system.memory import give_back
from modelsel.runner.run import run

def held(what):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(what)) * 1024

config = compose(sys.argv[1:], None)
material = prepare(config)
task, folds = material.development, material.resampling
plan = make(resolve(config.candidates, task, config.seed), task, folds)
cost = estimate(RunContext(task, folds, plan, config.measure, config.seed), Pool("sequential"))
give_back()  # what the trials have freed is not to serve the run
before = held("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # the most that was held is counted from here
with tempfile.TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
    start = time.process_time()
    results = run(plan, task, folds, config.measure, Pool("sequential"), journal, seed=config.seed)
    took = time.process_time() - start
assert results.counts["ok"] == len(plan.candidates) and results.computed == len(plan.cells)
print(json.dumps([cost.seconds, took, cost.memory, held("VmHWM") - before]))
"""


def rows() -> Iterable[Row]:
    yield planned("plan 10,000 candidates", 21, most=1.0)
    yield planned("plan 100,000 candidates", 201)
    for name, words in SPACES.items():
        if "mushroom" in name and not MUSHROOM.is_file():
            print(f"planning: skipped, {MUSHROOM.name} is not there", file=sys.stderr)
            continue
        yield from predicted(name, words)


def planned(name: str, leaves: int, most: float | None = None) -> Row:
    """Seconds of planning, once kernels are loaded; with how long it took the first time."""
    from modelsel.config.compose import compose

    words = ("dataset=iris", "learner=cart", DEEP % leaves)
    compose(("dataset=iris",))  # imports and Hydra's first composition are start-up
    first = processor(lambda: plan(words))
    took = tuple(processor(lambda: plan(words)) for _ in range(TURNS))
    note = f"the first time {first:.2f} s, kernels' loading included"
    median = sorted(took)[TURNS // 2]
    return Row(name, "one second", took, median, 1.0, equal="every candidate is in one batch", most=most, note=note)


def plan(words: tuple[str, ...]) -> None:
    """As `modelsel plan` does it."""
    from modelsel.config.compose import compose
    from modelsel.planning.make import make
    from modelsel.planning.show import lines
    from modelsel.runner.costs import estimate
    from modelsel.runner.evaluation.context import RunContext
    from modelsel.runner.execution.executors import Pool
    from modelsel.runner.study_data import prepare

    config = compose(words)
    material = prepare(config)
    made = make(config.candidates, material.development, material.resampling)
    assert sum(len(batch.members) for batch in made.batches) == len(made.candidates)
    work = RunContext(material.development, material.resampling, made, config.measure, config.seed)
    cost = estimate(work, Pool("threads", 2))
    assert lines(made, material.development, len(material.sealed), cost)


def predicted(name: str, words: tuple[str, ...]) -> Iterable[Row]:
    """Predicted over actual, in seconds and in bytes."""
    turns = [measured(words) for _ in range(TURNS)]
    for what, at in (("time", 0), ("memory", 2)):
        ratios = tuple(turn[at] / turn[at + 1] for turn in turns)
        unit = 1 if what == "time" else 1 / 2**20
        said, was = (sorted(turn[at + i] for turn in turns)[TURNS // 2] * unit for i in (0, 1))
        note = "" if what == "time" else f"MiB: predicted {said:.0f}, held {was:.0f}"
        times = (was, said) if what == "time" else (float("nan"), float("nan"))
        yield Row(
            f"predicted {what}: {name}", f"the {what} that the run took", ratios, *times,
            equal="all cells computed, all candidates ok", goal=0.5, most=2.0, note=note,
        )  # fmt: skip


def measured(words: tuple[str, ...]) -> list[float]:
    done = subprocess.run([sys.executable, "-c", RUN, *words], capture_output=True, text=True, check=True)
    found: list[float] = json.loads(done.stdout)
    return found
