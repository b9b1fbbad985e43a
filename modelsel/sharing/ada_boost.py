"""AdaBoost: any number of rounds by the first entries of the fitted lists.

Not by staged prediction: that divides by a running sum of the weights, and a fit of its own by NumPy's pairwise sum, which
may differ in the last digit.
"""

from typing import Any

from modelsel.sharing.adapter import Adapter, shorter


class AdaBoost(Adapter):
    """`n_estimators` of AdaBoostClassifier with its own base estimator."""

    classes = ("sklearn.ensemble._weight_boosting.AdaBoostClassifier",)
    default = 50
    harmless = frozenset(("learning_rate", "random_state"))

    def cut(self, estimator: object, value: object) -> Any:
        return shorter(estimator, value, ("estimators_", "estimator_weights_", "estimator_errors_"))

    def size(self, estimator: Any, value: Any) -> float:
        return float(min(value, len(estimator.estimators_)))


SHARING = AdaBoost()
