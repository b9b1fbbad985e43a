"""scikit-learn's interface, as far as it is called here: what an estimator or a transformer is taken for.

The objects are other people's. These protocols say what is asked of them, so that a call that no library answers is found
before it is made.
"""

from typing import Protocol, Self

import numpy as np

from modelsel.core.types import CLASSES, DECISIONS, PROBABILITIES, Floats, Integers


class SklearnEstimator(Protocol):
    """Anything with parameters that is fitted on rows: classifiers, regressors, transformers, pipelines of them."""

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name."""
        ...

    def set_params(self, **params: object) -> Self:
        """Set parameters by name."""
        ...

    def fit(self, X: object, y: object = None, **more: object) -> Self:
        """Fit on rows, and on their labels where it reads some."""
        ...


class SklearnDecider(SklearnEstimator, Protocol):
    """A classifier with decision values: margins, distances from a plane."""

    def decision_function(self, X: object) -> Floats:
        """Return decision values, a column per class; one value per row of two classes."""
        ...


class SklearnTransformer(SklearnEstimator, Protocol):
    """A step of a pipeline."""

    def transform(self, X: object) -> object:
        """Return what it makes of some rows."""
        ...


class Matrix(Protocol):
    """Rows × columns: a NumPy array, or a sparse matrix of SciPy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        ...

    @property
    def size(self) -> int:
        """Entries that are held."""
        ...


# What an estimator says beside classes: probabilities, or a decision value for each class, or nothing.
#
# Decision values rank rows (a margin, a distance from the plane) and are no probabilities. Of two classes they are −d and d.


NEVER_SEEN = -1e3  # the decision value of a class without analysis rows


def decides(made: object) -> bool:
    """Say whether an estimator has a decision value for each class; those of pairs of classes are none."""
    return hasattr(made, "decision_function") and getattr(made, "decision_function_shape", None) != "ovo"


def scores_of(made: object) -> str:
    """Say what the class scores of an estimator are."""
    if hasattr(made, "predict_proba"):
        return PROBABILITIES
    return DECISIONS if decides(made) else CLASSES


def decisions(estimator: SklearnDecider, matrix: object, own: Integers, classes: int) -> Floats:
    """Decision values, rows × classes; `own` are the classes that the estimator knows. ValueError where they are others."""
    said = np.asarray(estimator.decision_function(matrix), np.float64)
    said = np.column_stack([-said, said]) if said.ndim == 1 or said.shape[1] == 1 else said
    if said.shape[1] != len(own):
        raise ValueError(f"{type(estimator).__name__} has {said.shape[1]} decision values for {len(own)} classes")
    found = np.full((len(said), classes), NEVER_SEEN)
    found[:, own] = said
    return found
