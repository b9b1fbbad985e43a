"""A pipeline object with its grid: the lists of steps that it stands for, and what is left for its last estimator.

(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]})
[[{"kind": "sklearn.preprocessing.StandardScaler"}]], {"C": [1, 10]}
"""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from modelsel.foreign.allowed import public_name

Grid = Mapping[str, Any]
Said = Callable[[Any, Grid], Mapping[str, Any]]


def is_pipeline(estimator: Any) -> bool:
    """Say whether it is steps in a row."""
    return hasattr(estimator, "named_steps") and bool(getattr(estimator, "steps", ()))


def divided(pipeline: Any, grid: Grid, said: Said) -> tuple[list[list[dict[str, Any]]], dict[str, Any]]:
    """Every list of steps before the last that the grid stands for, and the grid of the last.

    `said(step, values)` tells what of a step was given, with these values over it. Raises KeyError for a parameter of no step.
    """
    *before, (last, _) = pipeline.steps
    kept = {name: step for name, step in before if step is not None and not isinstance(step, str)}
    own: dict[str, Any] = {}
    others: dict[str, dict[str, Any]] = {name: {} for name in kept}
    for key, values in grid.items():
        name, _, parameter = key.partition("__")
        if not parameter or name not in (last, *kept):
            raise KeyError(key)
        (own if name == last else others[name])[parameter] = values
    return [list(steps) for steps in product(*(_made(step, others[name], said) for name, step in kept.items()))], own


def _made(step: Any, grid: Grid, said: Said) -> list[dict[str, Any]]:
    """Every way in which a step is made."""
    chosen = (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))
    return [{"kind": public_name(type(step)), **said(step, values)} for values in chosen]
