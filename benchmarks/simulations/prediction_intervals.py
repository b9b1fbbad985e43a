"""Share of new rows in intervals for 90 %, after a choice among 10 and 500 candidates, by simulation.

    python -m benchmarks.simulations.prediction_intervals [--repeats 20] [--nested]

CART and nearest neighbours compete by ten folds and two rules. Intervals about the winner's predictions by its own residuals,
and by CV+ of the choice repeated (`predict --interval`), are asked of up to 400 other rows. Friedman 1 with five columns that
say nothing is drawn anew, of ten tables (Friedman 2, diabetes, those of NUMBERS.csv with enough rows) rows are drawn without
repetition. On a table of few rows more than are drawn there is little left to ask.

`--nested` has intervals by the choice made anew in each fold (`explanations.sets=nested`) in place of the winner's residuals,
of 100 rows and 10 candidates.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1, make_friedman2

from benchmarks.common.number_tables import tables as known
from modelsel.core.spec import make
from modelsel.core.types import Floats, Fold, NumberTask, Scoreboard
from modelsel.dataset.read_table import read_table
from modelsel.dataset.targets import read_as
from modelsel.explanation.prediction_sets import choices, prediction_intervals
from modelsel.learner.knn import Knn
from modelsel.learner.tree import Tree

OTHERS, FOLDS, COVERAGE, LEAST = 400, 10, 0.9, 10
RULES = ("best", "one_standard_error")
LARGE = 5_000  # rows of which a part is enough


class Covered(NamedTuple):
    """Shares covered by either way, and how much wider the second is than the first."""

    first: float
    repeated: float
    wider: float


def candidates(many: int) -> list[Any]:
    """Neighbours and trees, in groups that share a fit."""
    variance = make("criterion", "variance")
    if many == 10:
        trees = [Tree(criterion=variance, min_leaf=leaf, max_depth=depth) for leaf in (1, 5) for depth in (2, 4, None)]
        return [*trees, *(Knn(k=k) for k in (1, 3, 7, 15))]
    pruners = [make("pruner", "cost_complexity", alpha=alpha) for alpha in np.geomspace(0.01, 3, 12)]
    trees = [
        Tree(criterion=variance, min_leaf=leaf, max_depth=depth, pruner=pruner)
        for leaf in (1, 2, 3, 5, 8) for depth in (1, 2, 3, 4, 5, 6, 8, None) for pruner in pruners
    ]  # fmt: skip
    return [*trees, *(Knn(k=k, vote=vote) for vote in ("uniform", "inverse") for k in range(1, 21, 2))]


def said_by(groups: Sequence[list[Any]], task: NumberTask, rows: Any, asked: Any) -> tuple[Floats, Floats]:
    """Candidates × rows that are asked, and complexities."""
    paths = [(own[0].fit_path(task, rows, np.random.default_rng(0)), own) for own in groups]
    said = np.vstack([path.outputs(own, task, asked, scores=False).predicted for path, own in paths])
    return said, np.concatenate([path.complexity(own) for path, own in paths])


class Crossed(NamedTuple):
    """Cross-validation of all candidates: folds, how far they are off, what each fold's models say of new rows, and scores."""

    fold: Any
    off: Floats
    ahead: list[Floats]
    board: Scoreboard


def crossed(task: NumberTask, own: Any, new: Any, groups: Sequence[list[Any]], seed: int) -> Crossed:
    learners = [learner for group in groups for learner in group]
    fold = np.random.default_rng(seed).permutation(len(own)) % FOLDS
    off, ahead, complexity = np.empty((len(learners), len(own))), [], []
    for k in range(FOLDS):
        here = int((fold == k).sum())
        told, size = said_by(groups, task, own[fold != k], np.r_[own[fold == k], new])
        off[:, fold == k] = np.abs(task.target[own[fold == k]] - told[:, :here])
        ahead.append(told[:, here:])
        complexity.append(size)
    losses = np.array([np.square(off[:, fold == k]).mean(axis=1) for k in range(FOLDS)]).T
    board = Scoreboard(
        ids=tuple(map(str, range(len(learners)))), folds=losses, mean=losses.mean(axis=1),
        se=losses.std(axis=1, ddof=1) / FOLDS**0.5, complexity=np.mean(complexity, axis=0),
        unit=tuple(str(learner.unit) for learner in learners), eligible=np.ones(len(learners), bool),
    )  # fmt: skip
    return Crossed(fold, off, ahead, board)


