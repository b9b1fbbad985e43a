"""Seconds that a fitted candidate takes for 1,000 rows: the least of a few tries, after one that warms up.

It is measured here and now, so it is part of no digest, of no choice and of no comparison of runs.
"""

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from modelsel.core.types import Candidate, Table, Task
from modelsel.runner.evaluation.cell import unless_final
from modelsel.runner.final_fit import Final, fit

ROWS, TRIES = 1000, 3
ENOUGH = 0.5  # seconds after which no further try is made


def seconds(model: Final, table: Table) -> float:
    """Time the prediction of 1,000 rows of the table, repeated in order where it has fewer."""
    rows = np.resize(np.arange(len(table)), ROWS)
    some = Table(
        name=table.name, features=table.features, values=table.values[rows], rows=table.rows[rows], source=table.source
    )
    tries: list[float] = []
    for _ in range(1 + TRIES):
        start = perf_counter()
        model.predict(some)
        tries.append(perf_counter() - start)
        if sum(tries) > ENOUGH:
            break
    return min(tries[1:] or tries)


def of_candidates(candidates: Sequence[Candidate], task: Task, seed: int) -> dict[str, float]:
    """Time candidates by id, each fitted on all rows of the task; one that cannot be fitted is left out."""
    found: dict[str, float] = {}
    for candidate in candidates:
        try:
            found[candidate.id] = seconds(fit(candidate, task, seed), task)
        except BaseException as problem:
            unless_final(problem)  # it was assessed in every fold, and that is what counts: here it has no time
    return found
