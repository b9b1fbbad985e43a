"""Estimators that take categories themselves, and how each wants to be told which columns hold them.

The columns hold level indices, NaN where missing. XGBoost and scikit-learn are told when they are made, LightGBM and CatBoost
when they are fitted; CatBoost takes no NaN there and no fractions, so that its categories become texts.
"""

from collections.abc import Sequence

import numpy as np

MOST = {"sklearn": 255}  # levels of a column, where there is a limit
NATIVE = (
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier",
    "lightgbm.sklearn.LGBMClassifier",
    "xgboost.sklearn.XGBClassifier",
    "xgboost.sklearn.XGBRFClassifier",
    "catboost.core.CatBoostClassifier",
)


def takes_categories(kind: type) -> bool:
    """Say whether the class takes categories itself."""
    return f"{kind.__module__}.{kind.__qualname__}" in NATIVE


def most_levels(kind: type) -> int | None:
    """Levels that a column may have; None: as many as there are."""
    return MOST.get(_library(kind))


def made_with(kind: type, nominal: Sequence[int], columns: int) -> dict[str, object]:
    """Return the constructor's arguments for the nominal columns."""
    if not nominal or _library(kind) in ("lightgbm", "catboost"):
        return {}
    if _library(kind) == "sklearn":
        return {"categorical_features": list(nominal)}
    return {"enable_categorical": True, "feature_types": ["c" if column in nominal else "q" for column in range(columns)]}


def fitted_with(kind: type, nominal: Sequence[int]) -> dict[str, object]:
    """Return the arguments of `fit` for the nominal columns."""
    names = {"lightgbm": "categorical_feature", "catboost": "cat_features"}
    name = names.get(_library(kind))
    return {name: list(nominal)} if nominal and name else {}


def as_wanted(kind: type, matrix: object, nominal: Sequence[int]) -> object:
    """The matrix as the library reads it."""
    if not nominal or _library(kind) != "catboost":
        return matrix
    numbers = np.asarray(matrix, np.float64)
    mixed = numbers.astype(object)
    for column in nominal:
        codes = np.nan_to_num(numbers[:, column], nan=-1.0).astype(np.int64)
        mixed[:, column] = codes.astype(str)
    return mixed


def _library(kind: type) -> str:
    return str(kind.__module__.partition(".")[0])
