"""Forests: any number of trees by the first of a larger forest, whose seeds are drawn one after the other."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from modelsel.sharing.adapter import Adapter, Answer, shorter


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


SHARING = Forests()
