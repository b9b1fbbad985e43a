"""The small real sets that scikit-learn ships, read offline: iris, wine, breast_cancer, digits."""

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modelsel.core.errors import Problem
from modelsel.core.spec import one_of, plain
from modelsel.core.types import Floats, Integers, Task
from modelsel.dataset.base import BundledDataset, numeric_task


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


# The files of scikit-learn's small sets, read without importing scikit-learn, which takes longer than a small study.
#
# Each is a table of numbers with the class last; all but digits begin with a line of counts and class names.

SIZES = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave points", "symmetry",
    "fractal dimension",
)  # fmt: skip
NAMES = {
    "iris": [f"{part} {side} (cm)" for part in ("sepal", "petal") for side in ("length", "width")],
    "wine": [
        "alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols", "flavanoids",
        "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue", "od280/od315_of_diluted_wines", "proline",
    ],
    "breast_cancer": [form.format(size) for form in ("mean {}", "{} error", "worst {}") for size in SIZES],
    "digits": [f"pixel_{row}_{column}" for row in range(8) for column in range(8)],
}  # fmt: skip
FILES = {"iris": "iris.csv", "wine": "wine_data.csv", "breast_cancer": "breast_cancer.csv", "digits": "digits.csv.gz"}


class Bundle(NamedTuple):
    """A set as scikit-learn's own reader names its parts."""

    data: Floats
    target: Integers
    feature_names: list[str]
    target_names: list[str]


def bundle(which: str) -> object:
    """The set, from its file; by scikit-learn where that keeps its files elsewhere."""
    found = find_spec("sklearn")
    path = Path(found.origin if found and found.origin else "").parent / "datasets" / "data" / FILES[which]
    if path.is_file():
        return read_bundled(path, which)
    import sklearn.datasets

    return getattr(sklearn.datasets, f"load_{which}")()


def read_bundled(path: Path, which: str) -> Bundle:
    """The set in a file."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        lines = list(csv.reader(file))
    classes = [str(digit) for digit in range(10)] if which == "digits" else lines.pop(0)[2:]
    rows = np.array(lines, np.float64)
    return Bundle(rows[:, :-1], rows[:, -1].astype(np.int64), NAMES[which], classes)
