"""Base of learners that adjust another one's scores: its base learner, the steps before it, and how it is stored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from modelsel.core.parts import ModelRecipe, PreparationStep
from modelsel.core.spec import FieldLimits, kind_of, part, spec_of
from modelsel.core.types import ClassTask, Description, Floats, Integers, Table
from modelsel.learner.base import BaseLearner, FittedModel
from modelsel.learner.inner import (
    OUTER,
    FittedSteps,
    InnerFits,
    OuterFolds,
    crossed_fits,
    crossing_problems,
    inner_fits,
    nest_descriptions,
    refusal,
    strangers,
    without_classes,
)


@dataclass(frozen=True)
class AdjustedLearner(BaseLearner):
    """A base learner with its preparation steps; what is learnt from inner fits is a field of the subclass."""

    base: BaseLearner = part("learner", "naive_bayes")
    prepared_by: tuple[PreparationStep, ...] = field(default=(), metadata={"limits": FieldLimits(group="preparer", many=True)})

    adjustment: ClassVar[str]  # the group of what is learnt, and the name of its field
    in_proportion: ClassVar[bool] = False  # outer folds must hold the classes in proportion

    def __post_init__(self) -> None:
        """Take a base learner's preparation steps apart from it."""
        if isinstance(self.base, tuple):  # a configuration gives it with its preparation steps
            learner, steps = self.base
            object.__setattr__(self, "base", learner)
            object.__setattr__(self, "prepared_by", (*self.prepared_by, *steps))

    @property
    def inner(self) -> int:
        """The number of inner folds."""
        raise NotImplementedError

    @property
    def unit(self) -> str:  # type: ignore[override]  # as its base has it
        """The unit of the base's complexity."""
        return str(self.base.unit)

    @property
    def holds_gil(self) -> bool:  # type: ignore[override]
        """True where the base holds the interpreter lock."""
        return bool(self.base.holds_gil)

    @property
    def fits(self) -> int:
        """The number of fits of one cell; those of an adjusted base are made in each."""
        return int(getattr(self.base, "fits", 1)) * (2 if self.crossing is not None else 1 + self.inner)

    @property
    def crossing(self) -> OuterFolds | None:
        """The outer folds that teach in the place of inner ones, None without."""
        own = getattr(self, self.adjustment)
        return None if own.scheme is None else OuterFolds.of(own)

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Reasons of the base and its steps; an open family, whose members would be other ones in each fold; outer folds."""
        if getattr(self.base, "is_family", False):
            yield f"a {self.adjustment} needs strengths that are the same in all inner folds: name them in place of alpha: path"
        if getattr(self.base, "of_others", False):
            yield f"a {self.adjustment} behind an ensemble learns nothing: write it among its members' settings"
        for step in self.prepared_by:
            yield from step.problems(task)
        yield from self.base.problems(task)
        if self.crossing is not None or getattr(self, self.adjustment).fold_scores == OUTER:
            known = task if isinstance(task, ClassTask) else None
            yield from crossing_problems(self.crossing, known, self.adjustment, self.in_proportion)
        elif self.inner and isinstance(self.base, AdjustedLearner) and self.base.crossing is not None:
            yield f"{self.base.adjustment}.fold_scores: outer behind a {self.adjustment} on inner folds: use the same for both"

    def taught(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> InnerFits:
        """The fit on these rows, and those whose scores of them teach."""
        if self.crossing is not None:
            return crossed_fits(self.base, self.prepared_by, task, rows, self.crossing, rng)
        return inner_fits(self.base, self.prepared_by, task, rows, self.inner, rng)

    def specification(self) -> dict[str, object]:
        """Return the specification as it is written: the base's settings with the adjustment among them."""
        return {**spec_of(self.base), self.adjustment: spec_of(getattr(self, self.adjustment))}

    def fit_key(self) -> dict[str, object]:
        """All adjustments with as many inner folds, over all bases that one fit answers."""
        steps = [spec_of(step) for step in self.prepared_by]
        own = {"crossed": self.crossing.specification()} if self.crossing is not None else {}
        return {"base": [kind_of(self.base), self.base.fit_key()], "steps": steps, "folds": self.inner, **own}

    def refusal(self, task: ClassTask, rows: Integers) -> str | None:
        """Too few rows for the inner folds, or for the base on the smallest of them; rows of none of the outer folds."""
        if self.crossing is not None and (reason := strangers(self.crossing, task, rows)):
            return reason
        return refusal(self.base, task, rows, self.inner, self.adjustment)


@dataclass(frozen=True, eq=False)
class AdjustedPath:
    """Answers for all adjustments over all bases of equal growing."""

    fits: InnerFits

    def complexity(self, learners: Sequence[AdjustedLearner]) -> Floats:
        """The complexity of the base: an adjustment has a few numbers more."""
        found: Floats = self.fits.whole.path.complexity([learner.base for learner in learners])
        return found


@dataclass(frozen=True, eq=False)
class AdjustedModel(FittedModel):
    """`kind` is that of the base; `steps` prepare what it reads."""

    kind: str
    base: FittedModel
    steps: FittedSteps

    made_by: ClassVar[str]

    def describe_with(self, name: str, adjustment: Description) -> Description:
        """The base, its steps, and what was learnt behind it."""
        said = self.base.describe()
        own = {"base": Description(self.kind, said.facts, said.arrays), name: adjustment}
        steps = {f"step{place}": one for place, one in enumerate(self.steps.describe())}
        facts, arrays = nest_descriptions({**own, **steps})
        return Description(self.made_by, {**facts, "steps": len(steps)}, arrays)

    def with_base(self, task: ClassTask, rows: Integers) -> Self:
        """The base fitted again on the development rows. ValueError where these, or the versions, are others."""
        ready = self.steps(without_classes(task))
        assert isinstance(self.base, ModelRecipe)
        return replace(self, base=self.base.refit(task.with_features(ready.features, ready.values), rows))
