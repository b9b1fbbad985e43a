"""The learners and spaces of `conf/` that take a kind of target, for whoever named one that does not."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from modelsel.config.build import LEARNER, Builder
from modelsel.config.build import learner as build
from modelsel.config.expand import SPACE, expand
from modelsel.config.folders import TWIN, Folders
from modelsel.core.errors import ConfigurationError
from modelsel.core.types import CLASS_TASKS, ClassTask, Feature, NumberTask, Task, TaskKind
from modelsel.learner.base import BaseLearner

AROUND = ("calibrated", "decided", "transformed_target", "object", "estimator", "greedy_ensemble")  # what is made of others
ROWS = 8


@dataclass(frozen=True)
class Readers:
    """Names of `conf/learner` and `conf/space`."""

    learners: tuple[str, ...]
    spaces: tuple[str, ...]

    def __str__(self) -> str:
        return f"learners: {', '.join(self.learners)}; spaces: {', '.join(self.spaces)}"


@cache
def readers(kind: TaskKind) -> Readers:
    """The learners that read a kind of target, and the spaces all of whose candidates do.

    Those of packages that are not installed are left out.

    >>> found = readers("numbers")
    >>> "cart" in found.learners, "naive_bayes" in found.learners, "trees" in found.spaces, "c45" in found.spaces
    (True, False, True, False)
    """
    folders, task = Folders.of(), _rows(kind)
    return Readers(
        tuple(name for name in _names(folders, LEARNER) if name not in AROUND and _reads(_learner(name, kind), task)),
        tuple(name for name in _names(folders, SPACE) if _all_read(name, folders, task)),
    )


def _names(folders: Folders, group: str) -> Iterator[str]:
    """Yield the names of a group that people write: a twin for numbers goes by the name of the other."""
    known = folders.options(group)
    return (name for name in known if not (name.endswith(TWIN) and name.removesuffix(TWIN) in known))


def _rows(kind: TaskKind) -> Task:
    """A handful of rows, to ask learners about."""
    row = np.arange(ROWS)
    given: dict[str, Any] = {
        "name": kind, "features": (Feature("x", "numeric"),), "values": row[:, None].astype(np.float64), "rows": row,
    }  # fmt: skip
    if kind == "numbers":
        return NumberTask(**given, target=row.astype(np.float64) + 0.5)
    return ClassTask(**given, classes=("a", "b"), target=(row % 2).astype(np.int32))


def _learner(name: str, kind: TaskKind) -> BaseLearner | None:
    """A learner of a file; None where it cannot be made."""
    try:
        return build(name, numbers=kind == "numbers")[0]
    except ConfigurationError:
        return None


def _reads(learner: BaseLearner | None, task: Task) -> bool:
    """Say whether a learner that could be made takes a task."""
    return learner is not None and task.kind in getattr(learner, "reads", CLASS_TASKS) and not any(learner.problems(task))


def _all_read(name: str, folders: Folders, task: Task) -> bool:
    """Say whether every candidate of a space takes a task."""
    builder = Builder(folders.for_numbers() if task.kind == "numbers" else folders)
    found = expand(name, builder).candidates
    return not builder.problems and bool(found) and all(_reads(one.learner, task) for one in found)
