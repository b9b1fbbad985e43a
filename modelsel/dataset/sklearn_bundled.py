"""The small real sets that scikit-learn ships, read offline: iris, wine, breast_cancer, digits."""

from dataclasses import dataclass

from modelsel.core.spec import one_of
from modelsel.core.types import Task
from modelsel.dataset._given import Given, numeric_task


@dataclass(frozen=True)
class SklearnBundled(Given):
    """All features numeric. scikit-learn's iris differs from the UCI file in two rows (it is Fisher's)."""

    which: str = one_of("iris", "wine", "breast_cancer", "digits", help="name of the set")

    def read(self) -> Task:
        import sklearn.datasets  # slow to import, and needed here only

        bunch = getattr(sklearn.datasets, f"load_{self.which}")()
        names = [str(name) for name in bunch.feature_names]
        return numeric_task(self.which, names, bunch.data, [str(name) for name in bunch.target_names], bunch.target)
