"""An estimator object with its grid as an entry of a space: class, parameters and values as plain data where those suffice.

    {"lgbm": (LGBMClassifier(learning_rate=0.05), {"num_leaves": [15, 31]})}
    {"lgbm": {"learner": {"kind": "estimator", "estimator": "lightgbm.LGBMClassifier", "params": {"learning_rate": 0.05}},
              "sweep": {"params.num_leaves": [15, 31]}}}

Parameters that the class has by default are left out, so that an estimator made of them is the same candidate. The steps of a
pipeline before its last estimator become `steps` for all columns (`pipelines`). Whatever else scikit-learn can clone is held
in this process and named by its identity (`objects`):

    {"mine": (make_pipeline(ColumnTransformer([...]), SVC()), {"svc__C": [1, 10]})}
    {"mine": {"learner": {"kind": "object", "identity": "4f1e...", "estimator": "Pipeline(ColumnTransformer, SVC)"},
              "sweep": {"params.svc__C": [1, 10]}}}
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from modelsel.foreign import objects
from modelsel.foreign.allowed import NotAllowedError, class_of, near, public_name
from modelsel.foreign.parameters import is_plain, transformer_of

Grid = Mapping[str, Any]
Said = Callable[[Any, Grid], Mapping[str, Any]]
AsGiven = Callable[[Any], bool]


class NotPlainError(ValueError):
    """A value that cannot be written as plain values, by name."""


def space(entries: object, as_given: AsGiven = lambda _: False) -> object:
    """A space in which estimators, alone or with their grids, have become entries. Raises NotPlainError.

    `as_given(estimator)`: it is fitted as it is, also where plain values would do.

    >>> from sklearn.svm import SVC
    >>> space({"svm": (SVC(C=2), {"gamma": [0.1, 1]})})["svm"]["sweep"]
    {'params.gamma': [0.1, 1]}
    """
    if not isinstance(entries, Mapping):
        return entries
    return {name: _entry(value, as_given) for name, value in entries.items()}


def as_space(entries: Any) -> Any:
    """An estimator alone, or with its grid, as a space of one entry; anything else is returned as it is.

    >>> from sklearn.svm import SVC
    >>> list(as_space((SVC(), {"C": [1, 10]})))
    ['estimator']
    """
    alone: Any = entries[0] if _is_pair(entries) else entries
    return {"estimator": entries} if hasattr(alone, "get_params") and not inspect.isclass(alone) else entries


def of_objects(entries: object) -> bool:
    """Say whether all entries are estimator objects, before anything is written."""
    each = list(entries.values()) if isinstance(entries, Mapping) else []
    return bool(each) and all(hasattr(value[0] if _is_pair(value) else value, "get_params") for value in each)


def _entry(value: Any, as_given: AsGiven) -> object:
    """Write an estimator and its grid as an entry; anything else is returned as it is."""
    estimator, grid = value if _is_pair(value) else (value, {})
    if inspect.isclass(estimator) and hasattr(estimator, "get_params"):
        raise NotPlainError(f"{estimator.__name__} is a class: give an object, {estimator.__name__}()")
    if not hasattr(estimator, "get_params"):
        return value
    if not hasattr(_last(estimator), "get_params"):
        raise NotPlainError(f"{_last(estimator)!r}, the last step of a pipeline, is not an estimator")
    grids = list(grid) if isinstance(grid, list | tuple) else [grid]
    if any(not isinstance(one, Mapping) or not all(map(_values, one.values())) for one in grids):
        raise NotPlainError("a grid is a mapping of parameters to lists of values, or distributions: {'num_leaves': [15, 31]}")
    try:
        if as_given(estimator):
            raise NotPlainError("it is wanted as it is")
        learner, sweeps = _recipe(estimator), [_sweep(estimator, _last(estimator), one) for one in grids]
    except NotPlainError:
        learner, sweeps = _hold_object(estimator), [_held_sweep(estimator, one) for one in grids]
    return {"learner": learner, "sweep": sweeps if len(sweeps) > 1 else sweeps[0]}


def _values(said: object) -> bool:
    """Say whether it is a list of values, a distribution, or a distribution in the sweep grammar."""
    return _is_distribution(said) or (_lists(said) and not isinstance(said, str))


def _is_distribution(said: object) -> bool:
    named = isinstance(said, str) and said.partition("(")[0].strip() in ("uniform", "log_uniform", "integers")
    return named or (hasattr(said, "rvs") and not inspect.isclass(said))


def _write_distribution(said: object) -> Any:
    """A distribution as the sweep grammar writes it, else as the text that names it. Raises NotPlainError."""
    if isinstance(said, str):
        return said
    kind = getattr(getattr(said, "dist", None), "name", "")
    args: tuple[Any, ...] = getattr(said, "args", ())
    if not getattr(said, "kwds", None) and len(args) == 2 and all(isinstance(one, int | float) for one in args):
        if kind in ("loguniform", "reciprocal"):
            return f"log_uniform({args[0]!r}, {args[1]!r})"
        if kind == "uniform":
            return f"uniform({args[0]!r}, {args[0] + args[1]!r})"
        if kind == "randint" and all(isinstance(one, int) for one in args):
            return f"integers({args[0]}, {args[1] - 1})"
    try:
        return f"{objects.PREFIX}:{objects.hold(said)}:{objects.describe_object(said)}"
    except objects.NotClonableError as error:
        raise NotPlainError(str(error)) from error


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def _last(estimator: Any) -> object:
    return estimator.steps[-1][1] if is_pipeline(estimator) else estimator


def _recipe(estimator: Any) -> dict[str, object]:
    """Class and parameters of an estimator, or of the last step of a pipeline. Raises NotPlainError where they do not do."""
    last = _last(estimator)
    try:
        for _, step in estimator.steps[:-1] if is_pipeline(estimator) else ():
            if step is not None and not isinstance(step, str):
                transformer_of(public_name(type(step)))
        vouched = hasattr(last, "get_params") and class_of(public_name(type(last))) is type(last)
    except NotAllowedError as error:
        raise NotPlainError(str(error)) from error
    if not vouched:
        raise NotPlainError(f"{last!r}, the last step of a pipeline, is not an estimator")
    return {"kind": "estimator", "estimator": public_name(type(last)), "params": _params(last)}


# An object that is named by its identity, and the values of its grid.


def _hold_object(estimator: object) -> dict[str, object]:
    """Name an object that this process holds from now on. Raises NotPlainError where it cannot be cloned."""
    try:
        return {"kind": "object", "identity": objects.hold(estimator), "estimator": describe_value(estimator), "params": {}}
    except objects.NotClonableError as error:
        raise NotPlainError(str(error)) from error


def _held_sweep(estimator: Any, grid: Grid) -> dict[str, list[object]]:
    """A grid over the parameters of an object, in scikit-learn's order. Raises NotPlainError for one that it does not have."""
    known = estimator.get_params(deep=True)
    for name in grid:
        if name not in known and not any(name.startswith(f"{other}__") for other in grid):
            raise NotPlainError(f"{type(estimator).__name__} has no parameter {name!r}{near(name, known)}")
    try:
        return {
            f"params.{name}": _write_distribution(grid[name])
            if _is_distribution(grid[name])
            else [*map(objects.write_parameter, grid[name])]
            for name in sorted(grid)
        }
    except objects.NotClonableError as error:
        raise NotPlainError(str(error)) from error


