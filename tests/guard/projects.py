"""Projects over real and generated tables, honest ones and ones with a planted peek, for controls of both kinds."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from modelsel.core.spec import make
from modelsel.core.types import Task
from tests.guard.studies import Rule, Study, shuffled

TABLES: tuple[Callable[[], Task], ...] = (
    lambda: make("dataset", "tic_tac_toe").read(),  # fully enumerated: every board once
    lambda: make("dataset", "monks", problem=1).read(),  # fully enumerated
    lambda: make("dataset", "led", rows=600).read(),  # 128 different rows
    lambda: make("dataset", "balloons").read(),  # 16 different rows
    lambda: make("dataset", "sklearn_bundled", which="iris").read(),
    lambda: make("dataset", "sklearn_bundled", which="wine").read(),
    lambda: make("dataset", "sklearn_bundled", which="breast_cancer").read(),
    lambda: make("dataset", "waveform", rows=500).read(),
)


@cache
def table(index: int) -> Task:
    return TABLES[index % len(TABLES)]()


def honest(home: Path, index: int) -> list[str]:
    """Choose a few times, test once, run again, test fresh rows: the flags that are high or worse."""
    rng = np.random.default_rng(index)
    task = table(index)
    halves = np.array_split(rng.permutation(len(task)), 2)
    columns = task.values.shape[1]
    grave: list[str] = []
    for turn, rows in enumerate(halves if index % 3 else halves[:1]):
        own = task.take(np.sort(rows))
        study = Study(own, home, rule=Rule(int(rng.integers(columns)), float(own.values[:, 0].mean())), split_seed=turn)
        gates = [study.but(rule=Rule(int(c))).choose_only() for c in rng.integers(columns, size=2)]
        gates += [study.run()[1] for _ in range(2)]
        grave += [f.code for gate in gates for f in gate.findings if f.severity in ("high", "critical")]
    return grave


def peeking(home: Path, index: int) -> list[str]:
    """Test, change something in the light of the answer, test again: the flags that are high or worse at the end."""
    rng = np.random.default_rng(index)
    task = table(index)
    study = Study(task, home, rule=Rule(0, float(task.values[:, 0].mean())))
    study.look()
    ways: tuple[Callable[[], Study], ...] = (
        lambda: study.but(rule=Rule(1, float(task.values[:, 1].mean()))),
        lambda: study.but(task=shuffled(task, index), split_seed=index + 1, rule=Rule(1)),
    )
    low_entropy = index % len(TABLES) in (2, 3)  # there a new split is a fresh sample as far as values can tell
    gate = ways[0 if low_entropy else int(rng.integers(2))]().run()[1]
    return [f.code for f in gate.findings if f.severity in ("high", "critical")]
