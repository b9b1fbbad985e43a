"""The predictions of a process for sealed rows, and which of them a metric is given.

    the very object, or a part of its memory            a sealed prediction, whatever it holds
    its content, recoded, stepped or cut (`evidence`)   a sealed prediction, from 25 nats on; possible from 7 on
    several of one model, one after the other           the same of what they are together
    equal length, and nothing else                      nothing

Values are kept in memory, the latest of each length; nothing of them is written anywhere. The labels that `modelsel.watch` is
given in this process are kept in memory too: a metric of something else is no look.
"""

import hashlib
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from modelsel.guard.face import SealedRows
from modelsel_watch.evidence import HINT, LEVELS, SURE, RowValues, Values, array_of, evidence, made_of

COLUMNS = 20  # of a prediction that are compared by themselves
KEPT = 10_000  # digests that are kept in mind
LATEST = 40  # predictions that are compared by content
MOST = 20_000_000  # cells of predictions that are kept in mind
WORK: Any = 1_000  # candidates of common memory that are tried; the stubs know -1 and 0 alone
PIECES = 4_000  # predictions of one model that are joined


@dataclass(eq=False)
class Prediction:
    """An estimator's predictions for sealed rows; `scored` once a metric was computed on it."""

    rows: SealedRows
    estimator: str
    digest: str
    tainted: bool = False  # its model was fitted on some of these rows
    scored: bool = False


@dataclass(frozen=True, eq=False)
class Content:
    """What a prediction says: values, for rows that are all sealed ones (and few others) or not."""

    prediction: Prediction
    values: Values
    sealed: bool

    @cached_property
    def columns(self) -> tuple[RowValues, ...]:
        return RowValues.all_of(self.values, COLUMNS)


@dataclass(frozen=True, eq=False)
class Meant:
    """What a metric is given: a prediction, whether its rows there are sealed ones, and how sure that is in nats."""

    prediction: Prediction
    sealed: bool
    nats: float


@dataclass(eq=False)
class PredictionMemory:
    """The predictions of a process for sealed rows."""

    labels: Mapping[str, Values] = field(default_factory=dict)  # of the sets that were watched with labels in this process
    _known: OrderedDict[bytes, Content] = field(default_factory=OrderedDict)
    _latest: list[Content] = field(default_factory=list)
    _objects: dict[int, tuple[weakref.ref[Any], Content]] = field(default_factory=dict)  # what was returned, while it lives
    _models: dict[int, "ModelMemory"] = field(default_factory=dict)
    _truths: set[bytes] = field(default_factory=set)  # what looks were at, by digest

    def fitted(self, model: object, rows: SealedRows) -> None:
        """Forget what a model predicted, for it is another one now, and keep in mind which sealed rows it is fitted on."""
        self._models.pop(id(model), None)
        if rows:
            self._of(model).sets |= set(rows.rows)

    def take(self, made: object, rows: SealedRows, model: object, method: str = "predict") -> None:
        """Keep in mind what a model predicted for sealed rows."""
        values = array_of(made)
        if values is None or len(values) != rows.n:
            return
        values, of = values.copy(), self._of(model)
        content = Content(self._prediction(of, rows, values, type(model).__name__), values, rows.whole)
        self._keep(content)
        if not rows.mask.all():
            self._keep(Content(content.prediction, values[rows.mask], True))
        with suppress(TypeError):
            name = id(made)
            self._objects[name] = weakref.ref(made, lambda _: self._objects.pop(name, None)), content
        pieces = of.pieces.setdefault(method, [])
        if rows.whole and len(pieces) < PIECES:
            pieces.append((values, rows))

    def prediction_of(self, model: object, rows: SealedRows) -> Prediction | None:
        """What a fitted model is known to have said of these rows."""
        return next((one for one in self._of(model).predictions if _is_same(one.rows, rows)), None)

    def meant(self, arguments: Sequence[object]) -> Meant | None:
        """The prediction of sealed rows that is among a metric's arguments, as far as that is possible."""
        found = [meant for meant in map(self.source, arguments) if meant is not None]
        return max(found, key=lambda meant: meant.nats) if found else None

    def source(self, argument: object) -> Meant | None:
        """The prediction of sealed rows that an argument is, or is made of."""
        values = array_of(argument)
        if values is None or not self._latest:
            return None
        content = self.very(argument)
        if content is not None:  # where it is a part, what is known by its digest says of which rows
            content = self._known.get(_digest(values), content)
            return Meant(content.prediction, content.sealed, inf)
        best, columns = None, RowValues.all_of(values, COLUMNS)
        for content in self._candidates(values):
            nats = evidence(columns, content.columns)
            if nats >= HINT and (best is None or nats > best.nats):
                best = Meant(content.prediction, content.sealed, nats)
            if nats >= SURE:
                break
        return best

    def very(self, argument: object) -> Content | None:
        """The prediction that an argument is, or shares memory with; None where it is another object."""
        reference, content = self._objects.get(id(argument), (None, None))
        if content is not None and reference is not None and reference() is argument:
            return content
        if not isinstance(argument, np.ndarray) or argument.base is None:
            return None
        for reference, content in [*self._objects.values()]:
            made = reference()
            if isinstance(made, np.ndarray) and _share(made, argument):
                return content
        return None

    def is_of_labels(self, truth: object, meant: Meant) -> bool:
        """Say whether what a prediction is compared with may be the labels: it is no prediction, and not known to be other.

        Where labels are known, it is what they are recoded, or has their counts; where they are not, whatever is no other
        model's prediction, or was looked at before (a score may be perfect).
        """
        values = array_of(truth)
        if values is None or self.very(truth) is not None:
            return False
        known = self.labels.get(meant.prediction.rows.testset)
        if known is not None and len(known) == len(values):
            return _is_labels(values, known)
        if _digest(values) in self._truths:
            return True
        other = self.source(truth)
        return other is None or other.prediction is meant.prediction

    def looked(self, truth: object) -> None:
        """Keep in mind what a look was at."""
        values = array_of(truth)
        if values is not None:
            self._truths.add(_digest(values))

    def _candidates(self, values: Values) -> Iterator[Content]:
        """What values may be made of: what is the same by digest, then the latest, then what one model said in pieces."""
        there = self._known.get(_digest(values))
        if there is not None:
            yield there
        latest = [one for one in self._latest[::-1] if len(one.values) >= len(values)]
        yield from sorted(latest, key=lambda one: len(one.values) != len(values))
        for model in [*self._models.values()]:
            yield from self._join_pieces(model, len(values))

    def _join_pieces(self, model: "ModelMemory", n: int) -> Iterator[Content]:
        """What a model said in pieces, where some that followed each other have so many rows together."""
        for pieces in model.pieces.values():
            ends = np.cumsum([0, *(len(values) for values, _ in pieces)])
            lasts = np.searchsorted(ends, ends + n)
            for first in range(len(pieces) - 1):
                last = int(lasts[first])
                if first + 1 < last < len(ends) and ends[last] == ends[first] + n:
                    yield from self._join(model, pieces[first:last])

    def _join(self, model: "ModelMemory", pieces: Sequence[tuple[Values, SealedRows]]) -> Iterator[Content]:
        """Pieces that followed each other, as one prediction."""
        if len({values.shape[1:] for values, _ in pieces}) == 1:
            values, rows = np.concatenate([values for values, _ in pieces]), _together([rows for _, rows in pieces])
            yield Content(self._prediction(model, rows, values, model.name), values, True)

    def _prediction(self, model: "ModelMemory", rows: SealedRows, values: Values, name: str) -> Prediction:
        """What a fitted model says of these rows: one prediction, be it classes or probabilities."""
        same = next((one for one in model.predictions if _is_same(one.rows, rows)), None)
        if same is not None:
            return same
        there = self._known.get(_digest(values))
        made = there.prediction if there is not None else Prediction(
            rows, name, _digest(values[rows.mask]).hex(), bool(model.sets & rows.rows.keys())
        )  # fmt: skip
        model.predictions.append(made)
        return made

    def _keep(self, content: Content) -> None:
        """Keep what a prediction says in mind, and forget the oldest of too many."""
        for values in (content.values, *(column.values for column in content.columns)):
            self._known.setdefault(_digest(values), content)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        self._latest.append(content)
        while len(self._latest) > LATEST or (len(self._latest) > 1 and sum(one.values.size for one in self._latest) > MOST):
            del self._latest[0]

    def _of(self, model: object) -> "ModelMemory":
        """What is kept in mind of a fitted model, for as long as it lives."""
        name = id(model)
        there = self._models.get(name)
        if there is None or there.model() is not model:
            there = ModelMemory(lambda: model, type(model).__name__)
            with suppress(TypeError):
                there = ModelMemory(weakref.ref(model, lambda _: self._models.pop(name, None)), type(model).__name__)
                self._models[name] = there
        return there


