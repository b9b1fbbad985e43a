"""The features that, each taken alone, tell most about the class: the best n, or all above a threshold.

One ranking per fold is shared by all n and thresholds. Equal scores go by column order. A feature that tells something only
together with another one is not found this way. Scores: see `_merit`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from modelsel.core.spec import number, one_of, whole
from modelsel.core.types import Description, Floats, Integers, Table, Task
from modelsel.preparer.columns import Chosen, restored
from modelsel.preparer.discretising.merit import SCORES, merits


@dataclass(frozen=True)
class SelectTop:
    """Path parameters: `n`, `threshold`. At least one feature is kept."""

    score: str = one_of(*SCORES)
    n: int | None = whole(None, least=1, help="the best n")
    threshold: float | None = number(None, least=0, help="those that score more")

    selects: ClassVar[bool] = True

    def fit_key(self) -> dict[str, Any]:
        return {"kind": "select_top", "score": self.score}

    def problems(self, task: Table | None = None) -> Iterable[str]:
        if self.n is None and self.threshold is None:
            yield "select_top keeps everything: set n or threshold"

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "Merits":
        return Merits(merits(task, rows, self.score))

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Chosen:
        return self.fit_path(task, rows, rng).prepared(self)

    @staticmethod
    def restore(description: Description) -> Chosen:
        return restored("select_top", description)


@dataclass(frozen=True, eq=False)
class Merits:
    """A score per column."""

    scores: Floats

    def prepared(self, preparer: SelectTop) -> Chosen:
        """Keep the best columns, at least one of them."""
        ranked = np.argsort(-self.scores, kind="stable")[: preparer.n]
        if preparer.threshold is not None:
            ranked = ranked[: max(1, int((self.scores[ranked] > preparer.threshold).sum()))]
        return Chosen("select_top", np.sort(ranked).astype(np.int64))
