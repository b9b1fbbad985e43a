"""Predictions for sealed rows, and whether a metric's arguments are one of them.

A prediction is known by its values in their order, whole or a column of it (a class's probability), and the part of it that is
about sealed rows; classes and probabilities that one fitted model gave for the same rows are one prediction. Where a metric is
given something else of the same length (a threshold was put on by hand), it is taken for the last prediction of sealed rows of
that length, unless other rows of that length were predicted too. Values that were predicted for other rows, too, accuse nobody.
"""

import hashlib
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from modelsel.watcher.recognition import SealedRows

COLUMNS = 20  # of a prediction that are known by themselves
KEPT = 10_000  # digests that are kept in mind
SHORT = 20_000  # rows up to which predictions for other rows are kept in mind by their values, too


@dataclass(eq=False)
class Prediction:
    """What an estimator said of sealed rows; `scored` once a metric was computed on it."""

    rows: SealedRows
    estimator: str
    digest: str
    tainted: bool = False  # its model was fitted on some of these rows
    scored: bool = False


@dataclass(eq=False)
class PredictionMemory:
    """The predictions of a process; none of their values is kept, but digests."""

    _known: OrderedDict[bytes, tuple[Prediction, bool]] = field(default_factory=OrderedDict)  # are the rows all sealed
    _tainted: dict[int, tuple[weakref.ref[object], set[str]]] = field(
        default_factory=dict
    )  # models, and the sets that they were fitted on
    _last: dict[int, Prediction] = field(default_factory=dict)  # by length
    _lengths: set[int] = field(default_factory=set)  # of predictions for other rows
    _others: OrderedDict[bytes, None] = field(default_factory=OrderedDict)  # digests of predictions for other rows
    _by: dict[int, tuple[weakref.ref[object], list[Prediction]]] = field(
        default_factory=dict
    )  # the predictions of each fitted model

    def other(self, made: object, n: int) -> None:
        """Keep in mind that other rows, so many, were predicted, and what."""
        self._lengths.add(n)
        values = _array(made) if n <= SHORT or n in self._last else None
        if values is not None and len(values) == n:
            self._others.update(dict.fromkeys(_names(values)))
            while len(self._others) > KEPT:
                self._others.popitem(last=False)

    def fitted(self, model: object, rows: SealedRows) -> None:
        """Forget what a model predicted, for it is another one now, and keep in mind which sealed rows it is fitted on."""
        name = id(model)
        self._by.pop(name, None)
        self._tainted.pop(name, None)
        if rows:
            with suppress(TypeError):
                self._tainted[name] = weakref.ref(model, lambda _: self._tainted.pop(name, None)), set(rows.rows)

    def take(self, made: object, rows: SealedRows, model: object) -> None:
        """Keep in mind what a model predicted for sealed rows."""
        values = _array(made)
        if values is None or len(values) != rows.n:
            return
        mask = rows.mask
        owner, sets = self._tainted.get(id(model), (None, set()))
        tainted = owner is not None and owner() is model and bool(sets & rows.rows.keys())
        prediction = self._of(model, rows) or Prediction(rows, type(model).__name__, _digest(values[mask]).hex(), tainted)
        self._note(model, prediction)
        for part, sealed in ((values, rows.whole), *([] if mask.all() else [(values[mask], True)])):
            for name in _names(part):
                prediction, _ = self._known.setdefault(name, (prediction, sealed))
            if sealed:
                self._last[len(part)] = prediction
        while len(self._known) > KEPT:
            self._known.popitem(last=False)

    def _of(self, model: object, rows: SealedRows) -> Prediction | None:
        """What this fitted model is known to have predicted for the same rows."""
        owner, made = self._by.get(id(model), (None, []))
        same = (one for one in made if owner is not None and owner() is model and _is_same(one.rows, rows))
        return next(same, None)

    def _note(self, model: object, prediction: Prediction) -> None:
        """Keep in mind that a prediction is this model's."""
        name = id(model)
        owner, made = self._by.get(name, (None, []))
        if owner is None or owner() is not model:
            with suppress(TypeError):
                self._by[name] = weakref.ref(model, lambda _: self._by.pop(name, None)), [prediction]
        elif prediction not in made:
            made.append(prediction)

    def meant(self, arguments: list[object]) -> tuple[Prediction, bool] | None:
        """The prediction that is among a metric's arguments, and whether its rows there are sealed ones (and few others)."""
        if not self._known:
            return None
        arrays = [array for array in map(_array, arguments) if array is not None]
        for array in arrays:
            name = _digest(array)
            found = self._known.get(name)
            if found is not None:
                return None if name in self._others else found
        lengths = [len(array) for array in arrays if len(array) in self._last and len(array) not in self._lengths]
        return (self._last[lengths[0]], True) if lengths else None


def _is_same(one: SealedRows, other: SealedRows) -> bool:
    return one.n == other.n and one.rows.keys() == other.rows.keys() and np.array_equal(one.mask, other.mask)


def _names(values: NDArray[np.generic]) -> Iterator[bytes]:
    """The digests by which a prediction, or a column of it, is known."""
    yield _digest(values)
    if values.ndim == 2 and values.shape[1] <= COLUMNS:
        for place in range(values.shape[1]):
            yield _digest(values[:, place])


def _array(made: object) -> NDArray[np.generic] | None:
    """Values of one or two dimensions; None for what is none."""
    with suppress(ValueError, TypeError):
        values = np.asarray(made)
        return values if values.ndim in (1, 2) and len(values) else None
    return None


def _digest(values: NDArray[np.generic]) -> bytes:
    """The digest of values in their order: numbers as floats, others as texts, a matrix of one column as that column."""
    flat = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    with suppress(ValueError, TypeError):
        raw = np.ascontiguousarray(flat, np.float64).tobytes()
        return hashlib.blake2b(raw, digest_size=16, person=f"numbers {flat.ndim}".encode()).digest()
    raw = "\0".join(map(str, flat.ravel().tolist())).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=16, person=f"texts {flat.ndim}".encode()).digest()
