"""Bases of preparers: a new one is a frozen dataclass with settings and `fit`.

    @dataclass(frozen=True)
    class Clip(BasePreparer):
        share: float = number(0.05, least=0, most=0.5)

        def fit(self, task, rows, rng) -> Clipped: ...

    @dataclass(frozen=True, eq=False)
    class Clipped(FittedPreparer):
        low: Floats
        high: Floats

        def apply(self, table): ...

What it may offer besides: `problems`, `fit_key` and `fit_path` (one fit answers many preparers), `describe` and `restore`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from modelsel.core.described import Described, given_by
from modelsel.core.protocols import AnyTable
from modelsel.core.spec import resolved
from modelsel.core.types import Description, Integers, Table, Task


class FittedPreparer(Described):
    """A fitted preparer. `apply` is what a new one has to say."""

    def apply(self, table: AnyTable) -> AnyTable:
        """Describe the rows of a table anew: `table.with_features(features, values)`.

        A row's description may depend on that row and on what was fitted, never on the other rows of the table.
        """
        raise NotImplementedError


class BasePreparer:
    """A preparer without path parameters. `fit` is what a new one has to say."""

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Any:
        """Fit on some rows of a task, which are all that it may look at.

        Returns
        -------
        FittedPreparer
            Something with `apply` for any table of these features.
        """
        raise NotImplementedError

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """List reasons why it cannot be used, by itself or on these features."""
        return ()

    def fit_key(self) -> dict[str, Any]:
        """The settings that a fit depends on: all, but for path parameters."""
        return resolved(self)

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> Any:
        """Fit once for all preparers of equal growing."""
        prepared = self.fit(task, rows, rng)
        if type(self).restore == BasePreparer.restore:
            given_by(type(self).fit)
            prepared.describe()  # what cannot be kept is said on the first fold, and not after the last
        return SinglePreparer(prepared)

    @classmethod
    def restore(cls, description: Description) -> Any:
        """Read a fitted preparer back; ValueError when it is not whole."""
        return given_by(cls.fit).restored(description)


@dataclass(frozen=True, eq=False)
class SinglePreparer:
    """One fitted preparer, which answers for itself alone."""

    fitted: Any

    def prepared(self, preparer: Any) -> Any:
        """Return what `fit` gave."""
        return self.fitted
