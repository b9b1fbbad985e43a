"""Early stopping of boosting on rows that it is handed: how each library is told, and how many rounds it kept.

    scikit-learn   fit(X_val, y_val), n_iter_no_change    every round up to the stop is kept
    LightGBM       fit(eval_set, callbacks)               the rounds up to the best one answer
    XGBoost        early_stopping_rounds, fit(eval_set)   the rounds up to the best one answer
    CatBoost       fit(eval_set, early_stopping_rounds)   the rounds up to the best one are kept

What is compared is the library's own loss, or the metric that its user names.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats
from modelsel.foreign.interface import SklearnEstimator

HISTOGRAMS = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoosting"
STOPPING = {
    f"{HISTOGRAMS}Classifier": "sklearn", f"{HISTOGRAMS}Regressor": "sklearn",
    "lightgbm.sklearn.LGBMClassifier": "lightgbm", "lightgbm.sklearn.LGBMRegressor": "lightgbm",
    "xgboost.sklearn.XGBClassifier": "xgboost", "xgboost.sklearn.XGBRegressor": "xgboost",
    "catboost.core.CatBoostClassifier": "catboost", "catboost.core.CatBoostRegressor": "catboost",
}  # fmt: skip
OWN = {  # parameters by which a user stops early himself
    "sklearn": ("early_stopping", "n_iter_no_change", "validation_fraction"),
    "lightgbm": ("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change"),
    "xgboost": ("early_stopping_rounds", "callbacks"),
    "catboost": ("early_stopping_rounds", "od_type", "od_wait", "od_pval", "use_best_model", "eval_fraction"),
}
GROWING = {"lightgbm": ("boosting_type", ("gbdt", "gbrt", "goss")), "xgboost": ("booster", ("gbtree", None))}


@dataclass(frozen=True, eq=False)
class ValidationRows:
    """The rows that say when to stop, as the library reads them."""

    X: object
    y: NDArray[np.generic]
    weights: Floats | None = None


def stops_early(kind: type[SklearnEstimator]) -> bool:
    """Say whether a class stops early on rows that it is handed."""
    return _library(kind) != "" and (_library(kind) != "sklearn" or "X_val" in inspect.signature(kind.fit).parameters)


def conflicts(kind: type[SklearnEstimator], params: Mapping[str, object]) -> Iterator[str]:
    """Yield why a class with these parameters cannot stop early on rows that it is handed."""
    library = _library(kind)
    if not library:
        yield f"{kind.__name__} is no boosting that stops early on rows that it is handed: leave early_stopping out"
    elif not stops_early(kind):
        yield f"{kind.__name__} takes validation rows from scikit-learn 1.7 on: leave early_stopping out, or upgrade"
    elif said := [name for name in OWN[library] if name in params]:
        yield f"early_stopping stands beside params.{said[0]}, by which {kind.__name__} stops by itself: give one of them"
    elif library in GROWING:
        name, growing = GROWING[library]
        if params.get(name, growing[0]) not in growing:
            yield f"{kind.__name__} with {name}={params[name]} does not stop early: leave early_stopping out"


def made_to_stop(kind: type[SklearnEstimator], patience: int) -> dict[str, object]:
    """Return what the constructor is told."""
    if _library(kind) == "sklearn":
        return {"early_stopping": True, "n_iter_no_change": patience}
    return {"early_stopping_rounds": patience} if _library(kind) == "xgboost" else {}


def fitted_to_stop(
    kind: type[SklearnEstimator], patience: int, held: ValidationRows, nominal: Sequence[int]
) -> dict[str, object]:
    """Return what `fit` is told."""
    library, weights = _library(kind), held.weights
    own: dict[str, object]
    if library == "sklearn":
        own = {} if weights is None else {"sample_weight_val": weights}
        return {"X_val": held.X, "y_val": held.y, **own}
    if library == "lightgbm":
        from lightgbm import early_stopping

        own = {} if weights is None else {"eval_sample_weight": [weights]}
        newer = "eval_X" in inspect.signature(kind.fit).parameters  # from 4.7 on
        rows = {"eval_X": (held.X,), "eval_y": (held.y,)} if newer else {"eval_set": [(held.X, held.y)]}
        return {**rows, "callbacks": [early_stopping(patience, verbose=False)], **own}
    if library == "xgboost":
        own = {} if weights is None else {"sample_weight_eval_set": [weights]}
        return {"eval_set": [(held.X, held.y)], "verbose": False, **own}
    from catboost import Pool

    pool = Pool(held.X, held.y, weight=weights, cat_features=list(nominal) or None)
    return {"eval_set": pool, "early_stopping_rounds": patience}


def rounds_kept(made: Any) -> int:
    """Count the rounds that answer, of an estimator that was told when to stop."""
    library = _library(type(made))
    if library == "sklearn":
        return int(made.n_iter_)
    if library == "lightgbm":
        return int(made.best_iteration_ or made.n_estimators_)
    return int(made.best_iteration) + 1 if library == "xgboost" else int(made.tree_count_)


def _library(kind: type[SklearnEstimator]) -> str:
    return STOPPING.get(f"{kind.__module__}.{kind.__qualname__}", "")
