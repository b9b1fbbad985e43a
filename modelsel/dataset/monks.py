"""The MONK's problems: three concepts over six nominal features, the whole space of 432 rows. Source: Thrun et al. (1991).

1: a1 = a2 or a5 = 1. 2: exactly two features have their first value. 3: (a5 = 3 and a4 = 1) or (a5 ≠ 4 and a2 ≠ 3).
The original training sets (124, 169, 122 rows; the third with 5 % wrong labels) are files of their own; here `noise`
flips labels of a drawn share of the rows.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.spec import number, whole
from modelsel.core.types import Task
from modelsel.dataset.base import BundledDataset, nominal_task

SIZES = (3, 3, 2, 3, 4, 2)


@dataclass(frozen=True)
class Monks(BundledDataset):
    """MONK's problems: one of three concepts over six nominal features.

    >>> [np.bincount(Monks(problem).read().target).tolist() for problem in (1, 2, 3)]
    [[216, 216], [290, 142], [204, 228]]
    """

    problem: int = whole(1, least=1, most=3, help="which of the three concepts")
    noise: float = number(0.0, least=0, most=1, help="share of rows whose label is flipped")
    seed: int = whole(0, least=0, help="which rows are flipped")

    def read(self) -> Task:
        levels = {f"a{i}": tuple(str(v) for v in range(1, size + 1)) for i, size in enumerate(SIZES, 1)}
        rows = list(product(*levels.values()))
        truth = np.array([self._concept(*(int(value) for value in row)) for row in rows])
        flipped = generator(self.seed, "monks").permutation(len(rows))[: round(self.noise * len(rows))]
        truth[flipped] ^= True
        return nominal_task(f"monks_{self.problem}", levels, rows, ("0", "1"), [str(int(label)) for label in truth])

    def _concept(self, *a: int) -> bool:
        """Evaluate the concept of the chosen problem on six values."""
        if self.problem == 1:
            return a[0] == a[1] or a[4] == 1
        if self.problem == 2:
            return a.count(1) == 2
        return (a[4] == 3 and a[3] == 1) or (a[4] != 4 and a[1] != 3)
