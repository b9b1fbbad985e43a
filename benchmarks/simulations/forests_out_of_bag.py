"""Bias of out-of-bag errors against 10-fold cross-validation, by simulation.

    python -m benchmarks.simulations.forests_out_of_bag

Tables are drawn anew; a forest's error out of bag and by ten folds is compared with its error on 4,000 other rows.
"""

from collections.abc import Iterator

import numpy as np
from sklearn.datasets import make_classification

from modelsel.core.types import Feature, Task, positions
from modelsel.learner.forest import Forest

REPEATS, OTHERS, SIZES = 20, 4_000, (5, 20, 50, 100, 200)
TABLES = ((200, 2), (200, 5), (1_000, 2), (1_000, 5))


def errors(rows: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per number of trees: out of bag, by ten folds, on other rows."""
    X, y = make_classification(
        rows + OTHERS, 10, n_informative=6, n_redundant=0, n_classes=classes, flip_y=0.1, random_state=seed
    )
    features = tuple(Feature(f"x{i}", "numeric") for i in range(10))
    task = Task(name="s", features=features, values=X, rows=np.arange(len(X)), classes=tuple(map(str, range(classes))),
                target=y.astype(np.int32))  # fmt: skip
    own, forests = positions(task)[:rows], [Forest(trees=size) for size in SIZES]
    path = forests[0].fit_path(task, own, np.random.default_rng(seed))
    outside = path.outputs(forests, task, positions(task)[rows:], False).predicted != y[rows:]
    folds, wrong = np.random.default_rng(seed).permutation(rows) % 10, np.zeros((len(SIZES), rows), bool)
    for fold in range(10):
        one = forests[0].fit_path(task, own[folds != fold], np.random.default_rng(seed))
        wrong[:, folds == fold] = one.outputs(forests, task, own[folds == fold], False).predicted != y[:rows][folds == fold]
    bag = path.out_of_bag(forests)[0].predicted != y[:rows]
    return bag.mean(axis=1), wrong.mean(axis=1), outside.mean(axis=1)


def table() -> Iterator[str]:
    """Lines of the table in docs/forests.md."""
    yield "| rows, classes | trees | out of bag − other rows | 10 folds − other rows |\n|---|---|---|---|"
    for rows, classes in TABLES:
        found = np.array([errors(rows, classes, seed) for seed in range(REPEATS)])
        for place, size in enumerate(SIZES):
            said = []
            for how in (0, 1):
                apart = found[:, how, place] - found[:, 2, place]
                said.append(f"{apart.mean():+.3f} ± {apart.std(ddof=1) / np.sqrt(REPEATS):.3f}")
            yield f"| {rows}, {classes} | {size} | {' | '.join(said)} |"


if __name__ == "__main__":
    for line in table():
        print(line, flush=True)
