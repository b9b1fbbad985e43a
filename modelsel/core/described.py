"""Write down fitted objects and read them back: a frozen dataclass is described by its fields.

Arrays go to the arrays of a `Description`; numbers, texts, truth values, None and tuples of them to its facts.
"""

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Self, get_type_hints

import numpy as np

from modelsel.core.types import Description

SCALARS = (str, int, float, bool, type(None))


class Described:
    """The base of fitted dataclasses. A field that is neither an array nor a plain value takes a `describe` of one's own."""

    def describe(self) -> Description:
        """Write down all fields.

        Raises
        ------
        TypeError
            For a field of another type.
        """
        found = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]
        unknown = [name for name, value in found.items() if value is MISSING]
        if unknown:
            what = f"{type(self).__name__}.{unknown[0]} is neither an array nor a plain value"
            raise TypeError(f"{what}: it cannot be written down")
        arrays = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
        return Description("", {name: value for name, value in found.items() if name not in arrays}, arrays)

    @classmethod
    def of_description(cls, description: Description) -> Self:
        """Read back what `describe` wrote.

        Raises
        ------
        ValueError
            When a field is missing; `__post_init__` may raise it for values that cannot be.
        """
        known = {**{name: _tuples(value) for name, value in description.facts.items()}, **description.arrays}
        if missing := [field.name for field in fields(cls) if field.name not in known]:  # type: ignore[arg-type]
            raise ValueError(f"{cls.__name__} is not whole: {', '.join(missing)} is missing")
        return cls(**{field.name: known[field.name] for field in fields(cls)})  # type: ignore[arg-type]


def stored_numbers(fitted: object) -> float:
    """Count the numbers in the arrays of a fitted object."""
    return float(sum(value.size for value in vars(fitted).values() if isinstance(value, np.ndarray)))


def fitted_class(fit: Callable[..., object]) -> Any:
    """The class that a `fit` says that it returns: what reads its models back.

    Raises
    ------
    TypeError
        When the annotation is missing or names no dataclass that can be described.
    """
    found: object = get_type_hints(fit).get("return")
    if not (is_dataclass(found) and isinstance(found, type) and issubclass(found, Described)):
        what = f"{fit.__qualname__} has to be annotated with what it returns, a FittedModel or a FittedPreparer"
        raise TypeError(f"{what}; or `restore` and `describe` have to be written")
    return found


def _plain(value: object) -> object:
    """The value as it is written, MISSING where it cannot be."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        inner = [_plain(item) for item in value]
        return MISSING if any(item is MISSING or isinstance(item, np.ndarray) for item in inner) else inner
    return value if isinstance(value, (*SCALARS, np.ndarray)) else MISSING


def _tuples(value: object) -> object:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