def study(task: NumberTask, rows: int, groups: Sequence[list[Any]], seed: int, nested: bool) -> dict[str, Covered]:
    """What is covered under each rule: the first `rows` of a task are studied, the others asked."""
    y, own, new = task.target[rows:], np.arange(rows), np.arange(rows, len(task))
    whole = crossed(task, own, new, groups, seed)
    fold, board = whole.fold, whole.board
    some = [Fold(k, 0, own[fold != k], own[fold == k]) for k in range(FOLDS)]
    inner = [crossed(task, one.analysis, new[:0], groups, seed).board for one in some if nested]
    last, found = said_by(groups, task, own, new)[0], {}
    for name in RULES:
        rule = make("rule", name)
        winner, repeated = rule.choose(board), about(whole, list(choices(rule, board, some)))
        if nested:
            ends = about(whole, [rule.choose(one) for one in inner])
        else:
            apart = np.quantile(whole.off[winner], COVERAGE, method="higher")
            ends = last[winner] - apart, last[winner] + apart
        share, other = (float(np.mean((low <= y) & (y <= high))) for low, high in (ends, repeated))
        width, wider = (float(np.mean(high - low)) for low, high in (ends, repeated))
        found[name] = Covered(share, other, wider / width - 1 if width > 0 else np.nan)
    return found


def about(whole: Crossed, chosen: Sequence[int]) -> tuple[Floats, Floats]:
    """Ends of CV+ where each fold has a candidate of its own."""
    said = [told[c] for told, c in zip(whole.ahead, chosen, strict=True)]
    return prediction_intervals(said, [whole.off[c, whole.fold == k] for k, c in enumerate(chosen)], COVERAGE)


def tables() -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Name, rows and target; the first is drawn anew by `drawn`."""
    values, target = make_friedman2(2 * OTHERS, noise=100.0, random_state=0)
    yield "Friedman 2", pd.DataFrame(values, columns=list("abcd")).assign(y=target), "y"
    for name, table, own in known():
        if name != "Friedman 1":
            yield name, table.sample(min(len(table), LARGE), random_state=0).reset_index(drop=True), own


def drawn(task: NumberTask | None, rows: int, seed: int) -> NumberTask:
    """Rows in the order drawn: of Friedman 1 new ones, of a table without repetition."""
    if task is not None:
        return task.take(np.random.default_rng(seed).permutation(len(task))[: rows + OTHERS])
    X, y = make_friedman1(rows + OTHERS, 10, noise=1.0, random_state=seed)
    with read_as("regression"):
        return read_table(pd.DataFrame(X, columns=[f"x{i}" for i in range(10)]).assign(y=y), target="y")


def words(name: str, found: Sequence[Covered]) -> str:
    """Cells of a line."""
    first, repeated, wider = (np.array(own) for own in zip(*found, strict=True))
    said = " | ".join(f"{100 * one.mean():.1f} ± {100 * one.std(ddof=1) / len(one) ** 0.5:.1f} %" for one in (first, repeated))
    return f"{name} | {said} | {100 * np.nanmean(wider):.0f} %"


def lines(repeats: int, nested: bool) -> Iterator[str]:
    """Lines of the tables in docs/numbers.md: Friedman 1 and the mean of the tables; then each table."""
    first = "CV+ of the choice made anew" if nested else "the winner's residuals"
    yield f"| rows | candidates | rule | data | {first} | CV+ of the choice repeated | wider by |"
    yield "|---|---|---|---|---|---|---|"
    tasks: dict[str, NumberTask | None] = {"Friedman 1": None}
    with read_as("regression"):
        tasks |= {name: read_table(table, target=target) for name, table, target in tables()}
    for rows, many in product((100,) if nested else (100, 300), (10,) if nested else (10, 500)):
        groups = [list(own) for _, own in groupby(candidates(many), key=lambda one: str(one.fit_key()))]
        enough = {name: task for name, task in tasks.items() if task is None or len(task) >= rows + LEAST}
        found = {
            name: [study(drawn(task, rows, seed), rows, groups, seed, nested) for seed in range(repeats)]
            for name, task in enough.items()
        }
        for rule in RULES:
            own = {name: [one[rule] for one in each] for name, each in found.items()}
            first = f"| {rows} | {sum(map(len, groups))} | {rule} | "
            yield f"{first}{words('Friedman 1', own.pop('Friedman 1'))} |"
            means = [Covered(*np.nanmean(each, axis=0)) for each in own.values()]
            yield f"{first}{words(f'{len(own)} tables', means)} |"
            for name, each in own.items():
                yield f"{first}{words(name, each)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--nested", action="store_true")
    asked = parser.parse_args()
    for line in lines(asked.repeats, asked.nested):
        print(line, flush=True)
