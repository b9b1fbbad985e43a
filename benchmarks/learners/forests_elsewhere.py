"""Forests of ranger (R) and of Yggdrasil Decision Forests (ydf) beside ours: growing in one thread.

They run in processes of their own, which time the training alone (processor time); who is not installed is passed over by name.
`python -m benchmarks.learners.forests_elsewhere FILE` records ranger's errors on the tables of tests/forest
(tests/figures/forests).
"""

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

RANGER = """
arguments <- commandArgs(TRUE)
suppressMessages(library(ranger))
train <- read.csv(arguments[1]); test <- read.csv(arguments[2])
train$y <- factor(train$y)
for (seed in as.integer(strsplit(arguments[4], ",")[[1]])) {
  start <- proc.time()
  forest <- ranger(y ~ ., train, num.trees=as.integer(arguments[3]), mtry=floor(sqrt(ncol(train) - 1)), min.node.size=1,
                   probability=TRUE, num.threads=1, seed=seed, oob.error=FALSE)
  spent <- proc.time() - start
  said <- predict(forest, test, num.threads=1)$predictions
  wrong <- mean(colnames(said)[max.col(said, "first")] != as.character(test$y))
  cat(spent[["user.self"]] + spent[["sys.self"]], wrong, "\\n")
}
cat(as.character(packageVersion("ranger")), " (R ", as.character(getRversion()), ")", sep="")
"""
YDF = """
import sys, time
import numpy, ydf
train, test = (numpy.genfromtxt(file, delimiter=",", names=True) for file in sys.argv[1:3])
def table(rows):
    return {name: rows[name].astype(int) if name == "y" else rows[name].astype("float32") for name in rows.dtype.names}
ydf.verbose(0)
held = table(train)
for seed in map(int, sys.argv[4].split(",")):
    learner = ydf.RandomForestLearner(label="y", num_trees=int(sys.argv[3]), num_threads=1, random_seed=seed, max_depth=-1,
                                      min_examples=1, compute_oob_performances=False, winner_take_all=False)
    start = time.process_time()
    model = learner.train(held)
    spent = time.process_time() - start
    said = model.predict(table(test))
    said = (said > 0.5).astype(int) if said.ndim == 1 else said.argmax(axis=1)
    print(spent, (said != test["y"]).mean())
print(ydf.__version__, end="")
"""


def present() -> Iterator[tuple[str, list[str]]]:
    """Names and commands of those that are installed; the others are named on standard error."""
    asked = ["Rscript", "-e", 'quit(status=!requireNamespace("ranger", quietly=TRUE))']
    if shutil.which("Rscript") and subprocess.run(asked, capture_output=True, check=False).returncode == 0:
        yield "ranger", ["Rscript", "-e", RANGER]
    else:
        print("forests_elsewhere: no ranger here (Rscript with the package ranger)", file=sys.stderr)
    if importlib.util.find_spec("ydf"):
        yield "ydf", [sys.executable, "-c", YDF]
    else:
        print("forests_elsewhere: no ydf here (pip install ydf)", file=sys.stderr)


def asked(command: list[str], train: Any, test: Any, trees: int, seeds: list[int]) -> tuple[list[float], list[float], str]:
    """Seconds and errors of a forest per seed, and the version."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, (X, y) in (("train", train), ("test", test)):
            files.append(str(Path(folder) / f"{name}.csv"))
            head = ",".join([*(f"x{i}" for i in range(X.shape[1])), "y"])
            np.savetxt(files[-1], np.column_stack([X, y]), "%.17g", ",", header=head, comments="")
        done = subprocess.run(
            [*command, *files, str(trees), ",".join(map(str, seeds))], capture_output=True, text=True, check=True
        )  # fmt: skip
    *lines, version = done.stdout.strip().splitlines()
    found = np.array([line.split() for line in lines], float)
    return found[:, 0].tolist(), found[:, 1].tolist(), version


def rows() -> Iterator[Any]:
    from benchmarks.common.timing import Row
    from benchmarks.learners.forests import TREES, bits, grown, letters, spent, two_classes

    for name, command in present():
        for table in (two_classes(), letters(), bits()):
            called, X, y = table
            grow = partial(grown, table)
            grow()
            ours = [spent(grow) for _ in range(3)]
            theirs, _, version = asked(command, (X, y), (X[:100], y[:100]), TREES, [1, 2, 3])
            ratios = tuple(them / us for us, them in zip(ours, theirs, strict=True))
            yield Row(
                f"a forest of {TREES} trees, {called}", f"{name} {version}", ratios, median(ours), median(theirs),
                "none: their draws are others (tests/forest compares errors)", goal=1.0,
            )  # fmt: skip


def record() -> dict[str, Any]:
    """Errors of ranger on the tables and seeds of tests/forest/test_truth.py."""
    from tests.forest.test_truth import SEEDS, TREES, halves, tables

    command, found = dict(present())["ranger"], {}
    for name, X, y in tables():
        train, test = halves(X)
        _, errors, version = asked(command, (X[train], y[train]), (X[test], y[test]), TREES, SEEDS)
        found[name] = errors
    call = "ranger(y ~ ., num.trees=25, mtry=floor(sqrt(p)), min.node.size=1, probability=TRUE, num.threads=1, seed=seed)"
    again = "python -m benchmarks.learners.forests_elsewhere FILE"
    return {"by": f"ranger {version}", "call": call, "recorded": again, "seeds": SEEDS, "errors": found}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(record(), indent=1) + "\n")
