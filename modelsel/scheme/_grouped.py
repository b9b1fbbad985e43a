"""What the group schemes share: no group is on both sides of a fold."""

from collections.abc import Iterator

import numpy as np

from modelsel.core.spec import kind_of
from modelsel.core.types import Codes, Integers, Resampling, Task
from modelsel.scheme._folds import resampling
from modelsel.statistics.sampling import deal_groups, equal_rows


def group_problems(task: Task, folds: int, scheme: object) -> Iterator[str]:
    if task.groups is None:
        yield f"scheme={kind_of(scheme)} needs groups: set dataset.groups=COLUMN"
    elif (count := len(np.unique(task.groups))) < folds:
        yield f"{folds} folds of {count} groups: scheme.folds may be at most {count}"


def grouped(scheme: object, task: Task, seed: int, folds: int, strata: Codes | None, together: bool) -> Resampling:
    """Deal whole groups into folds; with `together`, groups that share an identical row count as one."""
    assert task.groups is not None, "problems() was not asked"
    groups = _joined(task.groups, equal_rows(task.values)) if together else task.groups
    return resampling(scheme, task, seed, 1, lambda rng: deal_groups(groups, [1.0] * folds, rng, strata))


def _joined(groups: Integers, same: Integers) -> Integers:
    """The connected components of rows that share a group or are identical: the least label spreads until it is at rest."""
    label = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    while True:
        before = label.copy()
        for key in (same, groups):
            _, index = np.unique(key, return_inverse=True)
            least = np.full(index.max(initial=-1) + 1, len(label), np.int64)
            np.minimum.at(least, index, label)
            label = least[index]
        if np.array_equal(label, before):
            return label
