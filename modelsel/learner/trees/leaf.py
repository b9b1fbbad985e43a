"""Class scores of a leaf from its class weights N_c, N = Σ N_c, over K classes.

    frequency  N_c / N        laplace  (N_c + l) / (N + l·K)        m_estimate  (N_c + m·p_c) / (N + m)

Laplace's rule of succession; m-estimate: Cestnik 1990, *Estimating probabilities: a crucial task in machine learning*.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.spec import number, one_of, plain
from modelsel.core.types import Floats
from modelsel.tree.structure.node import PrunedView

PRIORS = ("root", "parent", "uniform")


@dataclass(frozen=True)
class Leaf:
    """Settings of the class scores of leaves; path parameters all. The predicted class does not depend on them."""

    score: str = one_of("frequency", "laplace", "m_estimate", help="log loss needs laplace or m_estimate: a share may be 0")
    l: float = number(1.0, least=0.0, help="Laplace: added to each class")  # noqa: E741
    m: float = number(2.0, least=0.0, help="m-estimate: weight of the prior, in rows")
    prior: str | tuple[float, ...] = plain("root", help="m-estimate: root, parent, uniform, or a share per class")

    nested: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.prior, str):
            object.__setattr__(self, "prior", tuple(self.prior))

    def problems(self, classes: int | None) -> Iterable[str]:
        """Yield what is wrong with the prior, for so many classes where they are known."""
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
