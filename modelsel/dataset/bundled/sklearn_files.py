"""The files of scikit-learn's small sets, read without importing scikit-learn, which takes longer than a small study.

Each is a table of numbers with the class last; all but digits begin with a line of counts and class names.
"""

import csv
import gzip
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modelsel.core.types import Floats, Integers

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


def bundle(which: str) -> Any:
    """The set, from its file; by scikit-learn where that keeps its files elsewhere."""
    found = find_spec("sklearn")
    path = Path(found.origin if found and found.origin else "").parent / "datasets" / "data" / FILES[which]
    if path.is_file():
        return read(path, which)
    import sklearn.datasets

    return getattr(sklearn.datasets, f"load_{which}")()


def read(path: Path, which: str) -> Bundle:
    """The set in a file."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        lines = list(csv.reader(file))
    classes = [str(digit) for digit in range(10)] if which == "digits" else lines.pop(0)[2:]
    rows = np.array(lines, np.float64)
    return Bundle(rows[:, :-1], rows[:, -1].astype(np.int64), NAMES[which], classes)
