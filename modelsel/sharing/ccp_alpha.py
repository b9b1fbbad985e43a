"""Pruned trees: any `ccp_alpha` by cutting the grown tree's arrays, with scikit-learn's own pruning.

`cost_complexity_pruning_path` names the alphas at which the tree changes and no trees; what a fit does with an alpha is to
grow the whole tree and to prune a copy of it. The second half is done here for each alpha.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from modelsel.sharing.adapter import Adapter


class CcpAlpha(Adapter):
    """`ccp_alpha` of DecisionTreeClassifier and ExtraTreeClassifier."""

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


SHARING = CcpAlpha()
