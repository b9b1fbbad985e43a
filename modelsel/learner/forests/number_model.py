"""A fitted forest of numbers: the trees of `model`, whose leaves vote with their means."""

from dataclasses import asdict, dataclass

import numpy as np

from modelsel.core.types import Description, Floats, Table
from modelsel.forest.growth import NumberBallot
from modelsel.learner.base import FittedModel
from modelsel.learner.forests.model import ForestModel
from modelsel.learner.forests.model import restore as restored


@dataclass(frozen=True, eq=False)
class NumberForestModel(FittedModel):
    """`votes` has one class, whose votes are means of leaves in whole numbers (`ballot`): no order of trees changes a bit."""

    votes: ForestModel
    ballot: NumberBallot

    def predict(self, table: Table) -> Floats:
        """Return the mean of what the trees say."""
        return self.ballot.read(self.votes.polled(table)[:, 0], len(self.votes.trees) - 1)

    def describe(self) -> Description:
        """Describe the model: that of its votes, and how they are read."""
        own = self.votes.describe()
        return Description(own.kind, {**own.facts, "numbers": asdict(self.ballot)}, own.arrays)


def restore(description: Description) -> NumberForestModel:
    """Read a model back; ValueError when it is not whole."""
    ballot = NumberBallot(**{name: float(value) for name, value in description.facts["numbers"].items()})
    if not np.isfinite(list(asdict(ballot).values())).all() or ballot.scale <= 0 or ballot.fine <= 0:
        raise ValueError("not a whole forest: its votes cannot be read as numbers")
    return NumberForestModel(restored(description), ballot)
