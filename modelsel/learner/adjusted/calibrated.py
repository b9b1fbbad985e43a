"""A learner with a calibrator behind it: scores that come true as often as they say.

    p = g(s),  g learnt from the scores of k inner fits on the analysis rows, each of rows that it did not see;
               s of the one fit on all of them

One fit on all analysis rows and k inner ones serve every path parameter and every calibrator. It is the same as scikit-learn's
`CalibratedClassifierCV` with `ensemble=False` on the same inner folds. The class of the largest calibrated score is predicted.
What is chosen and reported is judged on the folds outside, which neither the fit nor the calibrator saw.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from modelsel.calibrator.base import Calibration, restored
from modelsel.core.spec import FieldLimits, class_of, kind_of, part, resolved
from modelsel.core.types import Codes, Description, Floats, Integers, Outputs, Table, Task
from modelsel.learner.adjusted.inner import FittedSteps, InnerFits, inner_fits, nested, part_of, refusal, steps_of


@dataclass(frozen=True)
class Calibrated:
    """Written as `calibrator: platt` among the settings of any learner; `prepared_by` are the steps before it.

    Path parameters are those of the base, and the calibrator.
    """

    base: Any = part("learner", "naive_bayes")
    prepared_by: tuple[Any, ...] = field(default=(), metadata={"limits": FieldLimits(group="preparer", many=True)})
    calibrator: Any = part("calibrator", "platt")

    no_training_error = "a calibrated learner's error on its own rows would be that of a curve learnt on other fits"

    def __post_init__(self) -> None:
        if isinstance(self.base, tuple):  # a configuration gives it with its preparation steps
            learner, steps = self.base
            object.__setattr__(self, "base", learner)
            object.__setattr__(self, "prepared_by", (*self.prepared_by, *steps))

    @property
    def unit(self) -> str:
        """What the base counts."""
        return str(self.base.unit)

    @property
    def holds_gil(self) -> bool:
        return bool(self.base.holds_gil)

    @property
    def fits(self) -> int:
        """How many fits one cell takes."""
        return 1 + int(self.calibrator.folds)

    def specification(self) -> dict[str, Any]:
        """As it is written: the base's settings with a calibrator among them."""
        return {**resolved(self.base), "calibrator": resolved(self.calibrator)}

    def fit_key(self) -> dict[str, Any]:
        """All calibrators with as many inner folds, over all bases that one fit answers."""
        steps = [resolved(step) for step in self.prepared_by]
        return {"base": [kind_of(self.base), self.base.fit_key()], "steps": steps, "folds": self.calibrator.folds}

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Reasons of the base and its steps; an open family, whose members would be other ones in each inner fold."""
        if getattr(self.base, "is_family", False):
            yield "a calibrator needs strengths that are the same in every inner fold: name them in place of alpha: path"
        for one in (*self.prepared_by, self.base):
            yield from one.problems(task)

    def refusal(self, task: Task, rows: Integers) -> str | None:
        """Too few rows for the inner folds, or for the base on the smallest of them."""
        return refusal(self.base, task, rows, self.calibrator.folds, "calibrator")

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "CalibratedPath":
        return CalibratedPath(inner_fits(self.base, self.prepared_by, task, rows, self.calibrator.folds, rng))

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> "CalibratedModel":
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> "CalibratedModel":
        base, steps = part_of(description, "base"), steps_of(description)
        model = class_of("learner", base.kind).restore(base)  # type: ignore[attr-defined]
        made = CalibratedRecipe if hasattr(model, "refit") else CalibratedModel
        return made(base.kind, model, steps, restored(part_of(description, "calibrator")))


@dataclass(frozen=True, eq=False)
class CalibratedPath:
    """Answers for all calibrators over all bases of equal growing."""

    fits: InnerFits

    def outputs(self, learners: Sequence[Calibrated], table: Table, rows: Integers, scores: bool) -> Outputs:
        """What each calibrated learner says of some rows."""
        bases = list(dict.fromkeys(learner.base for learner in learners))
        said = self.fits.said(bases, table, rows)
        curves = self.calibrations(learners)
        found = np.stack([curve(said[learner.base]) for curve, learner in zip(curves, learners, strict=True)])
        return Outputs(found.argmax(axis=2).astype(np.int32), found if scores else None)

    def calibrations(self, learners: Sequence[Calibrated]) -> list[Calibration]:
        """What each calibrator learns from the scores of the inner fits."""
        of = self.fits
        held = of.held(list(dict.fromkeys(learner.base for learner in learners)))
        truth, weights = of.task.target[of.rows], of.task.row_weights[of.rows]
        return [learner.calibrator.fit(held[learner.base], truth, weights) for learner in learners]

    def complexity(self, learners: Sequence[Calibrated]) -> Floats:
        """That of the base: a curve has a few numbers more."""
        found: Floats = self.fits.whole.path.complexity([learner.base for learner in learners])
        return found

    def model(self, learner: Calibrated) -> "CalibratedModel":
        """The base fitted on all analysis rows, and the curve."""
        (curve,) = self.calibrations([learner])
        return CalibratedModel(kind_of(learner.base), self.fits.whole.path.model(learner.base), self.fits.whole.steps, curve)


@dataclass(frozen=True, eq=False)
class CalibratedModel:
    """`kind` is that of the base; `steps` prepare what it reads."""

    kind: str
    base: Any
    steps: FittedSteps
    calibration: Calibration

    made_by: ClassVar[str] = "calibrated"

    def scores(self, table: Table) -> Floats:
        return self.calibration(self.base.scores(self.steps(table)))

    def predict(self, table: Table) -> Codes:
        predicted: Codes = np.argmax(self.scores(table), axis=1).astype(np.int32)
        return predicted

    def describe(self) -> Description:
        said = self.base.describe()
        own = {"base": Description(self.kind, said.facts, said.arrays), "calibrator": self.calibration.describe()}
        steps = {f"step{place}": one for place, one in enumerate(self.steps.describe())}
        facts, arrays = nested({**own, **steps})
        return Description("calibrated", {**facts, "steps": len(steps)}, arrays)


class CalibratedRecipe(CalibratedModel):
    """Of a base of which only the recipe was kept: it answers once it is fitted again; its curve was kept."""

    def refit(self, task: Task, rows: Integers) -> CalibratedModel:
        """The base fitted again on the development rows. ValueError where these, or the versions, are others."""
        ready = self.steps(Table(name=task.name, features=task.features, values=task.values, rows=task.rows))
        base = self.base.refit(task.with_features(ready.features, ready.values), rows)
        return CalibratedModel(self.kind, base, self.steps, self.calibration)

    def __str__(self) -> str:
        return str(self.base)
