"""Generated rows that are like a task's and none of them: what a probe is made on."""

import numpy as np

from modelsel.core.types import Feature, Floats, Integers, Task, positions


def like(task: Task, rows: int, seed: int = 0) -> Task:
    """Generated rows with the task's features, classes and gaps; the class leans on up to five features, with noise."""
    rng = np.random.default_rng(seed)
    columns = [_column(feature, task.values[:, at], rows, rng) for at, feature in enumerate(task.features)]
    values = np.asfortranarray(np.column_stack(columns)) if columns else np.zeros((rows, 0))
    known = np.nan_to_num(values[:, :5])
    lean = ((known - known.mean(axis=0)) / (known.std(axis=0) + 1e-9)).sum(axis=1) + rng.normal(size=rows)
    ranks = np.argsort(np.argsort(lean))
    target = (ranks * len(task.classes) // rows).astype(np.int32)
    weights = None if task.weights is None else np.ones(rows)
    return Task(name="generated", features=task.features, values=values, rows=np.arange(rows, dtype=np.int64),
                classes=task.classes, target=target, weights=weights)  # fmt: skip


def _column(feature: Feature, like_: Floats, rows: int, rng: np.random.Generator) -> Floats:
    """Levels alike; numbers about as coarse as the first thousand are; gaps in proportion."""
    if feature.kind == "numeric":
        distinct = len(np.unique(like_[:1000]))
        drawn = rng.normal(size=rows)
        drawn = np.round(drawn * distinct / 5) if distinct < 100 else drawn
    else:
        drawn = rng.integers(max(len(feature.levels), 1), size=rows).astype(np.float64)
    drawn[rng.random(rows) < np.isnan(like_).mean()] = np.nan
    return drawn


def split(task: Task, share: float) -> tuple[Task, Integers, Integers]:
    """Divide rows as a fold would, into analysis and assessment rows."""
    rows = positions(task)
    cut = min(max(1, round(share * len(task))), len(task) - 1)
    return task, rows[:cut], rows[cut:]
