"""Class scores of a leaf from its class weights N_c, N = Σ N_c, over K classes.

    frequency  N_c / N        laplace  (N_c + l) / (N + l·K)        m_estimate  (N_c + m·p_c) / (N + m)

Where the target is a number a leaf says a statistic of its rows (`learner.trees.number_path`).

Laplace's rule of succession; m-estimate: Cestnik 1990, *Estimating probabilities: a crucial task in machine learning*.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from modelsel.core.spec import number, one_of, optional_number, optional_word, plain
from modelsel.core.types import Floats
from modelsel.tree.node import PrunedView

PRIORS = ("root", "parent", "uniform")
MEAN, MEDIAN, QUANTILE, M_ESTIMATE = "mean", "median", "quantile", "m_estimate"
SQUARES, DEVIANCE = "squared", "poisson"  # what trees of means are pruned by
LINEAR = "linear"  # is another learner's

Loss = tuple[str, float | None]  # its name, and the quantile


@dataclass(frozen=True)
class Leaf:
    """Settings of the class scores of leaves; path parameters all. The predicted class does not depend on them.

    Of numbers `statistic` is what a leaf says; `m` and `prior` (root or parent) are those of its m-estimate.
    """

    score: str = one_of("frequency", "laplace", "m_estimate", help="log loss needs laplace or m_estimate: a share may be 0")
    l: float = number(1.0, least=0.0, help="Laplace: added to each class")  # noqa: E741
    m: float = number(2.0, least=0.0, help="m-estimate: weight of the prior, in rows")
    prior: str | tuple[float, ...] = plain("root", help="m-estimate: root, parent, uniform, or a share per class")
    statistic: str | None = optional_word(
        MEAN, MEDIAN, QUANTILE, M_ESTIMATE, help="of numbers: what a leaf says (null: mean); pruning takes its loss",
        elsewhere=((LINEAR, "trees with linear models in their leaves are learner=m5p, which has a pruning of its own"),),
    )  # fmt: skip
    q: float | None = optional_number(above=0.0, most=1.0, help="quantile: the share of rows below, less than 1")

    nested: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.prior, str):
            object.__setattr__(self, "prior", tuple(self.prior))

    @property
    def quantile(self) -> float | None:
        """The quantile that a leaf says; None where it says a mean."""
        return 0.5 if self.statistic == MEDIAN else self.q if self.statistic == QUANTILE else None

    @property
    def deciding(self) -> "Leaf":
        """Return the settings with those that decide no prediction at their default: all but a statistic of numbers."""
        return self if self.statistic is not None else Leaf()

    def by_default(self, quantile: float | None) -> "Leaf":
        """Return the settings with the quantile that a tree was grown by where no statistic is named."""
        if quantile is None or self.statistic is not None:
            return self
        return replace(self, statistic=MEDIAN) if quantile == 0.5 else replace(self, statistic=QUANTILE, q=quantile)

    @property
    def loss(self) -> Loss:
        """The loss that trees are pruned by: squared error, or that of a quantile."""
        return (SQUARES, None) if self.quantile is None else (MEDIAN if self.statistic == MEDIAN else QUANTILE, self.quantile)

    def number_problems(self, pruner: str) -> Iterable[str]:
        """Yield what is wrong where the target is a number, and the tree is pruned so."""
        if self.deciding.statistic not in (None, MEAN) and pruner not in ("unpruned", "cost_complexity"):
            yield f"leaf.statistic={self.statistic} is pruned by its own loss: use cost_complexity or unpruned"
        if self.score != "frequency" or self.l != 1.0:
            yield "leaf.score and leaf.l are about classes, and this target is a number: use leaf.statistic"
        if self.statistic == M_ESTIMATE and self.prior not in ("root", "parent"):
            yield f"leaf.prior of numbers is root or parent, not {self.prior!r}"
        if self.statistic != M_ESTIMATE and (self.m != 2.0 or self.prior != "root"):
            yield "leaf.m and leaf.prior of numbers belong to leaf.statistic=m_estimate"
        if (self.statistic == QUANTILE) != (self.q is not None) or self.q == 1.0:
            yield "leaf.q is the share of leaf.statistic=quantile: above 0 and below 1, and given just then"

    def problems(self, classes: int | None) -> Iterable[str]:
        """Yield what is wrong with the prior, for so many classes where they are known."""
        if classes is not None and (self.statistic is not None or self.q is not None):
            yield "leaf.statistic and leaf.q are about numbers, and this target has classes: use leaf.score"
        if isinstance(self.prior, str):
            if self.prior not in PRIORS:
                yield f"leaf.prior is one of {', '.join(PRIORS)} or a list of shares, not {self.prior!r}"
        elif min(self.prior, default=-1.0) < 0 or sum(self.prior) <= 0:
            yield "leaf.prior as a list needs shares of at least 0, not all 0"
        elif classes is not None and len(self.prior) != classes:
            yield f"leaf.prior has {len(self.prior)} shares for {classes} classes"


def leaf_scores(cut: PrunedView, leaf: Leaf) -> Floats:
    """Class scores of every node if it is a leaf, nodes × classes."""
    counts = cut.counts
    weight = counts.sum(axis=1, keepdims=True)
    if leaf.score == "laplace":
        return _shares(counts + leaf.l, weight + leaf.l * counts.shape[1])
    if leaf.score == "m_estimate":
        return _shares(counts + leaf.m * _prior(cut, leaf), weight + leaf.m)
    return _shares(counts, weight)


def _prior(cut: PrunedView, leaf: Leaf) -> Floats:
    """Return the prior class shares: uniform, the root's, the parent's, or those given."""
    classes = cut.counts.shape[1]
    if leaf.prior == "uniform":
        return np.full(classes, 1.0 / classes)
    if leaf.prior == "root":
        return frequencies(cut.tree.counts[:1])
    if leaf.prior == "parent":
        of_parent: Floats = frequencies(cut.counts)[np.maximum(cut.tree.parent, 0)]
        return of_parent
    given: Floats = np.asarray(leaf.prior, np.float64)
    return np.asarray(given / given.sum())


def frequencies(counts: Floats) -> Floats:
    """Class shares; equal ones where there is no weight."""
    return _shares(counts, counts.sum(axis=1, keepdims=True))


def _shares(parts: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(parts, whole, out=np.full_like(parts, 1.0 / parts.shape[1]), where=whole > 0)
    return share
