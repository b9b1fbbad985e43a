"""LightGBM, XGBoost, CatBoost and a pipeline on tables as people have them, against GridSearchCV on the same folds.

Ten even steps of rounds, 20 to 200: the least that a loop can cost beside one fit is Σ rounds / max rounds = 5.5; the goal is
.8 of that. Processor time, one thread on either side, one turn, the same score of every candidate; levels are codes to both.

    python -m benchmarks everybody              five tables of ../shared/data, 2,000 rows of each, two folds
    MODELSEL_ROWS=0 MODELSEL_TABLES=magic04 MODELSEL_FOLDS=5 ... whole tables, some tables, more folds
"""

import os
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier

from benchmarks.common.places import DATA
from benchmarks.common.timing import Row, processor
from modelsel import SelectionCV, read_table

TABLES = ("magic04", "adult_train", "mushroom", "spambase", "segment")
ROUNDS = list(range(20, 201, 20))
LEAST = 0.8 * sum(ROUNDS) / max(ROUNDS)
ROWS, FOLDS = 2000, 2


def contestants() -> Iterable[tuple[str, Any, Any, dict[str, list[int]]]]:
    """Name, our space, their estimator, their grid."""
    light = LGBMClassifier(random_state=0, verbosity=-1, deterministic=True, force_col_wise=True, n_jobs=1)
    yield "LightGBM", (light, {"n_estimators": ROUNDS}), light, {"n_estimators": ROUNDS}
    extreme = XGBClassifier(random_state=0, n_jobs=1, verbosity=0)
    yield "XGBoost", (extreme, {"n_estimators": ROUNDS}), extreme, {"n_estimators": ROUNDS}
    fixed = {"learning_rate": 0.1, "leaf_estimation_iterations": 10}  # of its own accord CatBoost changes both with the rounds
    cat = CatBoostClassifier(**fixed, random_seed=0, verbose=False, thread_count=1, allow_writing_files=False)
    yield "CatBoost", (cat, {"iterations": ROUNDS}), cat, {"iterations": ROUNDS}
    ours = {
        "learner": {"kind": "estimator", "estimator": "sklearn.ensemble.RandomForestClassifier", "params": {"random_state": 0}},
        "steps": {"numeric": ["SimpleImputer", "StandardScaler"]},
        "sweep": {"params.n_estimators": f"choice({', '.join(map(str, ROUNDS))})"},
    }
    steps = make_pipeline(SimpleImputer(), StandardScaler(), RandomForestClassifier(random_state=0))
    yield "pipeline of scikit-learn", ours, steps, {"randomforestclassifier__n_estimators": ROUNDS}


def rows() -> Iterable[Row]:
    warnings.simplefilter("ignore")
    some = os.environ.get("MODELSEL_TABLES", ",".join(TABLES)).split(",")
    most, many = int(os.environ.get("MODELSEL_ROWS", ROWS)), int(os.environ.get("MODELSEL_FOLDS", FOLDS))
    for table in some:
        X, y = sample(table, most)
        folds = StratifiedKFold(many, shuffle=True, random_state=0)
        for name, space, estimator, grid in contestants():
            ours = SelectionCV({"x": space}, cv=folds, refit=False)
            theirs = GridSearchCV(estimator, grid, cv=folds, refit=False)
            with threadpool_limits(1):
                ours.fit(X[::7], y[::7])
                us, them = processor(lambda: ours.fit(X, y)), processor(lambda: theirs.fit(X, y))  # noqa: B023
            assert np.allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=0, atol=1e-12)
            said = f"{name}, ten numbers of rounds × {many} folds, {table} {len(X):,} × {X.shape[1]}"
            equal = "accuracies of all candidates (1e-12)"
            yield Row(said, "GridSearchCV, the same estimator and folds", (them / us,), us, them, equal, goal=LEAST)


def sample(table: str, most: int) -> tuple[Any, Any]:
    """Return some rows of a table (all of them for 0), levels as codes; columns without a value are left out."""
    task = read_table(DATA / f"{table}.csv", target="class")
    drawn = np.random.default_rng(0).permutation(len(task))[: most or len(task)]
    values = task.values[np.sort(drawn)]
    return values[:, ~np.isnan(values).all(axis=0)], task.target[np.sort(drawn)]
