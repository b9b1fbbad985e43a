"""scikit-learn's interface, as far as it is called here: what an estimator or a transformer is taken for.

The objects are other people's. These protocols say what is asked of them, so that a call that no library answers is found
before it is made.
"""

from typing import Protocol, Self

from modelsel.core.types import Floats


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
