"""A learner with a calibrator behind it: scores that come true as often as they say.

    p = g(s),  g learnt from the scores of k inner fits on the analysis rows, each of rows that it did not see;
               s of the one fit on all of them

One fit on all analysis rows and k inner ones serve every path parameter and every calibrator. It is the same as scikit-learn's
`CalibratedClassifierCV` with `ensemble=False` on the same inner folds. The class of the largest calibrated score is predicted.
What is chosen and reported is judged on the folds outside, which neither the fit nor the calibrator saw.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.calibrator.base import BaseCalibrator, Calibration, restore_calibration
from modelsel.core.spec import class_of, kind_of, part
from modelsel.core.types import (
    DECISIONS,
    PROBABILITIES,
    ClassTask,
    Description,
    Floats,
    Integers,
    Outputs,
    Table,
    scores_are,
)
from modelsel.learner.adjusted import AdjustedLearner, AdjustedModel, AdjustedPath
from modelsel.learner.inner import part_of, steps_of


@dataclass(frozen=True)
class Calibrated(AdjustedLearner):
    """Written as `calibrator: platt` among the settings of any learner; `prepared_by` are the steps before it.

    Path parameters are those of the base, and the calibrator.
    """

    calibrator: BaseCalibrator = part("calibrator", "platt")

    adjustment: ClassVar[str] = "calibrator"
    in_proportion: ClassVar[bool] = True
    no_training_error = "a calibrated learner's error on its own rows would be that of a curve learnt on other fits"

    @property
    def scores_are(self) -> str:
        """Probabilities; behind no calibrator the base's kind of score."""
        return scores_are(self.base) if kind_of(self.calibrator) == "none" else PROBABILITIES

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Reasons of the base, its steps and the outer folds; decision values that the calibrator cannot read."""
        yield from super().problems(task)
        kind = kind_of(self.calibrator)
        if kind != "none" and not self.calibrator.reads_decisions and scores_are(self.base) == DECISIONS:
            yield f"calibrator={kind} reads probabilities, and this learner gives decision values: use platt or isotonic"

    @property
    def inner(self) -> int:
        """The number of inner folds."""
        return int(self.calibrator.folds) if self.crossing is None else 0

    def fit_path(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "CalibratedPath":
        return CalibratedPath(self.taught(task, rows, rng))

    def fit(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "CalibratedModel":
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> "CalibratedModel":
        """Rebuild the model: base, steps and calibrator."""
        base, steps = part_of(description, "base"), steps_of(description)
        model = class_of("learner", base.kind).restore(base)  # type: ignore[attr-defined]
        made = CalibratedRecipe if hasattr(model, "refit") else CalibratedModel
        return made(base.kind, model, steps, restore_calibration(part_of(description, "calibrator")))


@dataclass(frozen=True, eq=False)
class CalibratedPath(AdjustedPath):
    """Answers for all calibrators over all bases of equal growing."""

    def outputs(self, learners: Sequence[Calibrated], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Return the calibrated answers of each learner for some rows."""
        bases = list(dict.fromkeys(learner.base for learner in learners))
        said = self.fits.scores_of(bases, table, rows)
        curves = self.calibrations(learners)
        found = np.stack([curve(said[learner.base]) for curve, learner in zip(curves, learners, strict=True)])
        return Outputs(found.argmax(axis=2).astype(np.int32), found if scores else None)

    def calibrations(self, learners: Sequence[Calibrated]) -> list[Calibration]:
        """Fit each calibrator on the scores of the inner fits."""
        of = self.fits
        held = of.held_out_scores(list(dict.fromkeys(learner.base for learner in learners)))
        truth, weights = of.task.target[of.rows], of.task.row_weights[of.rows]
        return [learner.calibrator.fit(held[learner.base], truth, weights) for learner in learners]

    def model(self, learner: Calibrated) -> "CalibratedModel":
        """The base fitted on all analysis rows, and the curve."""
        (curve,) = self.calibrations([learner])
        return CalibratedModel(kind_of(learner.base), self.fits.whole.path.model(learner.base), self.fits.whole.steps, curve)


@dataclass(frozen=True, eq=False)
class CalibratedModel(AdjustedModel):
    """Class scores of the base through the curve of the calibrator."""

    calibration: Calibration

    made_by: ClassVar[str] = "calibrated"

    def scores(self, table: Table) -> Floats:
        return self.calibration(self.base.scores(self.steps(table)))

    def describe(self) -> Description:
        return self.describe_with("calibrator", self.calibration.describe())


class CalibratedRecipe(CalibratedModel):
    """Of a base of which only the recipe was kept: it answers once it is fitted again; its curve was kept."""

    def refit(self, task: ClassTask, rows: Integers) -> CalibratedModel:
        """The base fitted again on the development rows. ValueError where these, or the versions, are others."""
        again = self.with_base(task, rows)
        return CalibratedModel(again.kind, again.base, again.steps, again.calibration)

    def __str__(self) -> str:
        return str(self.base)
