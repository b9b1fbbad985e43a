"""What the learners of a forest say of rows, noted as the votes of its trees are added up: classes and shares, or numbers."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from modelsel.core.types import Booleans, ClassOutputs, Codes, Floats, Integers, NumberOutputs, Outputs
from modelsel.forest.grid import Pairs
from modelsel.forest.growth import ForestData, NumberBallot


class Answers(Protocol):
    """Room for what each learner says of each row."""

    def block(self, rows: slice) -> "Answers":
        """Return the part of some rows."""
        ...

    def note(self, at: Integers, which: Integers, pairs: Pairs, votes: Integers, voters: int | Integers) -> None:
        """Note what learners `at` say, who count the pairs `which`, once so many trees have voted (per row, out of bag)."""
        ...

    def none_voted(self, place: int, rows: Booleans, ground: ForestData) -> None:
        """Note what a learner says of rows for which no tree has voted: what all rows say."""
        ...

    def outputs(self) -> Outputs:
        """Return all of it."""
        ...


def answers(ground: ForestData, learners: int, rows: int, scores: bool) -> Answers:
    """Make the room, of scores where they are asked for."""
    if ground.numbers is not None:
        return NumberAnswers(np.empty((learners, rows)), ground.numbers.ballot)
    return ClassAnswers(np.empty((learners, rows), np.int32), np.empty((learners, rows, ground.width)) if scores else None)


@dataclass(frozen=True, eq=False)
class ClassAnswers:
    """Learners × rows, and × classes."""

    predicted: Codes
    shares: Floats | None

    def block(self, rows: slice) -> "ClassAnswers":
        return ClassAnswers(self.predicted[:, rows], None if self.shares is None else self.shares[:, rows])

    def note(self, at: Integers, which: Integers, pairs: Pairs, votes: Integers, voters: int | Integers) -> None:
        """Elect a class; shares are those of the votes."""
        self.predicted[at] = pairs.elected(votes)[which]
        if self.shares is not None:
            whole = pairs.whole(votes)
            total = whole.sum(axis=2, keepdims=True)
            share = np.divide(whole, total, out=np.full(whole.shape, 1.0 / whole.shape[2]), where=total > 0)
            self.shares[at] = share.transpose(1, 0, 2)[which]

    def none_voted(self, place: int, rows: Booleans, ground: ForestData) -> None:
        """Note the class of most weight among all rows, and their shares."""
        everyone = np.bincount(ground.task.target[ground.rows], ground.task.row_weights[ground.rows], ground.width)
        self.predicted[place, rows] = everyone.argmax()
        if self.shares is not None:
            self.shares[place, rows] = everyone / everyone.sum()

    def outputs(self) -> ClassOutputs:
        return ClassOutputs(self.predicted, self.shares)


@dataclass(frozen=True, eq=False)
class NumberAnswers:
    """Learners × rows."""

    predicted: Floats
    ballot: NumberBallot

    def block(self, rows: slice) -> "NumberAnswers":
        return NumberAnswers(self.predicted[:, rows], self.ballot)

    def note(self, at: Integers, which: Integers, pairs: Pairs, votes: Integers, voters: int | Integers) -> None:
        """Take the mean of the votes; one without voters is noted afterwards."""
        with np.errstate(invalid="ignore"):
            self.predicted[at] = self.ballot.read(pairs.whole(votes)[:, :, 0].T, voters)[which]

    def none_voted(self, place: int, rows: Booleans, ground: ForestData) -> None:
        """Note the mean of all rows."""
        assert ground.numbers is not None
        own = ground.rows
        self.predicted[place, rows] = ground.numbers.means(ground.tallied(np.zeros_like(own), own, np.ones_like(own), 1))[0]

    def outputs(self) -> NumberOutputs:
        return NumberOutputs(self.predicted)
