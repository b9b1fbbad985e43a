"""Other people's learners: ten numbers of rounds from one fit, against GridSearchCV with the same estimators and folds.

The least that a loop can cost beside one fit is Σ rounds / max rounds, 5.5 for ten even steps; the goal is .8 of that. Seconds
are those of the processor, with one thread on either side.
"""

import statistics
import sys
import warnings
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from threadpoolctl import threadpool_limits

from benchmarks.common.timing import Row, processor
from modelsel import SelectionCV
from modelsel.core.spec import make

ROUNDS = list(range(20, 201, 20))
LEAST = 0.8 * sum(ROUNDS) / max(ROUNDS)
TURNS = 3


def estimators() -> Iterable[tuple[str, Any, str]]:
    """Name, estimator, the parameter that counts rounds; the same settings for both sides."""
    yield "scikit-learn GradientBoosting", GradientBoostingClassifier(random_state=0, subsample=0.5), "n_estimators"
    yield "scikit-learn HistGradientBoosting", HistGradientBoostingClassifier(random_state=0), "max_iter"
    yield "scikit-learn RandomForest", RandomForestClassifier(random_state=0), "n_estimators"
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        same = {"verbosity": -1, "deterministic": True, "force_col_wise": True, "n_jobs": 1}
        yield "LightGBM", LGBMClassifier(random_state=0, **same), "n_estimators"
    if find_spec("xgboost"):
        from xgboost import XGBClassifier

        yield "XGBoost", XGBClassifier(random_state=0, n_jobs=1, verbosity=0), "n_estimators"
    if find_spec("catboost"):
        from catboost import CatBoostClassifier

        same = {"verbose": False, "thread_count": 1, "allow_writing_files": False}
        yield "CatBoost", CatBoostClassifier(learning_rate=0.1, random_seed=0, **same), "iterations"


def rows() -> Iterable[Row]:
    warnings.simplefilter("ignore")
    task = make("dataset", "waveform", rows=1500).read()
    X, y, folds = task.values, task.target, StratifiedKFold(3, shuffle=True, random_state=0)
    for name, estimator, parameter in estimators():
        grid = {parameter: ROUNDS}
        ours = SelectionCV({"x": (estimator, grid)}, cv=folds, refit=False)
        theirs = GridSearchCV(estimator, grid, cv=folds, refit=False)
        with threadpool_limits(1):
            ours.fit(X, y)
            pairs = [(processor(lambda: ours.fit(X, y)), processor(lambda: theirs.fit(X, y))) for _ in range(TURNS)]  # noqa: B023
        assert np.allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=0, atol=1e-12)
        print(f"sharing: {name}", file=sys.stderr)
        yield Row(
            f"{name}, ten numbers of rounds × 3 folds, waveform 1,500 × 21",
            "GridSearchCV, the same estimator and folds",
            tuple(them / us for us, them in pairs),
            statistics.median(us for us, _ in pairs),
            statistics.median(them for _, them in pairs),
            equal="accuracies of all candidates (1e-12)",
            goal=LEAST,
        )
