"""Base of criteria that weigh costs: they wrap a gain, find tests by it, and let features compete by both."""

from collections.abc import Callable, Iterable
from typing import Any

from modelsel.core.spec import kind_of
from modelsel.core.types import Floats, Table
from modelsel.criterion.base import BaseCriterion


class PerCost(BaseCriterion):
    """Everything but `worth` is the wrapped criterion's."""

    gain: Any

    def goodness(self, tables: Floats) -> Floats:
        goodness: Floats = self.gain.goodness(tables)
        return goodness

    @property
    def loop(self) -> Callable[..., float] | None:  # type: ignore[override]
        return self.gain.loop  # type: ignore[no-any-return]

    @property
    def fused(self) -> int:  # type: ignore[override]
        return int(self.gain.fused)

    @property
    def boundary(self) -> bool:  # type: ignore[override]
        return bool(self.gain.boundary)

    @property
    def convex(self) -> bool:  # type: ignore[override]
        return bool(self.gain.convex)

    @property
    def binary(self) -> bool:  # type: ignore[override]
        return bool(self.gain.binary)

    @property
    def ratio(self) -> bool:  # type: ignore[override]
        return bool(self.gain.ratio)

    @property
    def average(self) -> bool:
        return bool(self.gain.average)

    @property
    def penalty(self) -> bool:
        return bool(self.gain.penalty)

    def problems(self, task: Table | None = None) -> Iterable[str]:
        yield from self.gain.problems(task)
        if isinstance(self.gain, PerCost):
            yield f"gain={kind_of(self.gain)} weighs costs itself, which would not be asked for; give a criterion that does not"
        for feature in () if task is None else task.features:
            if not feature.cost > 0:
                yield f"feature {feature.name} costs {feature.cost}: costs must be above 0 for this criterion"
