"""The three kinds of pruning path, and what most pruners answer alike."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from modelsel.core.spec import kind_of
from modelsel.core.types import Floats
from modelsel.tree.cutting import cut_by, steps
from modelsel.tree.evidence import Evidence
from modelsel.tree.node import Cut

NO_COSTS = "counts errors and knows no cost matrix; use reduced_error, cost_complexity or minimum_error"


class Pruning:
    """Defaults: growing depends on nothing, pruners of a kind share one path."""

    def growing(self) -> dict[str, Any]:
        return {}

    def sharing(self) -> tuple[Any, ...]:
        return (kind_of(self),)

    def problems(self, costs: bool = False) -> Iterable[str]:
        return ()


class CountsErrors(Pruning):
    """A pruner whose statistics are those of errors: a cost matrix is refused."""

    def problems(self, costs: bool = False) -> Iterable[str]:
        return (f"{kind_of(self)} {NO_COSTS}",) if costs else ()


class Strong(Protocol):
    """A pruner of a nested sequence, with its strength on the scale of the critical ones."""

    @property
    def strength(self) -> float: ...


class Bare(Protocol):
    """A pruner that is asked afresh at each strength."""

    def pruned(self, cut: Cut, evidence: Evidence) -> Cut: ...


@dataclass(frozen=True, eq=False)
class Single:
    """One answer to every pruner that shares the path."""

    answer: Cut

    def cut(self, pruner: object) -> Cut:
        return self.answer


@dataclass(frozen=True, eq=False)
class Nested:
    """A nested sequence: a node is a leaf at every strength from its critical one upwards."""

    base: Cut
    critical: Floats  # per node; infinite where it never becomes one

    def cut(self, pruner: Strong) -> Cut:
        return cut_by(self.base, self.critical, pruner.strength)

    def steps(self) -> Floats:
        """The strengths at which the tree changes, ascending."""
        return steps(self.base, self.critical)


@dataclass(frozen=True, eq=False)
class Afresh:
    """Pruned anew at each strength, from the counts (or rows) of the one grown tree; an answer given is kept."""

    base: Cut
    evidence: Evidence
    answers: dict[Bare, Cut] = field(default_factory=dict)

    def cut(self, pruner: Bare) -> Cut:
        if pruner not in self.answers:
            self.answers[pruner] = pruner.pruned(self.base, self.evidence)
        return self.answers[pruner]
