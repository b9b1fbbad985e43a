"""Folds on their way to a worker: one small label per row and repeat in place of arrays of positions.

    label[row] = the fold in which the row is assessed, or the number of folds where it is in none

which says everything where the folds of a repeat assess different rows and are fitted on all others, in order (k-fold and its
kin: a byte per row, where positions take eight per row and fold). Other folds travel as positions of four bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Pair = tuple[NDArray[Any], NDArray[Any]]  # analysis and assessment rows
Made = TypeVar("Made")
HELD = 2  # folds that a worker keeps unpacked


def pack_folds(repeats: Sequence[int], pairs: Sequence[Pair]) -> list[object]:
    """Per fold either (labels, its label) or its two arrays of positions; labels are shared by the folds of a repeat."""
    out: list[object] = [()] * len(repeats)
    for repeat in dict.fromkeys(repeats):
        own = [place for place, other in enumerate(repeats) if other == repeat]
        labels = _labels([pairs[place] for place in own])
        for label, place in enumerate(own):
            out[place] = _small(pairs[place]) if labels is None else (labels, label)
    return out


def rows(content: Any) -> Pair:
    """Analysis and assessment rows again.

    >>> first, second = (np.array([2, 3]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3]))
    >>> [[part.tolist() for part in rows(content)] for content in pack_folds((0, 0), (first, second))]
    [[[2, 3], [0, 1]], [[0, 1], [2, 3]]]
    """
    first, second = content
    if isinstance(second, int):
        labels = np.asarray(first)
        return np.flatnonzero(labels != second), np.flatnonzero(labels == second)
    return _whole(first), _whole(second)


class Unpacked(Sequence[Made], Generic[Made]):
    """Folds made again when they are asked for; `names` are index and repeat, with which `make` gets the rows."""

    def __init__(
        self, names: Sequence[tuple[int, int]], contents: Sequence[object], make: Callable[[int, int, Any, Any], Made]
    ) -> None:
        self._names, self._contents, self._make = names, contents, make
        self._held: dict[int, Made] = {}

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: Any) -> Any:
        """Return a fold, made again where it is not among those held; the oldest is let go."""
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = range(len(self))[index]
        if place not in self._held:
            while len(self._held) >= HELD:
                self._held.pop(next(iter(self._held)))
            (index, repeat), (analysis, assessment) = self._names[place], rows(self._contents[place])
            self._held[place] = self._make(index, repeat, analysis, assessment)
        return self._held[place]

    def __iter__(self) -> Iterator[Made]:
        return (self[place] for place in range(len(self)))


def _labels(pairs: Sequence[Pair]) -> NDArray[np.generic] | None:
    """Return a label per row and repeat; None where labels cannot say which rows a fold has."""
    if any(part.dtype != np.int64 for pair in pairs for part in pair):
        return None
    count, size = len(pairs), 1 + max((int(part.max()) for pair in pairs for part in pair if len(part)), default=-1)
    labels = np.full(size, count, np.min_scalar_type(count))
    for label, (_, assessment) in enumerate(pairs):
        labels[assessment] = label
    whole = (
        np.array_equal(part, again) for label, pair in enumerate(pairs) for part, again in zip(pair, rows((labels, label)))
    )
    return labels if all(whole) else None


def _whole(part: NDArray[np.generic]) -> NDArray[np.generic]:
    return part.astype(np.int64) if part.dtype == np.uint32 else np.asarray(part)


def _small(pair: Pair) -> Pair:
    """Positions in four bytes; others (a bootstrap's of another type) as they are."""
    fits = all(part.dtype == np.int64 and (not len(part) or part.max() < 1 << 32) for part in pair)
    return (pair[0].astype(np.uint32), pair[1].astype(np.uint32)) if fits else pair
