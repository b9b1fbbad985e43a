"""A learner with a decision behind it: its scores stay, and the class follows from them by an operating point.

The point is chosen on inner folds of the analysis rows, from scores of rows that the inner fits did not see, and judged on the
folds outside, whose rows did not choose it. One fit on all analysis rows and the inner ones serve every path parameter and
every decision. It is the same as scikit-learn's `TunedThresholdClassifierCV` with `refit=True` on the same inner folds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.spec import class_of, kind_of, part, spec_of
from modelsel.core.types import PROBABILITIES, ClassTask, Codes, Description, Floats, Integers, Outputs, Table, scores_are
from modelsel.decision.base import BaseDecision
from modelsel.learner.adjusted import AdjustedLearner, AdjustedModel, AdjustedPath
from modelsel.learner.inner import OuterFolds, part_of, steps_of

USED = ("kind", "measure", "scheme", "scheme_seed")  # what an operating point was chosen with


@dataclass(frozen=True)
class Decided(AdjustedLearner):
    """Written as `threshold: path` or `decision: {costs: ...}` among the settings of any learner; `prepared_by` as there.

    Path parameters are those of the base, and the decision.
    """

    decision: BaseDecision = part("decision", "none")

    adjustment: ClassVar[str] = "decision"
    no_training_error = "an operating point that was chosen on inner fits has no error on the rows of the whole fit"

    @property
    def scores_are(self) -> str:
        """The kind of score that the base gives."""
        return scores_are(self.base)

    @property
    def inner(self) -> int:
        """The number of inner folds; none for a threshold that is given."""
        return int(self.decision.inner) if self.crossing is None else 0

    @property
    def crossing(self) -> OuterFolds | None:
        """The outer folds that choose in the place of inner ones; None without, and where nothing is to be chosen."""
        return super().crossing if self.decision.inner else None

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Reasons of the base, its steps and the decision; an open family; outer folds."""
        yield from super().problems(task)
        yield from self.decision.problems(task)
        if kind_of(self.decision) != "none" and (said := scores_are(self.base)) != PROBABILITIES:
            yield f"a decision reads probabilities, and this learner gives {said}: set calibrator=platt beside it"

    def fit_path(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "DecidedPath":
        return DecidedPath(self.taught(task, rows, rng))

    def fit(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "DecidedModel":
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> "DecidedModel":
        """Rebuild the model: base, steps, decision and its operating point."""
        base, said = part_of(description, "base"), part_of(description, "decision")
        model = class_of("learner", base.kind).restore(base)  # type: ignore[attr-defined]
        learnt = np.asarray(said.arrays["learnt"], np.float64)
        if learnt.ndim != 1 or not np.isfinite(learnt).all():
            raise ValueError("an operating point is finite numbers")
        made = DecidedRecipe if hasattr(model, "refit") else DecidedModel
        return made(base.kind, model, steps_of(description), _decision(said), learnt)


@dataclass(frozen=True, eq=False)
class DecidedPath(AdjustedPath):
    """Answers for all decisions over all bases of equal growing."""

    def outputs(self, learners: Sequence[Decided], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Return the classes that each learner decides for some rows; the scores are those of the base."""
        bases = list(dict.fromkeys(learner.base for learner in learners))
        said = self.fits.scores_of(bases, table, rows)
        points = self.points(learners)
        found = [learner.decision.predicted(point, said[learner.base]) for point, learner in zip(points, learners, strict=True)]
        return Outputs(np.stack(found), np.stack([said[learner.base] for learner in learners]) if scores else None)

    def points(self, learners: Sequence[Decided]) -> list[Floats]:
        """Fit each decision on the scores of the inner fits."""
        of = self.fits
        held = of.held_out_scores(list(dict.fromkeys(learner.base for learner in learners)) if of.parts else [])
        truth, weights = of.task.target[of.rows], of.task.row_weights[of.rows]
        return [
            learner.decision.learnt([(held[learner.base][out], truth[out], weights[out]) for _, out in of.parts])
            for learner in learners
        ]

    def model(self, learner: Decided) -> "DecidedModel":
        """The base fitted on all analysis rows, and the operating point."""
        (point,) = self.points([learner])
        base = self.fits.whole.path.model(learner.base)
        return DecidedModel(kind_of(learner.base), base, self.fits.whole.steps, learner.decision, point)


@dataclass(frozen=True, eq=False)
class DecidedModel(AdjustedModel):
    """Class scores of the base, and the class by the operating point that was `learnt`."""

    decision: BaseDecision
    learnt: Floats

    made_by: ClassVar[str] = "decided"

    def scores(self, table: Table) -> Floats:
        found: Floats = self.base.scores(self.steps(table))
        return found

    def predict(self, table: Table) -> Codes:
        decided: Codes = self.decision.predicted(self.learnt, self.scores(table))
        return decided

    def describe(self) -> Description:
        spec = spec_of(self.decision)
        return self.describe_with("decision", Description(str(spec["kind"]), {"settings": spec}, {"learnt": self.learnt}))


class DecidedRecipe(DecidedModel):
    """Of a base of which only the recipe was kept: it answers once it is fitted again; its operating point was kept."""

    def refit(self, task: ClassTask, rows: Integers) -> DecidedModel:
        """The base fitted again on the development rows. ValueError where these, or the versions, are others."""
        again = self.with_base(task, rows)
        return DecidedModel(again.kind, again.base, again.steps, again.decision, again.learnt)

    def __str__(self) -> str:
        return str(self.base)


def _decision(said: Description) -> BaseDecision:
    """Rebuild the decision; one that chose its point by a measure no longer needs that measure."""
    settings = {name: value for name, value in said.facts["settings"].items() if name not in USED}
    if "costs" in settings:
        settings["costs"] = tuple(tuple(row) for row in settings["costs"])
    decision: BaseDecision = class_of("decision", said.kind)(**settings)
    return decision
