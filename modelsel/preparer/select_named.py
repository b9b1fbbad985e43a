"""Features chosen by name: a subset that the person declares, one candidate among others."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.spec import plain
from modelsel.core.types import Description, Integers, Table, Task, names
from modelsel.foreign.allowed import near
from modelsel.preparer.base import BasePreparer, Chosen, restore_columns


@dataclass(frozen=True)
class SelectNamed(BasePreparer):
    """Nothing is fitted. A name that a step before it has changed is the one that counts."""

    features: tuple[str, ...] = plain((), help="names of the features to keep")

    selects: ClassVar[bool] = True

    def fit_key(self) -> dict[str, object]:
        return {"kind": "select_named"}

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Yield a problem where no feature is named, or one that is not there."""
        if not self.features:
            yield "select_named keeps nothing: give preparer.features"
        known = () if task is None else names(task.features)
        for name in self.features:
            if known and name not in known:
                yield f"there is no feature {name!r}" + (near(name, known) or f": {', '.join(known)}")

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "Names":
        return Names(names(task.features))

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Chosen:
        return self.fit_path(task, rows, rng).prepared(self)

    @staticmethod
    def restore(description: Description) -> Chosen:
        return restore_columns("select_named", description)


@dataclass(frozen=True)
class Names:
    """The names of the table's features."""

    known: tuple[str, ...]

    def prepared(self, preparer: SelectNamed) -> Chosen:
        """Find the positions of the named features; a name that is not there is an error."""
        missing = sorted(set(preparer.features) - set(self.known))
        if missing:
            raise ValueError(f"there is no feature {missing[0]!r}")
        columns = [column for column, name in enumerate(self.known) if name in preparer.features]
        return Chosen("select_named", np.array(columns, np.int64))
