"""Cost-complexity pruning: the subtree of least R(T) + α · leaves(T), for every α from one pass over the weakest links.

g(t) = (R(t) − R(T_t)) / (leaves(T_t) − 1); the nodes of least g become leaves, all that tie together, and so on to the root.
R is a share of the training weight: the error rate (or mean cost), or the weighted Gini index or entropy (bits) of the leaves;
of numbers it is the mean squared error, so that `alpha` is scikit-learn's `ccp_alpha`, and rpart's `cp` times the variance; or
the mean loss of another statistic that leaves say (median: absolute error, quantile: pinball loss).

Breiman, Friedman, Olshen and Stone 1984, *Classification and regression trees*, ch. 3.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from modelsel.core.spec import number, one_of
from modelsel.core.types import BOTH_TASKS, AnyTask, Floats
from modelsel.pruner.base import NestedSequence, Pruning
from modelsel.tree.cutting import PruningData, branches_less_one, errors_as_leaf, weakest_links
from modelsel.tree.node import PrunedView


@dataclass(frozen=True)
class CostComplexity(Pruning):
    """`alpha` is the price of a leaf in units of R; `path` declares one candidate per subtree of the sequence."""

    alpha: float | Literal["path"] = number(0.0, least=0.0, help="price of a leaf as a share of R, or path")
    impurity: str = one_of("misclassification", "gini", "entropy", help="what R is measured by; of numbers the squared error")

    reads = BOTH_TASKS

    @classmethod
    def kernels(cls, task: AnyTask) -> tuple[str, ...]:
        """Return the files of kernels that it uses, which a study compiles before its cells."""
        return ("weakest_links",)

    @property
    def is_family(self) -> bool:
        """True while `alpha` is `path`: it stands for the pruners that `members` names."""
        return self.alpha == "path"

    @property
    def strength(self) -> float:
        if isinstance(self.alpha, str):
            raise ValueError("cost_complexity with alpha=path stands for many pruners; ask `members` for them")
        return float(self.alpha) * (1.0 + 1e-12)  # a strength printed and read again is still reached

    def sharing(self) -> tuple[object, ...]:
        return ("cost_complexity", self.impurity)

    def problems(self, costs: bool = False) -> Iterable[str]:
        if costs and self.impurity != "misclassification":
            yield f"cost_complexity by {self.impurity} knows no cost matrix; use impurity=misclassification"

    def path(self, cut: PrunedView, evidence: PruningData) -> NestedSequence:
        risk = self._risk(cut, evidence)
        links = weakest_links(cut, risk, branches_less_one(cut.tree))
        return NestedSequence(cut, links / evidence.total)

    def _risk(self, cut: PrunedView, evidence: PruningData) -> Floats:
        """Per node, R as a leaf (of squared error: what its subtree saves)."""
        if cut.tree.numbers is not None:
            return cut.tree.spared if evidence.risk is None else evidence.risk
        if self.impurity == "misclassification":
            return errors_as_leaf(cut.tree.counts, cut.prediction, evidence.cost_matrix)
        return _gini(cut.tree.counts) if self.impurity == "gini" else _entropy(cut.tree.counts)

    def alphas(self, cut: PrunedView, evidence: PruningData) -> Floats:
        """Return one strength inside each interval of the sequence: 0, √(α_k α_{k+1}), …, 2 α_K (Breiman et al., 3.4)."""
        steps = self.path(cut, evidence).steps()
        steps = np.append(0.0, steps[steps > 0])
        return np.append(np.sqrt(steps[:-1] * steps[1:]), 2.0 * steps[-1])

    def members(self, cut: PrunedView, evidence: PruningData) -> tuple["CostComplexity", ...]:
        """The pruners that `alpha: path` stands for on this tree; itself when alpha is a number."""
        if not self.is_family:
            return (self,)
        return tuple(replace(self, alpha=float(alpha)) for alpha in self.alphas(cut, evidence))


def _gini(counts: Floats) -> Floats:
    """Weight times the Gini index: N − Σ n_c² / N."""
    weight: Floats = counts.sum(axis=1)
    squares: Floats = np.square(counts).sum(axis=1)
    return weight - np.divide(squares, weight, out=np.zeros_like(weight), where=weight > 0)


def _entropy(counts: Floats) -> Floats:
    """Weight times the entropy in bits: N log N − Σ n_c log n_c."""
    weight: Floats = counts.sum(axis=1)
    own: Floats = _xlogx(counts).sum(axis=1)
    return _xlogx(weight) - own


def _xlogx(x: Floats) -> Floats:
    logarithm: Floats = np.log2(x, out=np.zeros_like(x), where=x > 0)
    return x * logarithm
