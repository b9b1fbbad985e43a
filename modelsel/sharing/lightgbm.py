"""LightGBM: any number of rounds by the first trees of a longer fit, but for `dart`, which changes trees that it has."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modelsel.sharing.adapter import Adapter, Answer

GROWING = ("gbdt", "gbrt", "rf", "random_forest", "goss")


class Lightgbm(Adapter):
    """`n_estimators` of LGBMClassifier. Early stopping needs rows of its own, which nobody gives here: fitted separately."""

    classes = ("lightgbm.sklearn.LGBMClassifier",)
    harmless = frozenset((
        "boosting_type", "num_leaves", "max_depth", "learning_rate", "subsample_for_bin", "class_weight", "min_split_gain",
        "min_child_weight", "min_child_samples", "subsample", "subsample_freq", "colsample_bytree", "reg_alpha", "reg_lambda",
        "random_state", "n_jobs", "verbose", "verbosity", "deterministic", "force_col_wise", "force_row_wise",
        "data_sample_strategy", "top_rate", "other_rate", "extra_trees", "linear_tree", "linear_lambda", "max_bin",
        "min_data_in_bin", "feature_fraction", "feature_fraction_bynode", "bagging_fraction", "bagging_freq", "lambda_l1",
        "lambda_l2", "path_smooth", "cat_smooth", "cat_l2", "max_cat_threshold", "max_cat_to_onehot", "min_data_per_group",
        "is_unbalance", "scale_pos_weight", "boost_from_average", "max_delta_step", "seed",
    ))  # fmt: skip

    def allows(self, params: Mapping[str, Any]) -> bool:
        return params.get("boosting_type", "gbdt") in GROWING

    def cut(self, estimator: Any, value: Any) -> Any:
        import copy

        import lightgbm

        own = copy.copy(estimator)
        own._Booster = lightgbm.Booster(model_str=estimator.booster_.model_to_string(num_iteration=value))
        own.n_estimators = value
        return own

    def answers(self, estimator: Any, values: Sequence[Any], X: Any, scores: bool) -> Iterator[Answer]:
        for value in values:
            shares = estimator.predict_proba(X, num_iteration=value)
            yield estimator.classes_[shares.argmax(axis=1)], shares if scores else None


SHARING = Lightgbm()
