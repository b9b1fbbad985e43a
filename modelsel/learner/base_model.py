"""A model that is one learner of a path: what the path says about all rows of a table for this learner alone."""

from dataclasses import dataclass
from typing import Any

from modelsel.core.types import Codes, Floats, Table, positions
from modelsel.learner.base import FittedModel, Path


@dataclass(frozen=True, eq=False)
class PathModel(FittedModel):
    """The base of models whose path holds all that they need; `learner` has every path parameter fixed."""

    path: Any
    learner: Any

    def predict(self, table: Table) -> Codes:
        predicted: Codes = _path(self).outputs([self.learner], table, positions(table), scores=False).predicted[0]
        return predicted

    def scores(self, table: Table) -> Floats:
        """Compute this learner's class scores of all rows by its path."""
        shares = _path(self).outputs([self.learner], table, positions(table), scores=True).scores
        assert shares is not None
        own: Floats = shares[0]
        return own


def _path(model: PathModel) -> Path:
    path: Path = model.path
    return path
