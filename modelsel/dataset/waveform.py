"""Waveform: each class a random mixture of two of three triangular waves, with unit normal noise.

h1(i) = max(6 − |i − 7|, 0), h2(i) = h1(i − 8), h3(i) = h1(i − 4), i = 1 … 21; x = u h_a + (1 − u) h_b + ε, u uniform on [0, 1].
The classes, of equal chance, mix (h1, h2), (h1, h3), (h2, h3). Bayes error about .14.
Source: Breiman et al. (1984, 2.6.2).

Two classes: A tells the mixture of the outer waves from the rest, B that of the middle wave and an outer one. Dvořák (2019)
calls them (h2, h3) and (h1, h2), which counts the waves from the middle one as Hastie et al. (2009) do: h1(i) = max(6 −
|i − 11|, 0), h2(i) = h1(i − 4), h3(i) = h1(i + 4). Only so do his areas come out, about 91 for A and 93 for B.
"""

from dataclasses import dataclass, replace

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.spec import number, one_of, whole
from modelsel.core.types import Codes, Floats, Task
from modelsel.dataset.base import BundledDataset, columns, numeric_task, scale_rows

MIXTURES = np.array([[0, 1], [0, 2], [1, 2]])
AGAINST_REST = {"a": 0, "b": 2}  # A: both outer waves, B: the middle one and the right one


@dataclass(frozen=True)
class Waveform(BundledDataset):
    """`rows` of `seed`, and after them `test_rows` of `test_seed`, which are marked as held out and as fold 0.

    With `sets` there are so many training sets, those of `seed`, `seed` + 1, ..., judged on the same test rows.

    >>> len(Waveform(rows=100, test_rows=20).read())
    120
    >>> Waveform(rows=100, test_rows=20, sets=3).read().folds.shape
    (320, 3)
    """

    rows: int = whole(5000, least=2, help="rows to learn from")
    seed: int = whole(0, least=0, help="which rows")
    test_rows: int = whole(0, least=0, help="further rows, held out (split=predefined) or assessed (scheme=predefined)")
    test_seed: int = whole(0, least=0, help="which further rows: the same for every `seed`")
    irrelevant: int = whole(0, least=0, help="columns of pure noise beside the 21 (19 in the UCI set)")
    positive: str = one_of(
        "none", "a", "b", help="one class against the rest: a mixes both outer waves, b the middle and an outer one"
    )
    sets: int = whole(0, least=0, help="training sets side by side, repeats of scheme=predefined; 0: one, and no repeats")
    scale: float = number(1.0, above=0.0, most=1.0, help="share of the rows that is made")

    def read(self) -> Task:
        size, further_rows = scale_rows(self.rows, self.scale), scale_rows(self.test_rows, self.scale)
        drawn = [self._draw(size, generator(self.seed + k, "waveform")) for k in range(max(self.sets, 1))]
        drawn.append(self._draw(further_rows, generator(self.test_seed, "waveform test")))
        values, target = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
        learnt = len(target) - further_rows
        classes = ["0", "1", "2"]
        if self.positive != "none":
            classes, target = ["rest", self.positive], (target == AGAINST_REST[self.positive]).astype(np.int32)
        name = "waveform" if self.positive == "none" else f"waveform_{self.positive}"
        task = numeric_task(name, [f"x{i}" for i in range(1, values.shape[1] + 1)], values, classes, target)
        if not further_rows:
            return task
        starts = range(0, learnt, size)
        folds = columns(len(task), ((np.arange(start, start + size), np.arange(learnt, len(task))) for start in starts))
        return replace(task, held_out=task.rows >= learnt, folds=folds if self.sets else folds[:, 0])

    def _draw(self, rows: int, rng: np.random.Generator) -> tuple[Floats, Codes]:
        """Draw rows: classes, and their mixtures of waves with noise."""
        place = np.arange(1, 22)
        waves = np.maximum(6.0 - np.abs(place - np.array([[7], [15], [11]])), 0.0)
        target = rng.integers(3, size=rows).astype(np.int32)
        share = rng.random((rows, 1))
        pair = MIXTURES[target]
        values = share * waves[pair[:, 0]] + (1.0 - share) * waves[pair[:, 1]] + rng.standard_normal((rows, 21))
        return np.hstack([values, rng.standard_normal((rows, self.irrelevant))]), target
