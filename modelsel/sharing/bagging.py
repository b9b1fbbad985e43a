"""Bagging: any number of trees by the first of a larger bag, whose seeds are drawn one after the other."""

from typing import Any

from modelsel.sharing.adapter import Adapter, shorter


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


SHARING = Bagging()
