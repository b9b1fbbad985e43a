"""The three kinds of pruning path, and what most pruners answer alike."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from modelsel.core.spec import kind_of
from modelsel.core.types import Floats
from modelsel.tree.structure.cutting import cut_by, steps
from modelsel.tree.structure.evidence import PruningData
from modelsel.tree.structure.node import PrunedView

NO_COSTS = "counts errors and knows no cost matrix; use reduced_error, cost_complexity or minimum_error"


class Pruning:
    """Defaults: growing depends on nothing, pruners of a kind share one path."""

    def fit_key(self) -> dict[str, Any]:
        return {}

    def sharing(self) -> tuple[Any, ...]:
        return (kind_of(self),)

    def problems(self, costs: bool = False) -> Iterable[str]:
        return ()


class CountsErrors(Pruning):
    """A pruner whose statistics are those of errors: a cost matrix is refused."""

    def problems(self, costs: bool = False) -> Iterable[str]:
        return (f"{kind_of(self)} {NO_COSTS}",) if costs else ()


class HasStrength(Protocol):
    """A pruner of a nested sequence, with its strength on the scale of the critical ones."""

    @property
    def strength(self) -> float: ...


class PrunesDirectly(Protocol):
    """A pruner that is asked afresh at each strength."""

    def pruned(self, cut: PrunedView, evidence: PruningData) -> PrunedView: ...


@dataclass(frozen=True, eq=False)
class ConstantPath:
    """One answer to every pruner that shares the path."""

    answer: PrunedView

    def cut(self, pruner: object) -> PrunedView:
        return self.answer


@dataclass(frozen=True, eq=False)
class NestedSequence:
    """A nested sequence: a node is a leaf at every strength from its critical one upwards."""

    base: PrunedView
    critical: Floats  # per node; infinite where it never becomes one

    def cut(self, pruner: HasStrength) -> PrunedView:
        return cut_by(self.base, self.critical, pruner.strength)

    def steps(self) -> Floats:
        """The strengths at which the tree changes, ascending."""
        return steps(self.base, self.critical)


@dataclass(frozen=True, eq=False)
class RecomputedPath:
    """Pruned anew at each strength, from the counts (or rows) of the one grown tree; an answer given is kept."""

    base: PrunedView
    evidence: PruningData
    answers: dict[PrunesDirectly, PrunedView] = field(default_factory=dict)

    def cut(self, pruner: PrunesDirectly) -> PrunedView:
        if pruner not in self.answers:
            self.answers[pruner] = pruner.pruned(self.base, self.evidence)
        return self.answers[pruner]
