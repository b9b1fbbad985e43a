"""losses.npz: the out-of-fold loss matrix and the predictions that the report draws from, without pickle."""

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from modelsel.core.selection import Assessed, Losses, Selection
from modelsel.core.types import Integers, Targets
from modelsel.record.files import npz


def content(selection: Selection) -> bytes:
    """`losses`, `fold`, `row`, `candidate` (see the documentation of the record) and what was assessed.

    `truth` are the labels of the development rows, `predicted` and `scores` those of `predicted_candidate`. `losses` is
    absent for a measure that is no mean over rows, `scores` where the measure did not ask for them.
    """
    losses, assessed = selection.losses, selection.assessed
    arrays: dict[str, NDArray[np.generic] | None] = {
        "losses": None if losses.matrix is None else np.asarray(losses.matrix, np.float32),
        "fold": np.asarray(losses.fold, np.int32),
        "row": np.asarray(losses.row, np.int64),
        "candidate": np.array(losses.ids, dtype=np.str_),
        "truth": _compact(assessed.truth),
        "predicted": _compact(assessed.predicted),
        "predicted_candidate": np.array(assessed.ids, dtype=np.str_),
        "scores": None if assessed.scores is None else np.asarray(assessed.scores, np.float32),
    }
    return npz({name: array for name, array in arrays.items() if array is not None}, compress=True)


def _compact(array: NDArray[np.generic]) -> Targets:
    """Classes as int32, numbers as they are."""
    return np.asarray(array, np.float64 if array.dtype.kind == "f" else np.int32)


class LossArchive(Mapping[str, NDArray[np.generic]]):
    """The arrays of a file, each read when it is first asked for: the matrix is large, and few who read the others want it."""

    def __init__(self, path: Path) -> None:
        self._file = np.load(BytesIO(path.read_bytes()), allow_pickle=False)
        self._read: dict[str, NDArray[np.generic]] = {}

    def __getitem__(self, name: str) -> NDArray[np.generic]:
        if name not in self._read:
            self._read[name] = self._file[name]
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._file.files)

    def __len__(self) -> int:
        return len(self._file.files)


def losses(arrays: Mapping[str, NDArray[np.generic]]) -> Losses:
    """The loss matrix back (float32; None where the measure is no mean over rows)."""
    ids = tuple(str(name) for name in arrays["candidate"])
    return Losses(matrix=arrays.get("losses"), fold=fold(arrays), row=arrays["row"].astype(np.int64, copy=False), ids=ids)


def fold(arrays: Mapping[str, NDArray[np.generic]]) -> Integers:
    """Rows × repeats: the fold in which the row was assessed, −1 where it was not."""
    return arrays["fold"].astype(np.int64)


def read_assessed(arrays: Mapping[str, NDArray[np.generic]]) -> Assessed:
    """The out-of-fold predictions back."""
    scores = arrays.get("scores")
    return Assessed(
        ids=tuple(str(name) for name in arrays["predicted_candidate"]),
        truth=_compact(arrays["truth"]),
        predicted=_compact(arrays["predicted"]),
        scores=None if scores is None else scores.astype(np.float64),
    )
