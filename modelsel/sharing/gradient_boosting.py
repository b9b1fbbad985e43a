"""scikit-learn's gradient boosting: any number of rounds by staged prediction, also where it stops early.

With `n_iter_no_change` the rows held back are drawn before the first round, and a fit of k rounds is the beginning of a longer
one: it ends after k, or where the longer one ended.
"""

from typing import Any

from modelsel.sharing.adapter import Staged, shorter


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


SHARING = GradientBoosting()