def describe_value(estimator: object) -> str:
    """Describe an object in a few words.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> describe_value(make_pipeline("passthrough", SVC()))
    'Pipeline(passthrough, SVC)'
    """
    name = type(estimator).__name__
    inner = [
        step if isinstance(step, str) else describe_value(step)
        for _, step in getattr(estimator, "steps", ())
        if step is not None
    ]
    return f"{name}({', '.join(inner)})" if inner else name


def _params(estimator: Any, others: Mapping[str, object] | None = None) -> dict[str, object]:
    """The parameters that were given, with other values over them."""
    given, usual = estimator.get_params(deep=False), _usual(type(estimator))
    own = {key: value for key, value in given.items() if key not in usual or repr(usual[key]) != repr(value)}
    return _plain({**own, **(others or {})}, type(estimator).__name__)


def _sweep(estimator: object, last: object, grid: Any) -> dict[str, list[object]]:
    """Write a grid as a sweep over parameters, and over lists of steps."""
    steps: list[Any] = []
    if is_pipeline(estimator):
        try:
            steps, grid = divide_grid(estimator, grid, _params)
        except KeyError as error:
            what = f"of {type(estimator).__name__}: {error} is not a parameter of a step, STEP__PARAMETER"
            raise NotPlainError(what) from error
    kind = type(last).__name__
    swept = {
        f"params.{key}": _write_distribution(values)
        if _is_distribution(values)
        else [_plain({key: one}, kind)[key] for one in values]
        for key, values in grid.items()
    }
    return {"steps.all": steps, **swept} if any(steps) else swept


def _lists(values: object) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, Mapping)


def _usual(kind: Any) -> Mapping[str, object]:
    """Default parameters; empty for a class that cannot be made without any."""
    try:
        return dict(kind().get_params(deep=False))
    except TypeError:
        return {}


def _plain(params: Mapping[str, object], kind: str) -> dict[str, Any]:
    """Reduce parameters to plain values; others are an error that names them."""
    plain = {key: _as_plain_list(value) for key, value in params.items()}
    strange = [f"{key!r} (a {type(value).__name__})" for key, value in plain.items() if not is_plain(value)]
    if strange:
        raise NotPlainError(f"of {kind} cannot be written as plain values: {', '.join(strange)}")
    return plain


def _as_plain_list(value: object) -> object:
    """NumPy's scalars and arrays, ranges and tuples as what they say."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_as_plain_list(item) for item in value] if isinstance(value, list | tuple | range) else value


# A pipeline object with its grid: the lists of steps that it stands for, and what is left for its last estimator.
#
# (make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]})
# [[{"kind": "sklearn.preprocessing.StandardScaler"}]], {"C": [1, 10]}


def is_pipeline(estimator: object) -> bool:
    """Say whether it is steps in a row."""
    return hasattr(estimator, "named_steps") and bool(getattr(estimator, "steps", ()))


def divide_grid(pipeline: Any, grid: Grid, said: Said) -> tuple[list[list[dict[str, object]]], dict[str, object]]:
    """Every list of steps before the last that the grid stands for, and the grid of the last.

    `said(step, values)` tells what of a step was given, with these values over it. Raises KeyError for a parameter of no step.
    """
    *before, (last, _) = pipeline.steps
    kept = {name: step for name, step in before if step is not None and not isinstance(step, str)}
    own: dict[str, object] = {}
    others: dict[str, dict[str, object]] = {name: {} for name in kept}
    for key, values in grid.items():
        name, _, parameter = key.partition("__")
        if not parameter or name not in (last, *kept):
            raise KeyError(key)
        if name != last and _is_distribution(values):
            raise NotPlainError(f"{key} of a step is drawn")
        (own if name == last else others[name])[parameter] = values
    return [list(steps) for steps in product(*(_ways_to_make(step, others[name], said) for name, step in kept.items()))], own


def _ways_to_make(step: object, grid: Grid, said: Said) -> list[dict[str, object]]:
    """Every way in which a step is made."""
    chosen = (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))
    return [{"kind": public_name(type(step)), **said(step, values)} for values in chosen]
