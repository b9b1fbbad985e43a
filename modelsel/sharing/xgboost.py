"""XGBoost: any number of rounds by the first trees of a longer fit, for boosters of trees but `dart`.

What a stage says begins where the stage before ended: sums so far go in as `base_margin`, so that no tree is asked more than
twice (for its sums and for the shares), and XGBoost adds in the order of one prediction by all.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from modelsel.sharing.adapter import Adapter, Answer


class Xgboost(Adapter):
    """`n_estimators` of XGBClassifier. `gblinear` changes the weights that it has; `dart` the trees."""

    classes = ("xgboost.sklearn.XGBClassifier",)
    harmless = frozenset((
        "booster", "max_depth", "max_leaves", "max_bin", "grow_policy", "learning_rate", "tree_method", "gamma",
        "min_child_weight", "max_delta_step", "subsample", "sampling_method", "colsample_bytree", "colsample_bylevel",
        "colsample_bynode", "reg_alpha", "reg_lambda", "scale_pos_weight", "base_score", "random_state", "num_parallel_tree",
        "monotone_constraints", "interaction_constraints", "enable_categorical", "feature_types", "max_cat_to_onehot",
        "max_cat_threshold", "n_jobs", "verbosity", "eta", "alpha", "lambda", "seed",
    ))  # fmt: skip

    def allows(self, params: Mapping[str, object]) -> bool:
        return params.get("booster", "gbtree") in ("gbtree", None)

    def cut(self, estimator: Any, value: Any) -> Any:
        own = copy.copy(estimator)
        own._Booster = estimator.get_booster()[:value]
        own.n_estimators = value
        return own

    def answers(self, estimator: Any, values: Sequence[Any], X: object, scores: bool) -> Iterator[Answer]:
        found, margin, done = {}, None, 0
        for value in sorted(set(values)):
            stage = {"iteration_range": (done, value), "base_margin": margin}
            found[value] = estimator.predict_proba(X, **stage)
            margin, done = estimator.predict(X, output_margin=True, **stage), value
        for value in values:
            shares = found[value]
            predicted = shares.argmax(axis=1) if shares.shape[1] > 2 else shares[:, 1] > 0.5
            yield predicted.astype(np.int64), shares if scores else None


class XgboostNumbers(Xgboost):
    """`n_estimators` of XGBRegressor, for objectives that say one number."""

    classes = ("xgboost.sklearn.XGBRegressor",)
    harmless = Xgboost.harmless | {"objective", "quantile_alpha", "huber_slope", "tweedie_variance_power"}
    objectives = (
        None, "reg:squarederror", "reg:squaredlogerror", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror",
        "count:poisson", "reg:gamma", "reg:tweedie",
    )  # fmt: skip

    def allows(self, params: Mapping[str, object]) -> bool:
        one = isinstance(params.get("quantile_alpha", 0.5), float)
        return super().allows(params) and one and params.get("objective") in self.objectives

    def answers(self, estimator: Any, values: Sequence[Any], X: object, scores: bool) -> Iterator[Answer]:
        found, margin, done = {}, None, 0
        for value in sorted(set(values)):
            stage = {"iteration_range": (done, value), "base_margin": margin}
            found[value] = estimator.predict(X, **stage)
            margin, done = estimator.predict(X, output_margin=True, **stage), value
        return ((found[value], None) for value in values)


SHARING = Xgboost(), XgboostNumbers()
