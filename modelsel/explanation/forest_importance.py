"""Impurity importance of a forest, its bias corrected: what the tests on a column do for rows that a tree has not drawn.

The forest is grown as the final model is, on all development rows; tests below the candidate's limits count for nothing.
Source: Li et al. (2019), *A debiased MDI feature importance measure for random forests*.
"""

from modelsel.core.fingerprint import generator
from modelsel.core.types import Candidate, Task, positions
from modelsel.learner.forests.inspection import impurity_importance
from modelsel.planning.make import fit_digest
from modelsel.record.documents import ImpurityShape
from modelsel.runner.evaluation.preprocessing import prepare, rows_digest


def has_rows_out_of_bag(learner: object) -> bool:
    """Say whether a learner is a forest whose trees draw their rows."""
    return not getattr(learner, "in_every_bag", True)


def forest_importance(candidate: Candidate, task: Task, seed: int) -> list[ImpurityShape]:
    """Take the importance of each column that the forest sees, the most important first: one job of the pool."""
    rows = positions(task)
    _, ready = prepare(candidate.preparers, task, rows, seed)
    path = candidate.learner.fit_path(ready, rows, generator(seed, rows_digest(task, rows), fit_digest(candidate)))
    found = impurity_importance(path, candidate.learner.trees, candidate.learner)
    lines: list[ImpurityShape] = [
        {"column": feature.name, "mean": float(mean)} for feature, mean in zip(ready.features, found, strict=True)
    ]
    return sorted(lines, key=lambda line: -line["mean"])
