"""Base of learners that adjust another one's scores: its base learner, the steps before it, and how it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from modelsel.core.spec import FieldLimits, kind_of, part, resolved
from modelsel.core.types import Description, Floats, Integers, Task
from modelsel.learner.adjusted.inner import FittedSteps, InnerFits, nested, refusal, unlabelled


@dataclass(frozen=True)
class AdjustedLearner:
    """A base learner with its preparation steps; what is learnt from inner fits is a field of the subclass."""

    base: Any = part("learner", "naive_bayes")
    prepared_by: tuple[Any, ...] = field(default=(), metadata={"limits": FieldLimits(group="preparer", many=True)})

    adjustment: ClassVar[str]  # the group of what is learnt, and the name of its field

    def __post_init__(self) -> None:
        if isinstance(self.base, tuple):  # a configuration gives it with its preparation steps
            learner, steps = self.base
            object.__setattr__(self, "base", learner)
            object.__setattr__(self, "prepared_by", (*self.prepared_by, *steps))

    @property
    def inner(self) -> int:
        """The number of inner folds."""
        raise NotImplementedError

    @property
    def unit(self) -> str:
        """The unit of the base's complexity."""
        return str(self.base.unit)

    @property
    def holds_gil(self) -> bool:
        """True where the base holds the interpreter lock."""
        return bool(self.base.holds_gil)

    @property
    def fits(self) -> int:
        """The number of fits of one cell; those of an adjusted base are made in each."""
        return int(getattr(self.base, "fits", 1)) * (1 + self.inner)

    def specification(self) -> dict[str, Any]:
        """As it is written: the base's settings with the adjustment among them."""
        return {**resolved(self.base), self.adjustment: resolved(getattr(self, self.adjustment))}

    def fit_key(self) -> dict[str, Any]:
        """All adjustments with as many inner folds, over all bases that one fit answers."""
        steps = [resolved(step) for step in self.prepared_by]
        return {"base": [kind_of(self.base), self.base.fit_key()], "steps": steps, "folds": self.inner}

    def refusal(self, task: Task, rows: Integers) -> str | None:
        """Too few rows for the inner folds, or for the base on the smallest of them."""
        return refusal(self.base, task, rows, self.inner, self.adjustment)


@dataclass(frozen=True, eq=False)
class AdjustedPath:
    """Answers for all adjustments over all bases of equal growing."""

    fits: InnerFits

    def complexity(self, learners: Sequence[AdjustedLearner]) -> Floats:
        """That of the base: an adjustment has a few numbers more."""
        found: Floats = self.fits.whole.path.complexity([learner.base for learner in learners])
        return found


@dataclass(frozen=True, eq=False)
class AdjustedModel:
    """`kind` is that of the base; `steps` prepare what it reads."""

    kind: str
    base: Any
    steps: FittedSteps

    made_by: ClassVar[str]

    def described(self, name: str, adjustment: Description) -> Description:
        """The base, its steps, and what was learnt behind it."""
        said = self.base.describe()
        own = {"base": Description(self.kind, said.facts, said.arrays), name: adjustment}
        steps = {f"step{place}": one for place, one in enumerate(self.steps.describe())}
        facts, arrays = nested({**own, **steps})
        return Description(self.made_by, {**facts, "steps": len(steps)}, arrays)

    def with_base(self, task: Task, rows: Integers) -> Self:
        """The base fitted again on the development rows. ValueError where these, or the versions, are others."""
        ready = self.steps(unlabelled(task))
        return replace(self, base=self.base.refit(task.with_features(ready.features, ready.values), rows))
