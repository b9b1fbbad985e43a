"""The rows of a search as a task: as the estimators of this package read them, or, for estimator objects alone, as they are.

Objects read X itself: frames with columns of any type, sparse matrices, lists of texts, arrays of any dimension. What stands
in the task for such rows (numbers where there are some, else a digest per row) only tells rows apart.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from warnings import warn

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, _num_samples, column_or_1d

from modelsel.core.reading import TableReading
from modelsel.core.source import Source
from modelsel.core.types import Candidate, ClassTask, Feature, Floats, NumberTask, Task
from modelsel.dataset.frame import read_frame
from modelsel.dataset.in_memory import by_rows, is_frame, is_sparse, of_sparse
from modelsel.dataset.kinds import sorted_levels
from modelsel.dataset.labels import as_numbers, held_labels, own_type
from modelsel.dataset.refused import demand_labels, explain_refusals
from modelsel.dataset.targets import MANY
from modelsel.dataset.weights import AUTO, decide_weights
from modelsel.estimator import count_rows, countable, distinct, weights_of
from modelsel.learner.object import Object
from modelsel.preparer.dates import in_parts


def looks_like_numbers(y: object) -> bool:
    """Say whether a target is a number, as in a study: fractions, or more than `MANY` numbers, one of which has a single row.

    >>> looks_like_numbers([0.5, 1.25, 2.0]), looks_like_numbers([0, 1, 1, 0]), looks_like_numbers(range(50))
    (True, False, True)
    """
    found = np.asarray(as_numbers(y))
    if found.dtype.kind not in "iuf" or found.ndim > 2 or (found.ndim == 2 and found.shape[1] != 1) or not len(found):
        return False
    found = found.ravel()
    if found.dtype.kind == "f" and (not np.isfinite(found).all() or (found != np.round(found)).any()):
        return bool(np.isfinite(found).all())
    times = np.unique(found, return_counts=True)[1]
    return len(times) > MANY and bool((times == 1).any())


def as_given(
    X: Any, y: object, sample_weight: object = None, numbers: bool = False, weights_are: str = AUTO
) -> tuple[Task, NDArray[np.generic]]:
    """The task of rows that estimator objects read themselves, with X and y as its source, and the labels of its classes.

    Raises ValueError for X and y of different lengths, and for labels that are no classes (of `numbers`, no numbers).
    """
    X = X.tocsr() if is_sparse(X) else X
    with explain_refusals(y, count_rows(X), numbers):
        check_consistent_length(X, _there(y))
        held = held_labels(y) if not numbers and own_type(y) else None
        found = _check_y(y, y_numeric=True).astype(np.float64) if numbers else column_or_1d(y if held is None else held[1])
        if not numbers and not countable(found):
            check_classification_targets(found)
        classes, target = distinct(found) if held is None else held[:2]
        demand_labels(classes)
    features, values = _describe_rows(X)
    weights = weights_of(sample_weight, values)
    shared: dict[str, Any] = {
        "name": "rows", "features": features, "values": values, "rows": np.arange(len(values)), "weights": weights,
    }  # fmt: skip
    if numbers:
        return decide_weights(NumberTask(**shared, target=found, source=Source(X, None, y)), weights_are), np.zeros(0)
    labels = tuple(str(label) for label in classes) if held is None else held[2].feature.levels
    given = classes[target] if held is not None or is_arrow(y) else y
    reading = None if held is None else replace(TableReading.of(features), target=held[2])
    task = ClassTask(**shared, classes=labels, target=target, source=Source(X, classes, given), reading=reading)
    return decide_weights(task, weights_are), classes


def is_arrow(y: object) -> bool:
    """Say whether labels are Arrow's, which no object reads."""
    return hasattr(y, "to_pylist")


def _there(y: object) -> object:
    """A target that is given. ValueError without one."""
    if y is None:
        raise ValueError("y is None")
    return y


def _describe_rows(X: Any) -> tuple[tuple[Feature, ...], Floats]:
    """Features and numbers of rows of any kind."""
    if is_sparse(X):
        found = of_sparse(X)
        if isinstance(found, np.ndarray):
            return _number_columns(found)
        return tuple(Feature.of_numbers(str(name)) for name in found.columns), found.to_numpy(np.float64)
    if is_frame(X):
        try:
            table = read_frame(X)[1]
            return table.features, np.array(table.values)
        except (ValueError, TypeError):  # cells that no table holds, and that are the objects' affair
            return _number_columns(by_rows(nw.from_native(X, eager_only=True).to_pandas().to_numpy(object)))
    try:
        numbers = np.asarray(X, np.float64)
        return _number_columns(numbers if numbers.ndim == 2 else numbers.reshape(_num_samples(X), -1))
    except (ValueError, TypeError):
        rows = X if isinstance(X, list | tuple) else list(np.asarray(X, object))
    if not all(isinstance(row, str) for row in rows):
        return _number_columns(by_rows(rows))
    levels = sorted_levels(tuple(set(rows)))
    place = {level: code for code, level in enumerate(levels)}
    return (Feature.of_levels("text", levels),), np.array([[place[text]] for text in rows], np.float64)


def _number_columns(values: Floats) -> tuple[tuple[Feature, ...], Floats]:
    return tuple(Feature.of_numbers(f"x{place}") for place in range(values.shape[1])), values


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
    """Word the needs of a scheme in the arguments of `fit`.

    >>> in_words_of_fit("scheme=time_split needs times: set dataset.time=day")
    "scheme=time_split needs times: give fit(X.drop(columns='day'), y, times=X['day'])"
    >>> in_words_of_fit("scheme=group_kfold needs groups: set dataset.groups=COLUMN")
    'scheme=group_kfold needs groups: give fit(X, y, groups=...)'
    """
    said = re.sub(r"set dataset\.time=(?!COLUMN\b)(\w+)$", r"give fit(X.drop(columns='\1'), y, times=X['\1'])", reason)
    return re.sub(r"set dataset\.(group|time)s?=.*", r"give fit(X, y, \1s=...)", said)
