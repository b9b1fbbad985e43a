"""LED display: the digit shown by seven segments, each wrong with some chance, beside segments that mean nothing.

At noise .1 the Bayes error is .26. Source: Breiman et al. (1984, 2.6.1).
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.spec import number, whole
from modelsel.core.types import ClassTask, Feature
from modelsel.dataset.base import BundledDataset

# top, upper left, upper right, middle, lower left, lower right, bottom
DIGITS = ("1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011")


@dataclass(frozen=True)
class Led(BundledDataset):
    """Noisy digits of a seven-segment display.

    >>> Led(rows=50).read().values.shape
    (50, 7)
    """

    rows: int = whole(1000, least=2, help="rows that are drawn")
    noise: float = number(0.1, least=0, most=1, help="chance that a segment is wrong")
    irrelevant: int = whole(0, least=0, help="segments lit by chance (17 in the usual second form)")
    seed: int = whole(0, least=0, help="of the drawing")

    def read(self) -> ClassTask:
        rng = generator(self.seed, "led")
        target = rng.integers(10, size=self.rows).astype(np.int32)
        lit = np.array([[int(segment) for segment in digit] for digit in DIGITS])[target]
        values = np.hstack([lit ^ (rng.random(lit.shape) < self.noise), rng.integers(2, size=(self.rows, self.irrelevant))])
        features = tuple(Feature.of_levels(f"s{i}", ("0", "1")) for i in range(1, values.shape[1] + 1))
        return ClassTask(name="led", features=features, values=values.astype(np.float64), rows=np.arange(self.rows),
                    classes=tuple("0123456789"), target=target)  # fmt: skip
