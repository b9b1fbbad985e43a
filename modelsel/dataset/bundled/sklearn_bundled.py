"""The small real sets that scikit-learn ships, read offline: iris, wine, breast_cancer, digits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from modelsel.core.errors import Problem
from modelsel.core.spec import one_of, plain
from modelsel.core.types import Task
from modelsel.dataset.bundled.base import BundledDataset, numeric_task
from modelsel.dataset.bundled.sklearn_files import bundle


@dataclass(frozen=True)
class SklearnBundled(BundledDataset):
    """All features numeric. scikit-learn's iris differs from the UCI file in two rows (it is Fisher's).

    >>> SklearnBundled("iris", positive="versicolor").read().classes
    ('rest', 'versicolor')
    """

    which: str = one_of("iris", "wine", "breast_cancer", "digits", help="name of the set")
    positive: str | None = plain(None, help="a class that is told from all others together; null: all classes")

    def problems(self) -> Iterator[Problem]:
        """Yield a problem where the positive class is none of the classes."""
        if self.positive is None:
            return
        classes = _classes(self._bunch())
        if self.positive not in classes:
            fix = f"one of {', '.join(classes)}, or null"
            yield Problem("MSEL-305", f"{self.which} has no class {self.positive!r}", "dataset.positive", fix)

    def read(self) -> Task:
        bunch = self._bunch()
        names, classes, target = [str(name) for name in bunch.feature_names], _classes(bunch), bunch.target
        if self.positive is None:
            return numeric_task(self.which, names, bunch.data, classes, target)
        target = target == classes.index(self.positive)
        return numeric_task(f"{self.which}_{self.positive}", names, bunch.data, ["rest", self.positive], target)

    def _bunch(self) -> Any:
        return bundle(self.which)


def _classes(bunch: Any) -> list[str]:
    return [str(name) for name in bunch.target_names]
