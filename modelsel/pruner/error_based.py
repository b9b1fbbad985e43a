"""Error-based pruning, C4.5's: a leaf is charged the upper confidence limit of its errors.

estimate(leaf) = n · U_CF(e, n). Bottom up, a node becomes a leaf when its estimate ≤ the sum of its branches' + 0.1, unless
its largest branch in its place would do better still: then that branch takes the place and the rows of all (raising).

Quinlan 1993, *C4.5: programs for machine learning*, chapter 4.
"""

from dataclasses import dataclass, replace
from typing import Any

from modelsel.core.spec import number, one_of, plain
from modelsel.core.types import Floats
from modelsel.pruner.base import CountsErrors, RecomputedPath
from modelsel.pruner.limits import LIMITS, charge
from modelsel.pruner.raising.compiled import raised as compiled
from modelsel.pruner.raising.plain import raised
from modelsel.tree.routing.reroute import RerouteState
from modelsel.tree.structure.cutting import cheaper_as_leaf, errors_as_leaf
from modelsel.tree.structure.evidence import PruningData, Reroute
from modelsel.tree.structure.node import PrunedView

SLACK = 0.1  # of an error: C4.5's preference for the smaller tree


@dataclass(frozen=True)
class ErrorBased(CountsErrors):
    """Leaves may rise as `confidence` falls, so each confidence is pruned afresh, from the counts or the rows."""

    confidence: float = number(0.25, above=0.0, most=1.0, help="one-sided level of the limit; smaller prunes more")
    raising: bool = plain(True, help="the largest branch may take its parent's place")
    bound: str = one_of("normal", "c45_table", "exact", help="how the limit is computed")

    def sharing(self) -> tuple[Any, ...]:
        return ("error_based", self.raising)

    def path(self, cut: PrunedView, evidence: PruningData) -> RecomputedPath:
        if self.raising and evidence.reroute is None:
            raise ValueError("subtree raising sends rows elsewhere and needs them (Evidence.reroute); or set raising=false")
        return RecomputedPath(cut, evidence)

    def pruned(self, cut: PrunedView, evidence: PruningData) -> PrunedView:
        """The tree left at this confidence; another tree where a branch was raised."""
        if self.raising and evidence.reroute is not None:
            return self._raised(cut, evidence.reroute)
        weight: Floats = cut.tree.counts.sum(axis=1)
        estimate = self.estimate(weight, errors_as_leaf(cut.tree.counts, cut.prediction, None))
        return replace(cut, leaf=cheaper_as_leaf(cut, estimate, SLACK))

    def _raised(self, cut: PrunedView, rows: Reroute) -> PrunedView:
        """Prune with raising, by the kernel where all rows go whole, else with the rows that are divided."""
        whole = compiled(cut, rows, *charge(self.bound, self.confidence), SLACK) if isinstance(rows, RerouteState) else None
        return raised(cut, rows, self.estimate, SLACK) if whole is None else whole

    def estimate(self, weight: Floats, errors: Floats) -> Floats:
        """Errors expected of leaves of this weight and these errors; 0 for an empty branch."""
        return errors + LIMITS[self.bound](weight, errors, self.confidence)
