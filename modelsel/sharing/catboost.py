"""CatBoost: any number of rounds by the first trees of a longer fit, where nothing in the fit depends on their number.

Without a fixed `learning_rate` CatBoost chooses one by the number of rounds; `langevin` and `posterior_sampling` add noise by
it; overfitting detectors and best models look at the end. Where `leaf_estimation_iterations` is not said, fits of fewer than
200 rounds may take 1 and longer ones 10, so that candidates on either side of 200 share no fit.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modelsel.sharing.adapter import Adapter, Answer

LONG = 200  # rounds


class Catboost(Adapter):
    """`iterations` of CatBoostClassifier."""

    classes = ("catboost.core.CatBoostClassifier",)
    parameter = "iterations"
    default = 1000
    harmless = frozenset((
        "learning_rate", "depth", "max_depth", "l2_leaf_reg", "reg_lambda", "rsm", "colsample_bylevel", "border_count",
        "max_bin", "feature_border_type", "nan_mode", "leaf_estimation_iterations", "leaf_estimation_method", "thread_count",
        "random_seed", "random_state", "verbose", "silent", "logging_level", "one_hot_max_size", "random_strength",
        "bagging_temperature", "boosting_type", "bootstrap_type", "subsample", "sampling_frequency", "grow_policy",
        "min_data_in_leaf", "min_child_samples", "max_leaves", "num_leaves", "allow_writing_files", "class_weights",
        "auto_class_weights", "scale_pos_weight", "max_ctr_complexity", "cat_features", "langevin", "posterior_sampling",
    ))  # fmt: skip

    def allows(self, params: Mapping[str, object]) -> bool:
        noisy = params.get("langevin") or params.get("posterior_sampling")
        return isinstance(params.get("learning_rate"), int | float) and not noisy

    def side(self, params: Mapping[str, object]) -> str:
        if params.get("leaf_estimation_iterations") is not None:
            return ""
        return "short" if self.value(params) < LONG else "long"

    def cut(self, estimator: Any, value: Any) -> Any:
        own = estimator.copy()
        own.shrink(ntree_end=min(value, estimator.tree_count_))
        return own

    def answers(self, estimator: Any, values: Sequence[object], X: object, scores: bool) -> Iterator[Answer]:
        for value in values:
            first = {"ntree_end": value, "thread_count": 1}
            yield estimator.predict(X, **first), estimator.predict_proba(X, **first) if scores else None

    def size(self, estimator: Any, value: Any) -> float:
        return float(min(value, estimator.tree_count_))


class CatboostNumbers(Catboost):
    """`iterations` of CatBoostRegressor, for losses of one number."""

    classes = ("catboost.core.CatBoostRegressor",)
    harmless = Catboost.harmless - {"class_weights", "auto_class_weights", "scale_pos_weight"} | {"loss_function", "objective"}
    losses = ("RMSE", "MAE", "Quantile", "Poisson", "Huber", "MAPE", "Tweedie")

    def allows(self, params: Mapping[str, object]) -> bool:
        loss = str(params.get("loss_function") or params.get("objective") or "RMSE").partition(":")[0]
        return super().allows(params) and loss in self.losses

    def answers(self, estimator: Any, values: Sequence[object], X: object, scores: bool) -> Iterator[Answer]:
        for value in values:
            yield estimator.predict(X, ntree_end=value, thread_count=1), None


SHARING = Catboost(), CatboostNumbers()
