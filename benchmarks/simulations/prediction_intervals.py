"""Share of new rows in intervals for 90 %, after a choice among 10 and 500 candidates, by simulation.

    python -m benchmarks.simulations.prediction_intervals

Friedman 1 with five columns that say nothing, drawn anew; CART and nearest neighbours compete by ten folds. Intervals about the
winner's predictions by its own residuals, and by CV+ of the choice repeated (`predict --interval`), are asked of 400 others.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1

from modelsel.core.spec import make
from modelsel.core.types import Feature, Floats, NumberTask
from modelsel.explanation.prediction_intervals import prediction_intervals
from modelsel.learner.knn import Knn
from modelsel.learner.tree import Tree

REPEATS, OTHERS, FOLDS, COVERAGE = 40, 400, 10, 0.9


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


def said_by(groups: Sequence[list[Any]], task: NumberTask, rows: Any, asked: Any) -> Floats:
    """Candidates × rows that are asked."""
    paths = [(own[0].fit_path(task, rows, np.random.default_rng(0)), own) for own in groups]
    return np.vstack([path.outputs(own, task, asked, scores=False).predicted for path, own in paths])


def study(rows: int, groups: Sequence[list[Any]], seed: int) -> SimpleNamespace:
    """Shares covered and mean widths of either way."""
    X, y = make_friedman1(rows + OTHERS, 10, noise=1.0, random_state=seed)
    features = tuple(Feature(f"x{i}", "numeric") for i in range(10))
    task = NumberTask(name="s", features=features, values=X, rows=np.arange(len(X)), target=y)
    own, new = np.arange(rows), np.arange(rows, len(X))
    fold = np.random.default_rng(seed).permutation(rows) % FOLDS
    off, ahead = np.empty((sum(map(len, groups)), rows)), []
    for k in range(FOLDS):
        asked = np.r_[own[fold == k], new]
        told = said_by(groups, task, own[fold != k], asked)
        here = int((fold == k).sum())
        off[:, fold == k] = np.abs(y[:rows][fold == k] - told[:, :here])
        ahead.append(told[:, here:])
    losses = np.array([np.square(off[:, fold == k]).mean(axis=1) for k in range(FOLDS)]).T
    winner = int(losses.mean(axis=1).argmin())
    chosen = [int(np.delete(losses, k, axis=1).mean(axis=1).argmin()) for k in range(FOLDS)]
    last = said_by(groups, task, own, new)[winner]
    apart = np.quantile(off[winner], COVERAGE, method="higher")
    ends = prediction_intervals(
        [told[c] for told, c in zip(ahead, chosen, strict=True)], [off[c, fold == k] for k, c in enumerate(chosen)], COVERAGE
    )
    return SimpleNamespace(
        plain=np.mean(np.abs(y[rows:] - last) <= apart), repeated=np.mean((ends[0] <= y[rows:]) & (y[rows:] <= ends[1])),
        wider=np.mean(ends[1] - ends[0]) / (2 * apart) - 1,
    )  # fmt: skip


def table() -> Iterator[str]:
    """Lines of the table in docs/numbers.md."""
    yield "| rows | candidates | the winner's residuals | CV+ of the choice repeated | wider by |\n|---|---|---|---|---|"
    for rows in (100, 300):
        for many in (10, 500):
            groups = [list(own) for _, own in groupby(candidates(many), key=lambda one: str(one.fit_key()))]
            found = [study(rows, groups, seed) for seed in range(REPEATS)]
            plain, repeated = (np.array([getattr(one, name) for one in found]) for name in ("plain", "repeated"))
            said = " | ".join(
                f"{100 * one.mean():.1f} ± {100 * one.std(ddof=1) / REPEATS**0.5:.1f} %" for one in (plain, repeated)
            )
            wider = np.mean([one.wider for one in found])
            yield f"| {rows} | {sum(map(len, groups))} | {said} | {100 * wider:.0f} % |"


if __name__ == "__main__":
    for line in table():
        print(line, flush=True)
