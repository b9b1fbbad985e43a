"""Waveform: each class a random mixture of two of three triangular waves, with unit normal noise.

h1(i) = max(6 − |i − 7|, 0), h2(i) = h1(i − 8), h3(i) = h1(i − 4), i = 1 … 21; x = u h_a + (1 − u) h_b + ε, u uniform on [0, 1].
The classes, of equal chance, mix (h1, h2), (h1, h3), (h2, h3). Bayes error about .14.
Source: Breiman et al. (1984, 2.6.2).
"""

from dataclasses import dataclass, replace

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.spec import one_of, whole
from modelsel.core.types import Codes, Floats, Task
from modelsel.dataset._given import Given, numeric_task

MIXTURES = np.array([[0, 1], [0, 2], [1, 2]])
AGAINST_REST = {"a": 2, "b": 0}  # A: h2 and h3 against the rest, B: h1 and h2 against the rest (Dvořák)


@dataclass(frozen=True)
class Waveform(Given):
    """`rows` of `seed`, and after them `test_rows` of `test_seed`, which are marked as held out and as fold 0.

    >>> len(Waveform(rows=100, test_rows=20).read())
    120
    """

    rows: int = whole(5000, least=2, help="rows to learn from")
    seed: int = whole(0, least=0, help="which rows")
    test_rows: int = whole(0, least=0, help="further rows, held out (split=predefined) or assessed (scheme=predefined)")
    test_seed: int = whole(0, least=0, help="which further rows: the same for every `seed`")
    irrelevant: int = whole(0, least=0, help="columns of pure noise beside the 21 (19 in the UCI set)")
    positive: str = one_of("none", "a", "b", help="one class against the rest: a is (h2, h3), b is (h1, h2)")

    def read(self) -> Task:
        values, target = self._draw(self.rows, generator(self.seed, "waveform"))
        more, further = self._draw(self.test_rows, generator(self.test_seed, "waveform test"))
        values, target = np.concatenate([values, more]), np.concatenate([target, further])
        classes = ["0", "1", "2"]
        if self.positive != "none":
            classes, target = ["rest", self.positive], (target == AGAINST_REST[self.positive]).astype(np.int32)
        name = "waveform" if self.positive == "none" else f"waveform_{self.positive}"
        task = numeric_task(name, [f"x{i}" for i in range(1, values.shape[1] + 1)], values, classes, target)
        held = task.rows >= self.rows
        return replace(task, held_out=held, folds=np.where(held, 0, -1)) if self.test_rows else task

    def _draw(self, rows: int, rng: np.random.Generator) -> tuple[Floats, Codes]:
        place = np.arange(1, 22)
        waves = np.maximum(6.0 - np.abs(place - np.array([[7], [15], [11]])), 0.0)
        target = rng.integers(3, size=rows).astype(np.int32)
        share = rng.random((rows, 1))
        pair = MIXTURES[target]
        values = share * waves[pair[:, 0]] + (1.0 - share) * waves[pair[:, 1]] + rng.standard_normal((rows, 21))
        return np.hstack([values, rng.standard_normal((rows, self.irrelevant))]), target
