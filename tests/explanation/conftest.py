"""Real tables as tasks, with their folds, for the tests of this room."""

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

from modelsel.core.types import Feature, Task
from modelsel.scheme.stratified_kfold import StratifiedKfold


def _task(values, target, names, classes, name, features=None):
    features = features or tuple(Feature(str(each), "numeric") for each in names)
    return Task(name=name, features=features, values=np.asfortranarray(values, np.float64), rows=np.arange(len(target)),
                classes=tuple(map(str, classes)), target=np.asarray(target, np.int32))  # fmt: skip


@pytest.fixture(scope="session")
def tables():
    """Three numeric tables: two classes, three classes of many columns, three classes of few."""
    loaded = {"cancer": datasets.load_breast_cancer(), "wine": datasets.load_wine(), "iris": datasets.load_iris()}
    return {name: _task(one.data, one.target, one.feature_names, one.target_names, name) for name, one in loaded.items()}


@pytest.fixture(scope="session")
def diabetes():
    """A numeric table whose target is a number."""
    loaded = datasets.load_diabetes()
    features = tuple(Feature(name, "numeric") for name in loaded.feature_names)
    return Task(
        name="diabetes", features=features, values=np.asfortranarray(loaded.data), rows=np.arange(442), target=loaded.target
    )


@pytest.fixture(scope="session")
def mixed():
    """Numbers, names, holes: 400 rows whose class follows `age` and `job`."""
    rng = np.random.default_rng(3)
    age, job, sex = rng.normal(40, 10, 400), rng.integers(0, 4, 400), rng.integers(0, 2, 400)
    target = (rng.random(400) < 1 / (1 + np.exp(-(age - 40) / 4 - (job == 2) * 2 + 1))).astype(np.int32)
    values = np.column_stack([age, job, sex]).astype(float)
    values[::17, 0] = np.nan
    features = (
        Feature("age", "numeric"),
        Feature("job", "nominal", ("a", "b", "c", "d")),
        Feature("sex", "nominal", ("f", "m")),
    )
    return _task(values, target, (), ("no", "yes"), "mixed", features)


@pytest.fixture(scope="session")
def folded():
    """A function: the folds of a task."""
    return lambda task, folds=5, seed=0: StratifiedKfold(folds=folds).instantiate(task, seed)


def frame(task):
    return pd.DataFrame(task.values, columns=[feature.name for feature in task.features])
