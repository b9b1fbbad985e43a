"""Pruning: 200 strengths of each pruner, pruned and counted, in units of growing the tree once (12,000 × 21, waves)."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from benchmarks.common.timing import Row, side_by_side
from modelsel.core.spec import make
from modelsel.core.types import Feature, Task
from modelsel.learner.tree import Tree
from modelsel.learner.trees.path import TreePath

NESTED = {
    "cost_complexity": ("alpha", np.geomspace(1e-5, 0.1, 200)),
    "pessimistic": ("standard_errors", np.linspace(0, 3, 200)),
    "critical_value": ("threshold", np.linspace(0, 0.5, 200)),
    "mdl": ("weight", np.linspace(0, 3, 200)),
}
AFRESH = {"minimum_error": ("m", np.linspace(0.5, 100, 200)), "error_based": ("confidence", np.linspace(0.01, 0.5, 200))}
DIVIDED = {
    "fractional": "Raised in NumPy, a node at a time. More is new than the siblings' rows: a row without a value is divided by "
    "the shares of all rows that come, so that their coming changes the parts of the branch's own rows, and each trial sends "
    "every row of the node down again.",
    "surrogate": "Raised in NumPy, a node at a time: the kernel's walk knows no surrogates. Rows go whole: nothing else "
    "stands in its way.",
}


def rows() -> Iterable[Row]:
    task = waves(12_000)
    for kinds, most in ((NESTED, 3.0), (AFRESH, 30.0)):
        for kind, (knob, values) in kinds.items():
            more = {"raising": False} if kind == "error_based" else {}
            yield _sweep(task, kind, [{knob: float(value), **more} for value in values], most)
    raised: list[dict[str, object]] = [{"confidence": c} for c in (0.5, 0.25, 0.1, 0.01)]
    yield _sweep(task, "error_based", raised, 3.0, "raising")
    holes = with_holes(waves(4_000), 0.1)
    for missing in ("node_mode", "branch", "fractional", "surrogate"):
        row = _sweep(holes, "error_based", raised, 3.0, f"raising, 4,000 rows, 10 % missing by {missing}", missing)
        yield replace(row, note=f"{row.note} {DIVIDED.get(missing, '')}".strip())


def _sweep(
    task: Task, kind: str, settings: list[dict[str, object]], most: float | None, note: str = "", missing: str = "node_mode"
) -> Row:
    """Time all strengths against growing the tree."""
    learners = [Tree(min_leaf=2.0, missing=missing, pruner=make("pruner", kind, **values)) for values in settings]

    def grow() -> TreePath:
        return learners[0].fit_path(task, np.arange(len(task)), np.random.default_rng(0))

    def sweep() -> object:
        return replace(path).complexity(learners)  # the same tree, of which nothing has been asked yet

    path = grow()
    sizes = [grow().complexity([learner])[0] for learner in learners[:: max(1, len(learners) // 8)]]
    assert sizes == path.complexity(learners)[:: max(1, len(learners) // 8)].tolist()
    work = f"{len(settings)} strengths of {kind} {note}".strip()
    row = side_by_side(work, "growing the tree once (left)", grow, sweep, equal="leaves of each tree pruned alone")
    return replace(row, most=most, note=f"{path.complexity(learners[:1])[0]:.0f} leaves at the first strength.")


def with_holes(task: Task, share: float) -> Task:
    """The task with a share of its cells missing."""
    values = np.array(task.values)
    values[np.random.default_rng(5).random(values.shape) < share] = np.nan
    return replace(task, values=np.asfortranarray(values))


def waves(rows: int) -> Task:
    """Breiman's waveform with its second class against the rest."""
    rng = np.random.default_rng(1)
    place = np.arange(1, 22)
    humps = np.array([np.maximum(6 - abs(place - middle), 0) for middle in (11, 15, 7)])
    kind, mix = rng.integers(0, 3, rows), rng.random((rows, 1))
    first, second = np.array([(0, 1), (0, 2), (1, 2)])[kind].T
    values = mix * humps[first] + (1 - mix) * humps[second] + rng.normal(size=(rows, 21))
    features = tuple(Feature(f"x{i}", "numeric") for i in place)
    return Task(name="waves", features=features, values=np.asfortranarray(values), rows=np.arange(rows),
                classes=("rest", "second"), target=(kind == 2).astype(np.int32))  # fmt: skip
