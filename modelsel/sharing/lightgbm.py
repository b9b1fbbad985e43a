"""LightGBM: any number of rounds by the first trees of a longer fit, but for `dart`, which changes trees that it has.

Its `predict` begins at the first tree every time: ten even numbers of rounds would cost 5.5 times as much as the longest, on
ten thousand rows more than the fit. So each row is sent down each tree once, and leaf values are added in LightGBM's order,
which gives its sums to the last bit. Shares of the classes are

    two classes   1 / (1 + exp(−sum))        more   exp(sum_k − max) / Σ exp(sum_j − max)

with the exponential of the C library, LightGBM's own (NumPy's may differ in the last bit). Where LightGBM says something else
of a few rows, and for averaged (`rf`) and linear trees, it is asked for each number of rounds.
"""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from modelsel.core.types import Floats
from modelsel.sharing.adapter import Adapter, Answer

GROWING = ("gbdt", "gbrt", "rf", "random_forest", "goss")
SUMMED = ("gbdt", "gbrt", "goss")
TRIED = 64  # rows on which LightGBM is asked too
OVERFLOW = math.log(sys.float_info.max)  # exp of more is no finite number


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

    def allows(self, params: Mapping[str, object]) -> bool:
        return params.get("boosting_type", "gbdt") in GROWING

    def cut(self, estimator: Any, value: Any) -> Any:
        import copy

        import lightgbm

        own = copy.copy(estimator)
        own._Booster = lightgbm.Booster(model_str=estimator.booster_.model_to_string(num_iteration=value))
        own.n_estimators = value
        return own

    def answers(self, estimator: Any, values: Sequence[Any], X: object, scores: bool) -> Iterator[Answer]:
        found = _cumulative_shares(estimator, values, X) if _is_sum(estimator) else None
        for value in values:
            shares = estimator.predict_proba(X, num_iteration=value) if found is None else found[value]
            yield estimator.classes_[shares.argmax(axis=1)], shares if scores else None


def _is_sum(estimator: Any) -> bool:
    """True where its answer for a row is the sum of one value per tree."""
    params = estimator.get_params()
    return params["boosting_type"] in SUMMED and not params.get("linear_tree")


def _cumulative_shares(estimator: Any, values: Sequence[int], X: Any) -> dict[int, Floats] | None:
    """Shares after each number of rounds; None where LightGBM says something else of the first rows."""
    booster, many = estimator.booster_, estimator.booster_.num_model_per_iteration()
    leaves = np.ascontiguousarray(booster.predict(X, pred_leaf=True, num_iteration=max(values), num_threads=1).T)
    leaves = leaves.reshape(-1, many, X.shape[0])
    found, sums = {}, np.zeros((many, X.shape[0]))
    for rounds, trees in enumerate(leaves, 1):
        for place, reached in enumerate(trees):
            sums[place] += _outputs(booster, (rounds - 1) * many + place, reached)
        if rounds in values:
            found[rounds] = _shares(sums)
    last = _shares(sums)
    found |= {value: last for value in values if value > len(leaves)}  # it ran out of splits
    told = estimator.predict_proba(X[:TRIED], num_iteration=max(values))
    return found if np.array_equal(last[:TRIED], told) else None


def _outputs(booster: Any, tree: int, reached: Any) -> Floats:
    leaves = range(int(reached.max()) + 1)
    values: Floats = np.array([booster.get_leaf_output(tree, leaf) for leaf in leaves]).take(reached)
    return values


def _shares(sums: Floats) -> Floats:
    """Rows × classes from classes × rows of sums."""
    if len(sums) == 1:
        second = 1.0 / (1.0 + _exp(-sums[0]))
        return np.vstack((1.0 - second, second)).transpose()
    grown = _exp(sums - sums.max(axis=0))
    total = np.zeros(sums.shape[1])
    for one in grown:  # one after the other, as LightGBM adds
        total += one
    shares: Floats = (grown / total).transpose()
    return shares


def _exp(numbers: Floats) -> Floats:
    """Exponentials by the C library, one number at a time; infinite where one overflows."""
    plain = np.minimum(numbers, OVERFLOW).ravel().tolist()
    found = np.fromiter(map(math.exp, plain), np.float64, numbers.size).reshape(numbers.shape)
    return np.where(numbers > OVERFLOW, np.inf, found)


class LightgbmNumbers(Lightgbm):
    """`n_estimators` of LGBMRegressor, asked for each number of rounds."""

    classes = ("lightgbm.sklearn.LGBMRegressor",)
    harmless = Lightgbm.harmless | {"objective", "alpha", "fair_c", "poisson_max_delta_step", "tweedie_variance_power"}
    objectives = (
        None, "regression", "l2", "mse", "regression_l1", "l1", "mae", "huber", "fair", "poisson", "quantile", "mape", "gamma",
        "tweedie",
    )  # fmt: skip

    def allows(self, params: Mapping[str, object]) -> bool:
        return super().allows(params) and params.get("objective") in self.objectives

    def answers(self, estimator: Any, values: Sequence[object], X: object, scores: bool) -> Iterator[Answer]:
        for value in values:
            yield estimator.predict(X, num_iteration=value), None


SHARING = Lightgbm(), LightgbmNumbers()
