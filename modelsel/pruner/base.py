"""The three kinds of pruning path, and what most pruners answer alike."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from modelsel.core.spec import kind_of
from modelsel.core.types import CLASS_TASKS, Floats, TaskKind
from modelsel.tree.cutting import PruningData, PruningPath, cut_by, steps
from modelsel.tree.node import PrunedView

NO_COSTS = "counts errors and knows no cost matrix; use reduced_error, cost_complexity or minimum_error"


class Pruning:
    """Base of pruners: growing depends on nothing, and pruners of a kind share one path. A new one defines `path`.

    Examples
    --------
    >>> from modelsel.pruner.minimum_error import MinimumError
    >>> MinimumError().fit_key(), MinimumError().sharing()
    ({}, ('minimum_error',))
    """

    reads: ClassVar[tuple[TaskKind, ...]] = CLASS_TASKS

    def fit_key(self) -> dict[str, object]:
        """Return the settings that growing depends on.

        Returns
        -------
        dict
            Empty, or for rows that are held back from growing `{"share": their share}`.
        """
        return {}

    def sharing(self) -> tuple[object, ...]:
        """Return a key: pruners of equal keys are answered by one path.

        Returns
        -------
        tuple
            Any hashable values; the kind alone unless said.
        """
        return (kind_of(self),)

    def path(self, cut: PrunedView, evidence: PruningData) -> PruningPath:
        """Prune a tree for all pruners of this one's `sharing()`.

        Parameters
        ----------
        cut : PrunedView
            The grown tree, or a truncation of it by a stopping limit.
        evidence : PruningData
            What is known beyond the tree's own counts.

        Returns
        -------
        PruningPath
            Something that answers each of these pruners.
        """
        raise NotImplementedError

    def problems(self, costs: bool = False) -> Iterable[str]:
        """List reasons why this combination is not valid.

        Parameters
        ----------
        costs : bool
            True where the leaves are labelled by a cost matrix.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        return ()


class CountsErrors(Pruning):
    """Base of pruners whose statistics are those of errors: a cost matrix is refused.

    Examples
    --------
    >>> from modelsel.pruner.error_based import ErrorBased
    >>> isinstance(ErrorBased(), CountsErrors)
    True
    """

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
    """A path of one answer, for every pruner that shares it.

    Parameters
    ----------
    answer : PrunedView
        The pruned tree.

    Examples
    --------
    >>> ConstantPath("a tree").cut(None)
    'a tree'
    """

    answer: PrunedView

    def cut(self, pruner: object) -> PrunedView:
        """Return the answer.

        Parameters
        ----------
        pruner : Pruning
            One that shares the path.

        Returns
        -------
        PrunedView
            The pruned tree.
        """
        return self.answer


@dataclass(frozen=True, eq=False)
class NestedSequence:
    """A path through a nested sequence: a node is a leaf at every strength from its critical one upwards.

    Parameters
    ----------
    base : PrunedView
        The unpruned tree.
    critical : Floats
        The critical strength of each node; infinite where it never becomes a leaf.

    Examples
    --------
    >>> from modelsel.pruner.cost_complexity import CostComplexity
    >>> round(CostComplexity(alpha=0.1).strength, 6)
    0.1
    """

    base: PrunedView
    critical: Floats  # per node; infinite where it never becomes one

    def cut(self, pruner: HasStrength) -> PrunedView:
        """Return the tree at a pruner's strength.

        Parameters
        ----------
        pruner : HasStrength
            One with a `strength` on the scale of the critical ones.

        Returns
        -------
        PrunedView
            The pruned tree.
        """
        return cut_by(self.base, self.critical, pruner.strength)

    def steps(self) -> Floats:
        """Return the strengths at which the tree changes.

        Returns
        -------
        Floats
            Ascending.
        """
        return steps(self.base, self.critical)


@dataclass(frozen=True, eq=False)
class RecomputedPath:
    """A path that prunes anew at each strength, from the counts (or rows) of the one grown tree; an answer given is kept.

    Parameters
    ----------
    base : PrunedView
        The unpruned tree.
    evidence : PruningData
        What is known beyond the tree's own counts.
    answers : dict, optional
        Answers by pruner.

    Examples
    --------
    >>> from modelsel.pruner.minimum_error import MinimumError
    >>> RecomputedPath("a tree", None, {MinimumError(): "a smaller one"}).cut(MinimumError())
    'a smaller one'
    """

    base: PrunedView
    evidence: PruningData
    answers: dict[PrunesDirectly, PrunedView] = field(default_factory=dict)

    def cut(self, pruner: PrunesDirectly) -> PrunedView:
        """Return the tree that a pruner leaves.

        Parameters
        ----------
        pruner : PrunesDirectly
            One with `pruned(cut, evidence)`.

        Returns
        -------
        PrunedView
            The pruned tree.
        """
        if pruner not in self.answers:
            self.answers[pruner] = pruner.pruned(self.base, self.evidence)
        return self.answers[pruner]
