"""One fit for many: what a sharing adapter promises, and how it is found.

An adapter belongs to some classes, by their full names (a subclass is another class, of which nothing is known), and to one
of their parameters. `shares` states its conditions on the other parameters: each has to be on its list, since what is unknown
may read the number of rounds. Where it says no, every candidate is fitted by itself.
"""

import copy
import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats

Answer = tuple[NDArray[Any], Floats | None]  # predicted class (or number) per row, class scores


class Adapter:
    """The base of adapters: a number of rounds or trees whose first k are those of a fit with k."""

    classes: tuple[str, ...] = ()
    parameter = "n_estimators"
    default: object = 100
    unit = "trees"
    harmless: frozenset[str] = frozenset()  # other parameters that leave the first k rounds what they are

    def shares(self, params: Mapping[str, object]) -> bool:
        """Say whether candidates of these parameters may share a fit."""
        known = set(params) <= self.harmless | {self.parameter}
        return known and self.is_valid(self.value(params)) and self.allows(params)

    def allows(self, params: Mapping[str, object]) -> bool:
        """Conditions on values of harmless parameters."""
        return True

    def is_valid(self, value: object) -> bool:
        """Say whether a shared fit can answer this value."""
        return isinstance(value, int) and not isinstance(value, bool) and value >= 1

    def value(self, params: Mapping[str, object]) -> Any:
        """The parameter's value, or the library's default."""
        return params.get(self.parameter, self.default)

    def side(self, params: Mapping[str, object]) -> str:
        """Name the part of the parameter's range in which the value lies, where the library fits otherwise in another part."""
        return ""

    def widest(self, values: Sequence[Floats]) -> object:
        """The largest value, whose fit answers all the others."""
        return max(values)

    def cut(self, estimator: object, value: object) -> Any:
        """The estimator that a fit with this value would have given. The one that is handed over stays as it is."""
        raise NotImplementedError

    def answers(self, estimator: object, values: Sequence[object], X: object, scores: bool) -> Iterator[Answer]:
        """Yield the answers of a fit with each value, in their order."""
        for value in values:
            own = self.cut(estimator, value)
            yield own.predict(X), own.predict_proba(X) if scores else None

    def size(self, estimator: object, value: Any) -> float:
        """Measured complexity, in `unit`."""
        return float(value)


class Staged(Adapter):
    """Adapters of estimators that tell what they say after each round."""

    def rounds(self, estimator: object, value: object) -> int:
        """Count the rounds of a fit with this value: fewer where it stopped early."""
        raise NotImplementedError

    def answers(self, estimator: Any, values: Sequence[object], X: object, scores: bool) -> Iterator[Answer]:
        wanted = [self.rounds(estimator, value) for value in values]
        predicted = _at(estimator.staged_predict(X), wanted)
        shares = _at(estimator.staged_predict_proba(X), wanted) if scores else {}
        return ((predicted[one], shares.get(one)) for one in wanted)

    def size(self, estimator: object, value: object) -> float:
        return float(self.rounds(estimator, value))


def _at(stages: Iterator[object], wanted: Sequence[int]) -> dict[int, Any]:
    """Yield the stages of some numbers, from 1, without computing those after the last."""
    found: dict[int, object] = {}
    for number, stage in enumerate(stages, 1):
        if number in wanted:
            found[number] = np.array(stage)
        if number >= max(wanted):
            break
    return found


def shorter(estimator: object, value: object, lists: Sequence[str], parameter: str = "n_estimators") -> Any:
    """A copy whose fitted lists end after `value` entries."""
    own = copy.copy(estimator)
    for name in lists:
        setattr(own, name, getattr(estimator, name)[:value])
    setattr(own, parameter, value)
    return own


def find(kind: type) -> Adapter | None:
    """The adapter of a class; None where nothing is known of it."""
    return _adapters().get(f"{kind.__module__}.{kind.__qualname__}")


@cache
def _adapters() -> dict[str, Adapter]:
    """Every module of this folder that has a `SHARING`, one adapter or several: the folder is the registry."""
    package = importlib.import_module("modelsel.sharing")
    modules = (importlib.import_module(f"modelsel.sharing.{one.name}") for one in pkgutil.iter_modules(package.__path__))
    found = [module.SHARING for module in modules if hasattr(module, "SHARING")]
    adapters = [adapter for own in found for adapter in (own if isinstance(own, tuple) else (own,))]
    return {name: adapter for adapter in adapters for name in adapter.classes}
