"""Recipe of an estimator that cannot be stored: all that is needed to fit it again."""

from dataclasses import dataclass
from typing import Any

from modelsel.core.types import Codes, Description, Floats, Integers, Table, Task
from modelsel.learner.estimators.model import KIND, EstimatorModel, described
from modelsel.learner.estimators.path import EstimatorPath


@dataclass(frozen=True)
class EstimatorRecipe:
    """A recipe to fit it again: `rows` is the digest of the analysis rows, `version` the library's; `why` it was not stored."""

    learner: Any
    random_state: int
    rows: str
    version: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.learner.estimator} ({self.version})"

    def refit(self, task: Task, rows: Integers) -> EstimatorModel:
        """The same fit on the same rows. Raises ValueError when the rows are others, or the library is another version."""
        path = EstimatorPath(self.learner, task, rows, self.random_state)
        if path.digest != self.rows:
            raise ValueError("these are not the rows that the model was fitted on")
        if self.learner.source != self.version:
            raise ValueError(f"the model was fitted with {self.version}, this is {self.learner.source}")
        return path.model(self.learner)

    def describe(self) -> Description:
        facts = described(self.learner, self.random_state, self.rows, self.version)
        return Description(KIND, {**facts, "unstored": self.why})

    def predict(self, table: Table) -> Codes:
        raise ValueError("only the recipe of this model was kept: refit it on the development rows")

    def scores(self, table: Table) -> Floats:
        raise ValueError("only the recipe of this model was kept: refit it on the development rows")