@dataclass(eq=False)
class ModelMemory:
    """What is kept in mind of a fitted model: its predictions, in pieces as they came, and the sealed sets it was fitted on."""

    model: Any
    name: str
    sets: set[str] = field(default_factory=set)
    predictions: list[Prediction] = field(default_factory=list)
    pieces: dict[str, list[tuple[Values, SealedRows]]] = field(default_factory=dict)  # by method


def _is_labels(values: Values, known: Values) -> bool:
    """Say whether values are labels, recoded or in another order."""
    if not values.ndim == known.ndim == 1:
        return True
    one, other = RowValues(values), RowValues(known)
    if sorted(np.bincount(one.codes).tolist()) == sorted(np.bincount(other.codes).tolist()):
        return other.levels <= LEVELS or np.array_equal(np.sort(one.plain), np.sort(other.plain))
    few = other.levels <= LEVELS and len({*zip(other.codes.tolist(), one.codes.tolist())}) == other.levels
    return few or made_of(one, other) >= HINT


def _share(made: Values, argument: Values) -> bool:
    with suppress(np.exceptions.TooHardError):
        return bool(np.shares_memory(made, argument, max_work=WORK))
    return False


def _is_same(one: SealedRows, other: SealedRows) -> bool:
    return one.n == other.n and one.rows.keys() == other.rows.keys() and np.array_equal(one.mask, other.mask)


def _together(parts: Sequence[SealedRows]) -> SealedRows:
    """The sealed rows of tables that follow each other."""
    names = dict.fromkeys(name for part in parts for name in part.rows)
    nothing = [np.zeros(part.n, bool) for part in parts]
    masks = {name: np.concatenate([part.rows.get(name, none) for part, none in zip(parts, nothing)]) for name in names}
    return SealedRows(sum(part.n for part in parts), masks)


def _digest(values: Values) -> bytes:
    """The digest of values in their order: numbers as floats, others as texts, a matrix of one column as that column."""
    flat = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    with suppress(ValueError, TypeError):
        raw = np.ascontiguousarray(flat, np.float64).tobytes()
        return hashlib.blake2b(raw, digest_size=16, person=f"numbers {flat.ndim}".encode()).digest()
    raw = "\0".join(map(str, flat.ravel().tolist())).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=16, person=f"texts {flat.ndim}".encode()).digest()
