"""Objects that cannot be written as plain values: held in the process that made them, named elsewhere by their identity.

A configuration is data and cannot hold an object. It names one by its identity, as it names a table in memory by its content,
and whoever builds the study from it in this process finds the object here. A parameter that is not a plain value is a text of
the form

    object:IDENTITY:StandardScaler()

Objects go to workers of one's own process, and are never read from a record.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from modelsel.foreign.identity import NoIdentityError, identity
from modelsel.foreign.interface import SklearnEstimator
from modelsel.foreign.parameters import is_plain

PREFIX = "object"
LONGEST = 60  # characters of what is shown of an object
RESAMPLED = "fit_resample"
_HELD: dict[str, object] = {}


class NotClonableError(ValueError):
    """An object that cannot be a candidate, with the reason."""


def hold(value: object) -> str:
    """Make an object known by its identity, and return that. Raises NotClonableError where it has none, or has no copy."""
    try:
        name = identity(value)
    except NoIdentityError as error:
        raise NotClonableError(f"{describe_object(value)}: {error}") from error
    if name not in _HELD:
        _HELD[name] = copy_unfitted(value) if hasattr(value, "get_params") and not inspect.isclass(value) else value
    return name


def held_object(name: str) -> Any:
    """The object of an identity; KeyError where this process has not seen it."""
    return _HELD[name]


def is_held(name: str) -> bool:
    """Say whether this process has seen the object."""
    return name in _HELD


def copy_unfitted(value: object) -> SklearnEstimator:
    """An unfitted copy, as scikit-learn makes it. Raises NotClonableError."""
    from sklearn.base import clone

    try:
        copy: SklearnEstimator = clone(value)
        return copy
    except Exception as error:
        raise NotClonableError(f"{type(value).__name__} cannot be cloned: {error}") from error


def write_parameter(value: object) -> object:
    """A parameter as plain data: itself, or the text that names it.

    >>> write_parameter(0.5), write_parameter([1, 2]), write_parameter(len).split(":")[::2]
    (0.5, [1, 2], ['object', '<built-in function len>'])
    """
    if is_plain(value) and not isinstance(value, tuple) and not _is_token(value) and not _inner_tuple(value):
        return value
    return f"{PREFIX}:{hold(value)}:{describe_object(value)}"


def read_parameter(value: object) -> Any:
    """The parameter that `write_parameter` wrote; KeyError for an object that this process has not seen."""
    return held_object(str(value).split(":")[1]) if _is_token(value) else value


def is_distribution(value: object) -> bool:
    """Say whether a text names an object that values are drawn from."""
    return _is_token(value) and hasattr(_HELD.get(str(value).split(":")[1]), "rvs")


def names(params: Mapping[str, object]) -> Iterator[str]:
    """The identities of the objects among some parameters."""
    return (str(value).split(":")[1] for value in params.values() if _is_token(value))


def describe_object(value: object) -> str:
    """An object in a few words, the same in every process."""
    text = re.sub(r" at 0x[0-9a-f]+", "", " ".join(repr(value).split()))
    if hasattr(value, "__qualname__"):
        text = text if text.startswith("<built-in") else str(value.__qualname__)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _is_token(value: object) -> bool:
    return isinstance(value, str) and re.match(rf"{PREFIX}:[0-9a-f]{{32}}:", value) is not None


def _inner_tuple(value: object) -> bool:
    """Say whether a list holds tuples, which a file would hand back as lists."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(isinstance(one, tuple) or _inner_tuple(one) for one in inner)


# To a worker: the bytes of an object, made once, and read where our own process sends them.


@cache
def pack_object(name: str) -> bytes:
    """An object as bytes, code of a notebook or script included. Raises NotClonableError where it cannot travel."""
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(held_object(name)))
    except Exception as error:
        raise NotClonableError(f"{describe_object(held_object(name))} cannot be sent to a worker: {error}") from error


def unpack_object(name: str, data: bytes) -> None:
    """Hold an object that arrived from the process that started this one."""
    import cloudpickle

    if name not in _HELD:
        _HELD[name] = cloudpickle.loads(data)


def send_fitted(value: object) -> bytes:
    """Return the fitted object as bytes for the process that started this one."""
    import cloudpickle

    return bytes(cloudpickle.dumps(value))


def receive_fitted(data: bytes) -> Any:
    """Read the fitted object that a worker of this process has sent."""
    import cloudpickle

    return cloudpickle.loads(data)


# What of an object has to be refused before any fit.


def refusals(estimator: SklearnEstimator) -> Iterator[str]:
    """Reasons why an estimator would know more of the rows that it is judged on than a fit on the others tells it."""
    for name, part in parts(estimator):
        kind = type(part).__name__
        if kind == "FrozenEstimator" or getattr(part, "prefit", False) is True or getattr(part, "cv", None) == "prefit":
            yield f"{name or kind} ({kind}) is fitted already, on rows that it may be judged on: hand over what is not fitted"
        if _asks_for_the_target(part):
            yield f"{name or kind} ({kind}) asks for the target where rows are transformed, and rows to be predicted have none"


def parts(estimator: SklearnEstimator) -> Iterator[tuple[str, object]]:
    """An estimator and all that stand inside it, by their dotted names.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> [name for name, _ in parts(make_pipeline(SVC()))]
    ['', 'svc']
    """
    yield "", estimator
    for name, part in estimator.get_params(deep=True).items():
        if hasattr(part, "get_params") and not inspect.isclass(part):
            yield name, part


def _asks_for_the_target(part: object) -> bool:
    """Say whether `transform` cannot be called with the rows alone."""
    method = getattr(type(part), "transform", None)
    if method is None or not inspect.isfunction(method):
        return False
    rows = list(inspect.signature(method).parameters.values())[2:]
    needed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return any(one.default is inspect.Parameter.empty and one.kind in needed for one in rows)


# What is told to an estimator beside its user's parameters.


def set_seeds(estimator: SklearnEstimator, seed: int) -> SklearnEstimator:
    """The estimator with a number in the place of every `random_state` that is None, at any depth, whatever their order.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> set_seeds(DecisionTreeClassifier(), 0).random_state == set_seeds(DecisionTreeClassifier(), 0).random_state
    True
    """
    import numpy as np

    found = estimator.get_params(deep=True)
    free = sorted(name for name, value in found.items() if name.rpartition("__")[2] == "random_state" and value is None)
    numbers = np.random.default_rng(seed).integers(2**31 - 1, size=len(free)).tolist()
    return estimator.set_params(**dict(zip(free, numbers, strict=True))) if free else estimator


def weights_name(estimator: object) -> str | None:
    """The keyword under which `fit` takes weights of rows, a pipeline's for its last step; None where it takes none."""
    from sklearn.utils.validation import has_fit_parameter

    steps = getattr(estimator, "steps", None)
    if steps:
        name, last = steps[-1]
        inner = weights_name(last) if hasattr(last, "fit") else None
        return None if inner is None else f"{name}__{inner}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None
