"""Interfaces that learners, calibrators and decisions ask of parts above them: a scheme, a preparation step, a measure."""

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from modelsel.core.types import AnyTable, AnyTask, Description, Floats, Integers, Outputs, Resampling, Table, Task


class FoldScheme(Protocol):
    """A scheme, for a learner that divides its analysis rows once more."""

    def problems(self, task: Task) -> Iterable[str]:
        """List reasons why it cannot divide these rows."""
        ...

    def instantiate(self, task: Task, seed: int) -> Resampling:
        """Make the folds."""
        ...


class FittedStep(Protocol):
    """A fitted preparation step."""

    def apply(self, table: AnyTable) -> AnyTable:
        """Return the table as the step makes it."""
        ...

    def describe(self) -> Description:
        """Write it down."""
        ...


class PreparationStep(Protocol):
    """A preparation step, for a learner that fits it inside its inner folds."""

    def fit(self, task: AnyTask, rows: Integers, rng: np.random.Generator) -> FittedStep:
        """Fit it on some rows."""
        ...

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """List reasons why it cannot be used."""
        ...


class ScoringMeasure(Protocol):
    """A measure, for a decision that looks for the threshold of best score."""

    @property
    def higher_is_better(self) -> bool:
        """Say which way is better."""
        ...

    @property
    def needs_scores(self) -> bool:
        """Say whether it reads class scores."""
        ...

    def score(self, truth: Any, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        """Compute a score per candidate."""
        ...


@runtime_checkable
class ModelRecipe(Protocol):
    """Recipe of a fitted model, in the place of one that could not be stored: it answers once it is fitted again."""

    def refit(self, task: AnyTask, rows: Integers) -> Any:
        """Fit it again on the same rows. Raises ValueError where the rows, or the versions, are others."""
        ...
