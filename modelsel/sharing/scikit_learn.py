"""scikit-learn's ensembles and pruned trees: which numbers of rounds or trees, or which `ccp_alpha`, one fit answers.

forests, bagging        the first trees of a larger one, whose seeds are drawn one after the other
AdaBoost                the first entries of the fitted lists. Not staged prediction: that divides by a running sum of the
                        weights, and a fit of its own by NumPy's pairwise sum, which may differ in the last digit
gradient boosting       staged prediction, also where it stops early: with `n_iter_no_change` the rows held back are drawn
                        before the first round, and a fit of k rounds ends after k, or where the longer one ended
trees                   any `ccp_alpha`, by cutting the grown tree's arrays with scikit-learn's own pruning
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from modelsel.sharing.adapter import Adapter, Answer, Staged, shorter


class Forests(Adapter):
    """`n_estimators` of random forests and extra trees; each tree is asked once for all sizes."""

    classes = (
        "sklearn.ensemble._forest.RandomForestClassifier", "sklearn.ensemble._forest.ExtraTreesClassifier",
        "sklearn.ensemble._forest.RandomForestRegressor", "sklearn.ensemble._forest.ExtraTreesRegressor",
    )  # fmt: skip
    harmless = frozenset((
        "criterion", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features",
        "max_leaf_nodes", "min_impurity_decrease", "bootstrap", "n_jobs", "random_state", "class_weight", "ccp_alpha",
        "max_samples", "monotonic_cst",
    ))  # fmt: skip

    def cut(self, estimator: object, value: object) -> Any:
        return shorter(estimator, value, ("estimators_",))

    def answers(self, estimator: Any, values: Sequence[Any], X: object, scores: bool) -> Iterator[Answer]:
        asked = estimator._validate_X_predict(X)  # as the forest itself hands rows to its trees
        if not hasattr(estimator, "classes_"):
            return _numbers(estimator, values, asked)
        total = np.zeros((len(asked), len(estimator.classes_)))
        found: dict[int, Answer] = {}
        for number, tree in enumerate(estimator.estimators_[: max(values)], 1):
            total += tree.predict_proba(asked, check_input=False)
            if number in values:
                shares = total / number
                found[number] = estimator.classes_.take(np.argmax(shares, axis=1)), shares if scores else None
        return (found[value] for value in values)


def _numbers(estimator: Any, values: Sequence[Any], asked: Any) -> Iterator[Answer]:
    """Means of what the first trees say, added one after the other."""
    total, found = np.zeros(len(asked)), {}
    for number, tree in enumerate(estimator.estimators_[: max(values)], 1):
        total += tree.predict(asked, check_input=False)
        if number in values:
            found[number] = total / number
    return ((found[value], None) for value in values)


class Bagging(Adapter):
    """`n_estimators` of BaggingClassifier with its own base estimator."""

    classes = ("sklearn.ensemble._bagging.BaggingClassifier",)
    default = 10
    harmless = frozenset((
        "max_samples", "max_features", "bootstrap", "bootstrap_features", "n_jobs", "random_state",
    ))  # fmt: skip

    def cut(self, estimator: Any, value: object) -> Any:
        own = shorter(estimator, value, ("estimators_", "estimators_features_"))
        own._seeds = estimator._seeds[:value]
        return own


class AdaBoost(Adapter):
    """`n_estimators` of AdaBoostClassifier with its own base estimator."""

    classes = ("sklearn.ensemble._weight_boosting.AdaBoostClassifier",)
    default = 50
    harmless = frozenset(("learning_rate", "random_state"))

    def cut(self, estimator: object, value: object) -> Any:
        return shorter(estimator, value, ("estimators_", "estimator_weights_", "estimator_errors_"))

    def size(self, estimator: Any, value: Any) -> float:
        return float(min(value, len(estimator.estimators_)))


class GradientBoosting(Staged):
    """`n_estimators` of GradientBoostingClassifier and GradientBoostingRegressor."""

    classes = ("sklearn.ensemble._gb.GradientBoostingClassifier", "sklearn.ensemble._gb.GradientBoostingRegressor")
    harmless = frozenset((
        "loss", "learning_rate", "subsample", "criterion", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf",
        "max_depth", "min_impurity_decrease", "random_state", "max_features", "max_leaf_nodes", "validation_fraction",
        "n_iter_no_change", "tol", "ccp_alpha", "alpha",
    ))  # fmt: skip

    def rounds(self, estimator: Any, value: Any) -> int:
        return min(int(value), int(estimator.n_estimators_))

    def cut(self, estimator: object, value: object) -> Any:
        rounds = self.rounds(estimator, value)
        own = shorter(estimator, rounds, [name for name in ("estimators_", "train_score_") if hasattr(estimator, name)])
        own.n_estimators, own.n_estimators_ = value, rounds
        return own


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


class CcpAlpha(Adapter):
    """`ccp_alpha` of DecisionTreeClassifier and ExtraTreeClassifier.

    `cost_complexity_pruning_path` names the alphas at which the tree changes and no trees; what a fit does with an alpha is to
    grow the whole tree and to prune a copy of it. The second half is done here for each alpha.
    """

    classes = ("sklearn.tree._classes.DecisionTreeClassifier", "sklearn.tree._classes.ExtraTreeClassifier")
    parameter = "ccp_alpha"
    default = 0.0
    unit = "leaves"
    harmless = frozenset((
        "criterion", "splitter", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf",
        "max_features", "random_state", "max_leaf_nodes", "min_impurity_decrease", "class_weight", "monotonic_cst",
    ))  # fmt: skip

    def allows(self, params: Mapping[str, object]) -> bool:
        from sklearn.tree import DecisionTreeClassifier

        return hasattr(DecisionTreeClassifier, "_prune_tree")

    def is_valid(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0

    def widest(self, values: Sequence[object]) -> object:
        return 0.0

    def cut(self, estimator: Any, value: Any) -> Any:
        own = copy.copy(estimator)
        own.ccp_alpha = value
        own._prune_tree()
        return own

    def size(self, estimator: object, value: object) -> float:
        return float(self.cut(estimator, value).get_n_leaves())


SHARING = (Forests(), Bagging(), AdaBoost(), GradientBoosting(), HistGradientBoosting(), CcpAlpha())
