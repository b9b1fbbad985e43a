"""scikit-learn's interface, as far as it is called here: what an estimator, a transformer or a splitter is taken for.

The objects are other people's. These protocols say what is asked of them, so that a call that no library answers is found
before it is made.
"""

from collections.abc import Iterator
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats, Integers


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


class SklearnPredictor(SklearnEstimator, Protocol):
    """A classifier or a regressor."""

    def predict(self, X: object) -> NDArray[np.generic]:
        """Return a class, or a number, per row."""
        ...


class SklearnClassifier(SklearnPredictor, Protocol):
    """A classifier with probabilities."""

    classes_: NDArray[np.generic]

    def predict_proba(self, X: object) -> Floats:
        """Return probabilities, rows × classes."""
        ...


class SklearnDecider(SklearnPredictor, Protocol):
    """A classifier with decision values: margins, distances from a plane."""

    def decision_function(self, X: object) -> Floats:
        """Return decision values, a column per class; one value per row of two classes."""
        ...


class SklearnTransformer(SklearnEstimator, Protocol):
    """A step of a pipeline."""

    def transform(self, X: object) -> object:
        """Return what it makes of some rows."""
        ...


class SklearnSplitter(Protocol):
    """A scheme of scikit-learn's: `KFold`, `GroupKFold`, ..."""

    def split(self, X: object, y: object = None, groups: object = None) -> Iterator[tuple[Integers, Integers]]:
        """Yield the positions of the analysis and assessment rows of each fold."""
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
