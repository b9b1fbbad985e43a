"""Errors of forests of numbers beside scikit-learn's and ranger's (R), on ten tables.

    python -m benchmarks.learners.number_forests_elsewhere [--draws 5] [--features]

The tables of `regression_trees` of 100 rows and more; seven tenths of the rows against the others, five draws; forests of 100
trees. *Alike*: a third of the features at a node, trees grown out. *By default*: what each tool does unless it is told
otherwise (ours `learner=forest`; scikit-learn looks at all features; ranger at √p, nodes of five rows are not divided). Gaps:
ours as they are, theirs as the median; nominal columns: indicators for scikit-learn, factors for ranger, a gap a level of its
own. Who is not installed is passed over by name.

Printed are, per table, the root mean squared error of each tool; then its mean rank over tables (of the mean over draws), and
the mean of log(theirs / ours) with its standard error over tables. With `--features` ours alone: a third of the features at a
node, a third but at least two, and all.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestRegressor

from benchmarks.common.number_tables import tables
from benchmarks.learners.number_forests import numbers
from benchmarks.learners.regression_trees import SHARE, root
from modelsel.config.build import build as learner
from modelsel.core.types import Floats, Integers, NumberTask
from modelsel.dataset.read_table import read_table
from modelsel.dataset.targets import read_as

LEAST, MOST, TREES = 100, 2_000, 100
RANGER = """
suppressMessages(library(ranger))
whole <- read.csv("{folder}/whole.csv", stringsAsFactors = TRUE); own <- scan("{folder}/train.txt", quiet = TRUE)
forest <- ranger(target ~ ., whole[own, ], num.trees = {trees}, num.threads = 1, seed = {seed}, oob.error = FALSE,
                 respect.unordered.factors = "order"{settings})
cat(format(predict(forest, whole[-own, ], num.threads = 1)$predictions, digits = 17))
"""


@dataclass(frozen=True)
class Draw:
    """A table, the rows that are fitted and those that are asked, and a seed."""

    task: NumberTask
    train: Integers
    test: Integers
    seed: int


def ours(draw: Draw, alike: bool) -> Floats:  # noqa: ARG001
    return looking_at(0.334, draw)


def looking_at(features: str | float, draw: Draw) -> Floats:
    """What our forest says that looks at so many features at a node."""
    forest = learner("forest", {"trees": TREES, "features": features, "criterion": "variance"})[0]
    return forest.fit(draw.task, draw.train, np.random.default_rng(draw.seed)).predict(draw.task.take(draw.test))


def scikit_learns(draw: Draw, alike: bool) -> Floats:
    X = numbers(draw.task)
    forest = RandomForestRegressor(TREES, max_features=1 / 3 if alike else 1.0, random_state=draw.seed)
    return forest.fit(X[draw.train], draw.task.target[draw.train]).predict(X[draw.test])


def rangers(draw: Draw, alike: bool) -> Floats:
    """Rows to be predicted in their order: ranger is given all rows in the order train, test."""
    frame = pd.DataFrame({f"x{i}": column(draw.task, i) for i in range(len(draw.task.features))})
    frame = frame.assign(target=draw.task.target).iloc[np.r_[draw.train, draw.test]]
    a_third = f", mtry = {max(1, len(draw.task.features) // 3)}, min.node.size = 1"
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(f"{folder}/whole.csv", index=False)
        Path(f"{folder}/train.txt").write_text("\n".join(map(str, range(1, len(draw.train) + 1))))
        program = RANGER.format(folder=folder, trees=TREES, seed=draw.seed + 1, settings=a_third if alike else "")
        said = subprocess.run(["Rscript", "-e", program], capture_output=True, text=True, check=True, timeout=600)
    return np.array(said.stdout.split(), float)


def column(task: NumberTask, index: int) -> Floats | list[str]:
    """Numbers with gaps as the median; levels by name."""
    feature, values = task.features[index], task.values[:, index]
    if feature.kind == "nominal":
        return [f"level {int(value)}" if value == value else "none" for value in values]
    return np.where(np.isnan(values), np.nanmedian(values), values)


def tools() -> dict[str, Callable[[Draw, bool], Floats]]:
    """Those that are installed; ranger is named where it is not."""
    asked = ["Rscript", "-e", 'quit(status=!requireNamespace("ranger", quietly=TRUE))']
    here = bool(shutil.which("Rscript")) and subprocess.run(asked, capture_output=True, check=False).returncode == 0
    if not here:
        print("number_forests_elsewhere: no ranger here (Rscript with the package ranger)", file=sys.stderr)
    return {"ours": ours, "scikit-learn": scikit_learns, **({"ranger": rangers} if here else {})}


def tasks() -> Iterator[tuple[str, NumberTask]]:
    for name, table, target in tables():
        if len(table) >= LEAST:
            with read_as("regression"):
                yield (
                    name,
                    read_table(table.sample(min(len(table), MOST), random_state=0).reset_index(drop=True), target=target),
                )


def draws(task: NumberTask, many: int) -> Iterator[Draw]:
    for seed in range(many):
        train, test = np.split(np.random.default_rng(seed).permutation(len(task)), [round(SHARE * len(task))])
        yield Draw(task, train, test, seed)


def lines(many: int) -> Iterator[str]:
    """Lines of the table in docs/forests.md, and those of each table."""
    asked = tools()
    read = dict(tasks())
    for alike in (True, False):
        errors = []
        yield f"{'alike' if alike else 'by default'} | {' | '.join(asked)}"
        for name, task in read.items():
            found = [[root(tool(draw, alike), task, draw.test) for tool in asked.values()] for draw in draws(task, many)]
            errors.append(np.mean(found, axis=0))
            yield f"{name} {len(task)} × {len(task.features)} | " + " | ".join(f"{error:.4g}" for error in errors[-1])
        yield from compared(list(asked), np.array(errors))


def compared(names: list[str], errors: Floats) -> Iterator[str]:
    """Mean ranks over tables (rows), and how much larger the errors of the others are."""
    ranks = rankdata(errors, axis=1).mean(axis=0)
    yield f"mean rank of {len(errors)} tables | " + " | ".join(f"{rank:.2f}" for rank in ranks)
    larger = np.log(errors / errors[:, :1])
    shown = [percent(one) for one in larger.T[1:]]
    yield f"log of {', '.join(names[1:])} over ours | " + " | ".join(["", *shown])


def by_features(many: int) -> Iterator[str]:
    """Per table the error at a third of the features, and log(other / third) over draws, with its standard error."""
    yield "features at a node | a third | at least two | all"
    for name, task in tasks():
        asked: tuple[str | float, ...] = 0.334, max(2, len(task.features) // 3), "all"
        found = np.array([[root(looking_at(one, draw), task, draw.test) for one in asked] for draw in draws(task, many)])
        others = (percent(one) for one in np.log(found / found[:, :1]).T[1:])
        yield f"{name} {len(task)} × {len(task.features)} | {found[:, 0].mean():.4g} | {' | '.join(others)}"


def percent(logs: Floats) -> str:
    """Their mean and its standard error."""
    return f"{100 * logs.mean():+.1f} ± {100 * logs.std(ddof=1) / len(logs) ** 0.5:.1f} %"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--features", action="store_true")
    given = parser.parse_args()
    for line in (by_features if given.features else lines)(given.draws):
        print(line, flush=True)
