"""scikit-learn's histogram gradient boosting: any number of rounds by staged prediction, also where it stops early."""

import copy
from typing import Any

from modelsel.sharing.adapter import Staged


class HistGradientBoosting(Staged):
    """`max_iter` of HistGradientBoostingClassifier and HistGradientBoostingRegressor."""

    classes = (
        "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier",
        "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingRegressor",
    )
    parameter = "max_iter"
    harmless = frozenset((
        "loss", "learning_rate", "max_leaf_nodes", "max_depth", "min_samples_leaf", "l2_regularization", "max_features",
        "max_bins", "categorical_features", "monotonic_cst", "interaction_cst", "early_stopping", "scoring",
        "validation_fraction", "n_iter_no_change", "tol", "random_state", "class_weight", "quantile",
    ))  # fmt: skip

    def rounds(self, estimator: Any, value: Any) -> int:
        return min(int(value), int(estimator.n_iter_))

    def cut(self, estimator: Any, value: Any) -> Any:
        own, rounds = copy.copy(estimator), self.rounds(estimator, value)
        own._predictors = estimator._predictors[:rounds]
        own.max_iter = value
        return own


SHARING = HistGradientBoosting()
