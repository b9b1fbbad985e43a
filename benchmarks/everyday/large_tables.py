"""An ordinary large table, mixed and 300,000 × 17: a logistic regression, and a look for near copies of its rows."""

import warnings
from collections.abc import Iterable

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import modelsel
from benchmarks.common.mixed_table import mixed_table
from benchmarks.common.timing import Row, by_processor
from modelsel.core.types import Task, positions
from modelsel.learner.estimator import Estimator
from modelsel.statistics.near_copies import FAR, nearest, standardise

ROWS = 300_000
PARAMS = {"C": 1.0, "solver": "lbfgs", "tol": 1e-4, "max_iter": 1000}


def rows() -> Iterable[Row]:
    frame = mixed_table(ROWS)
    task = modelsel.read_table(frame, target="y")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield logistic(frame, task)
        yield copies(frame)


def logistic(frame: pd.DataFrame, task: Task) -> Row:
    """One fold of a logistic regression: fit, class scores of a tenth, complexity, beside a sparse pipeline."""
    cut = len(frame) * 9 // 10
    analysis, assessment = np.split(positions(task), [cut])
    learner = Estimator("sklearn.linear_model.LogisticRegression", PARAMS, scale="deviation")
    X, y = frame.drop(columns="y"), frame["y"]

    def ours() -> np.ndarray:
        path = learner.fit_path(task, analysis, np.random.default_rng(0))
        path.complexity([learner])
        return path.outputs([learner], task, assessment, scores=True).scores[0, :, 1]

    def theirs() -> np.ndarray:
        return by_hand().fit(X[:cut], y[:cut]).predict_proba(X[cut:])[:, 1]

    own, other = ours(), theirs()
    apart = np.abs(own - other).mean()
    assert apart < 3e-3, apart
    equal = (
        f"class scores ({apart:.1g} apart on average: both stop at a tolerance, and gaps are filled after or before scaling)"
    )
    what = "logistic regression on 270,000 × 17 mixed rows, 1,057 columns one-hot"
    return by_processor(
        what, "scikit-learn's pipeline of sparse one-hot columns, by hand", ours, theirs, 1 / 1.3, equal, turns=3
    )


def by_hand() -> Pipeline:
    """What somebody writes who knows that one-hot columns are sparse."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    kinds = [f"x{at}" for at in range(8)] + [f"count{at}" for at in range(3)]
    columns = make_column_transformer(
        (numbers, kinds), (OneHotEncoder(handle_unknown="ignore"), [f"name{at}" for at in range(6)])
    )
    return make_pipeline(columns, LogisticRegression(**PARAMS))


def copies(frame: pd.DataFrame) -> Row:
    """Looking for near copies of 210,000 development rows among 4,000 sealed ones, eleven numbers, beside a k-d tree."""
    from scipy.spatial import cKDTree

    numbers = frame[[name for name in frame if name[0] in "xc"]].to_numpy()
    near, far = standardise(numbers[:210_000], numbers[210_000:214_000])
    assert np.allclose(nearest(near, far), cKDTree(near).query(far, k=FAR)[0], rtol=1e-9, atol=1e-9)
    what = "60 nearest of 210,000 rows × 11 for 4,000 sealed rows"
    equal = "distances (1e-9)"
    ours, theirs = (lambda: nearest(near, far)), (lambda: cKDTree(near).query(far, k=FAR))
    return by_processor(what, "SciPy's k-d tree, which looked before", ours, theirs, 3, equal, turns=1)
