"""An estimator object with its grid as an entry of a space: class, parameters and values as plain data, or why that cannot be.

    {"lgbm": (LGBMClassifier(learning_rate=0.05), {"num_leaves": [15, 31]})}
    {"lgbm": {"learner": {"kind": "estimator", "estimator": "lightgbm.LGBMClassifier", "params": {"learning_rate": 0.05}},
              "sweep": {"params.num_leaves": [15, 31]}}}

Parameters that the class has by default are left out, so that an estimator made of them is the same candidate. The steps of a
pipeline before its last estimator become `steps` for all columns (`pipelines`).
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from modelsel.foreign.allowed import public_name
from modelsel.foreign.parameters import is_plain


class NotPlainError(ValueError):
    """A value that cannot be written as plain values, by name."""


def space(entries: object) -> Any:
    """A space in which estimators, alone or with their grids, have become entries. Raises NotPlainError.

    >>> from sklearn.svm import SVC
    >>> space({"svm": (SVC(C=2), {"gamma": [0.1, 1]})})["svm"]["sweep"]
    {'params.gamma': [0.1, 1]}
    """
    if not isinstance(entries, Mapping):
        return entries
    return {name: _entry(value) for name, value in entries.items()}


def _entry(value: Any) -> Any:
    """Write an estimator and its grid as an entry; anything else is returned as it is."""
    estimator, grid = value if isinstance(value, tuple) and len(value) == 2 else (value, {})
    if inspect.isclass(estimator) and hasattr(estimator, "get_params"):
        raise NotPlainError(f"{estimator.__name__} is a class: give an object, {estimator.__name__}()")
    if not hasattr(estimator, "get_params"):
        return value
    last = estimator.steps[-1][1] if is_pipeline(estimator) else estimator
    if not hasattr(last, "get_params"):
        raise NotPlainError(f"{last!r}, the last step of a pipeline, is no estimator")
    learner = {"kind": "estimator", "estimator": public_name(type(last)), "params": _params(last)}
    sweeps = [_sweep(estimator, last, one) for one in (grid if isinstance(grid, list | tuple) else [grid])]
    return {"learner": learner, "sweep": sweeps if len(sweeps) > 1 else sweeps[0]}


def _params(estimator: Any, others: Mapping[str, object] | None = None) -> dict[str, Any]:
    """The parameters that were given, with other values over them."""
    given, usual = estimator.get_params(deep=False), _usual(type(estimator))
    own = {key: value for key, value in given.items() if key not in usual or repr(usual[key]) != repr(value)}
    return _plain({**own, **(others or {})}, type(estimator).__name__)


def _sweep(estimator: object, last: object, grid: object) -> dict[str, list[Any]]:
    """Write a grid as a sweep over parameters, and over lists of steps."""
    if not isinstance(grid, Mapping) or any(isinstance(values, str) or not _lists(values) for values in grid.values()):
        raise NotPlainError("a grid is a mapping of parameters to lists of values: {'num_leaves': [15, 31]}")
    steps: list[Any] = []
    if is_pipeline(estimator):
        try:
            steps, grid = divided(estimator, grid, _params)
        except KeyError as error:
            raise NotPlainError(f"of {type(estimator).__name__}: {error} is no parameter of a step, STEP__PARAMETER") from error
    kind = type(last).__name__
    swept = {f"params.{key}": [_plain({key: one}, kind)[key] for one in values] for key, values in grid.items()}
    return {"steps.all": steps, **swept} if any(steps) else swept


def _lists(values: object) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, Mapping)


def _usual(kind: Any) -> Mapping[str, Any]:
    """Default parameters; empty for a class that cannot be made without any."""
    try:
        return dict(kind().get_params(deep=False))
    except TypeError:
        return {}


def _plain(params: Mapping[str, object], kind: str) -> dict[str, Any]:
    """Reduce parameters to plain values; others are an error that names them."""
    plain = {key: _listed(value) for key, value in params.items()}
    strange = [f"{key!r} (a {type(value).__name__})" for key, value in plain.items() if not is_plain(value)]
    if strange:
        raise NotPlainError(f"of {kind} cannot be written as plain values: {', '.join(strange)}")
    return plain


def _listed(value: object) -> Any:
    """NumPy's scalars and arrays, ranges and tuples as what they say."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_listed(item) for item in value] if isinstance(value, list | tuple | range) else value


# A pipeline object with its grid: the lists of steps that it stands for, and what is left for its last estimator.
#
# (make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]})
# [[{"kind": "sklearn.preprocessing.StandardScaler"}]], {"C": [1, 10]}

Grid = Mapping[str, Any]
Said = Callable[[Any, Grid], Mapping[str, Any]]


def is_pipeline(estimator: object) -> bool:
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


def _made(step: object, grid: Grid, said: Said) -> list[dict[str, Any]]:
    """Every way in which a step is made."""
    chosen = (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))
    return [{"kind": public_name(type(step)), **said(step, values)} for values in chosen]
