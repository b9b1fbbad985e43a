"""A grown forest that judges its own rows, each by the trees that have not drawn it (`scheme=out_of_bag`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from modelsel.core.types import Floats, Integers, Outputs, Table


@dataclass(frozen=True, eq=False)
class OutOfBagPath:
    """Out-of-bag predictions for the training rows."""

    path: Any  # ForestPath

    def outputs(self, learners: Sequence[Any], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Answer by the trees that have not drawn a row; by all of them for a row without weight."""
        own: Integers = self.path.ground.rows
        said, _ = self.path.out_of_bag(learners)
        if len(own) == len(rows):
            return Outputs(said.predicted, said.scores)
        known = np.isin(rows, own)
        place, others = np.searchsorted(own, rows[known]), self.path.outputs(learners, table, rows[~known], True)
        predicted = np.empty((len(learners), len(rows)), np.int32)
        shares = np.empty((*predicted.shape, said.scores.shape[2]))
        predicted[:, known], predicted[:, ~known] = said.predicted[:, place], others.predicted
        shares[:, known], shares[:, ~known] = said.scores[:, place], others.scores
        return Outputs(predicted, shares)

    def complexity(self, learners: Sequence[Any]) -> Floats:
        found: Floats = self.path.complexity(learners)
        return found

    def never_judged(self, learners: Sequence[Any]) -> Floats:
        """Rows that every tree has drawn, per learner."""
        drawn = self.path.drawn(max(learner.trees for learner in learners))
        return np.array([drawn[: learner.trees].all(axis=0).sum() for learner in learners], np.float64)

    def model(self, learner: Any) -> Any:
        return self.path.model(learner)
