"""The rows of a search as a task: as the estimators of this package read them, or, for estimator objects alone, as they are.

Objects read X itself: frames with columns of any type, sparse matrices, lists of texts, arrays of any dimension. What stands
in the task for such rows (numbers where there are some, else a digest per row) only tells rows apart.
"""

import re
from collections.abc import Iterable
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _num_samples, column_or_1d

from modelsel.core.source import Source
from modelsel.core.types import Candidate, ClassTask, Feature, Floats, Task
from modelsel.dataset.columns.kinds import sorted_levels
from modelsel.dataset.tables.frame import as_pandas, described
from modelsel.dataset.tables.frame import table as frame_table
from modelsel.dataset.tables.in_memory import is_frame
from modelsel.dataset.tables.source import by_rows, is_sparse, of_sparse
from modelsel.estimator import countable, distinct
from modelsel.learner.object import Object
from modelsel.preparer.dates import in_parts


def as_given(X: Any, y: Any, sample_weight: Any = None) -> tuple[Task, NDArray[Any]]:
    """The task of rows that estimator objects read themselves, with X and y as its source, and the labels of its classes.

    Raises ValueError for X and y of different lengths, and for labels that are no classes.
    """
    if y is None:
        raise ValueError("y is missing: a class per row")
    check_consistent_length(X, y)
    X = X.tocsr() if is_sparse(X) else X
    found = column_or_1d(y)
    if not countable(found):
        check_classification_targets(found)
    classes, target = distinct(found)
    features, values = _described(X)
    weights = None if sample_weight is None else _check_sample_weight(sample_weight, values, dtype=np.float64)
    task = ClassTask(
        name="rows", features=features, values=values, rows=np.arange(len(values)), weights=weights,
        classes=tuple(str(label) for label in classes), target=target, source=Source(X, classes, y),
    )  # fmt: skip
    return task, classes


def _described(X: Any) -> tuple[tuple[Feature, ...], Floats]:
    """Features and numbers of rows of any kind."""
    if is_sparse(X):
        found = of_sparse(X)
        if isinstance(found, np.ndarray):
            return _numbered(found)
        return tuple(Feature(str(name), "numeric") for name in found.columns), found.to_numpy(np.float64)
    if is_frame(X):
        frame = as_pandas(X)
        try:
            features = described(frame)
            return features, np.array(frame_table(frame, features).values)
        except (ValueError, TypeError):  # cells that no table holds, and that are the objects' affair
            return _numbered(by_rows(frame.to_numpy(object)))
    try:
        numbers = np.asarray(X, np.float64)
        return _numbered(numbers if numbers.ndim == 2 else numbers.reshape(_num_samples(X), -1))
    except (ValueError, TypeError):
        rows = X if isinstance(X, list | tuple) else list(np.asarray(X, object))
    if not all(isinstance(row, str) for row in rows):
        return _numbered(by_rows(rows))
    levels = sorted_levels(tuple(set(rows)))
    place = {level: code for code, level in enumerate(levels)}
    return (Feature("text", "nominal", levels),), np.array([[place[text]] for text in rows], np.float64)


def _numbered(values: Floats) -> tuple[tuple[Feature, ...], Floats]:
    return tuple(Feature(f"x{place}", "numeric") for place in range(values.shape[1])), values


def warn_of_dates(task: Task, candidates: Iterable[Candidate]) -> None:
    """Warn where a candidate that does not take dates in parts is given dates; objects read them as they are."""
    found = [feature.name for feature in task.features if feature.dates]
    if found and any(not isinstance(one.learner, Object) and not in_parts(one) for one in candidates):
        warn(
            f"{', '.join(map(repr, found))} of X: dates, which are read as moments; a feature that may tell the future. "
            "'preparer': 'dates' in an entry of the space takes their parts; leave them out if they are no feature",
            UserWarning, stacklevel=3,
        )  # fmt: skip


def in_words_of_fit(reason: str) -> str:
    """What a scheme asks for in the words of `fit`.

    >>> in_words_of_fit("scheme=time_split needs times: set dataset.time=day")
    "scheme=time_split needs times: give fit(X.drop(columns='day'), y, times=X['day'])"
    >>> in_words_of_fit("scheme=group_kfold needs groups: set dataset.groups=COLUMN")
    'scheme=group_kfold needs groups: give fit(X, y, groups=...)'
    """
    said = re.sub(r"set dataset\.time=(?!COLUMN\b)(\w+)$", r"give fit(X.drop(columns='\1'), y, times=X['\1'])", reason)
    return re.sub(r"set dataset\.(group|time)s?=.*", r"give fit(X, y, \1s=...)", said)
