"""The best small trees beside pycontree (C++), until the least errors of a depth are proven: seconds of the processor.

Tables that come with scikit-learn, and one of seven classes by rule. What is not installed is passed over by name.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from sklearn import datasets

from benchmarks.common.timing import Row, by_processor
from modelsel.core.types import Feature, Floats, Integers, Task
from modelsel.learner.optimal_tree import OptimalTree

GOAL = 4.0
DEPTHS = (2, 3)


def _task(name: str, values: Floats, target: Integers) -> Task:
    features = tuple(Feature(f"x{i}", "numeric") for i in range(values.shape[1]))
    classes = tuple(f"c{i}" for i in range(int(target.max()) + 1))
    rows = np.arange(len(values))
    numbers, codes = values.astype(np.float64), target.astype(np.int32)
    return Task(name=name, features=features, values=numbers, rows=rows, classes=classes, target=codes)


def tables() -> Iterator[Task]:
    """Three tables of scikit-learn, and one of seven classes."""
    for name in ("iris", "wine", "breast_cancer"):
        yield _task(name, *getattr(datasets, f"load_{name}")(return_X_y=True))
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 9)).round(2)
    yield _task("seven classes", values, np.digitize(values[:, 0] + values[:, 1] + rng.normal(size=300), np.linspace(-2, 2, 6)))


def rows() -> Iterable[Row]:
    try:
        from pycontree import ConTree
    except ImportError:
        print("pycontree: passed over, it is not installed")
        return
    for task in tables():
        for depth in DEPTHS:
            yield beside(task, depth, ConTree)


def beside(task: Task, depth: int, peer: type) -> Row:
    """One table at one depth; the errors have to be the same."""
    everyone = np.arange(len(task))

    def ours() -> int:
        path = OptimalTree(max_depth=depth, limit=None).fit_path(task, everyone, np.random.default_rng(0))
        return round(float(path.front(depth)[0][-1]) * len(task))

    def theirs() -> int:
        found = peer(max_depth=depth)
        found.fit(task.values, task.target)
        return int((np.ravel(found.predict(task.values)) != task.target).sum())

    errors = ours()
    assert errors == theirs(), (task.name, depth)
    work = f"least errors of depth {depth}, {task.name} {len(task)} × {len(task.features)}, {len(task.classes)} classes"
    return by_processor(work, "pycontree", ours, theirs, GOAL, f"{errors} errors", turns=3)
