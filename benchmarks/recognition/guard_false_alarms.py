"""Pairs of studies that share no row: one look at each, and whether the second one is accused of anything.

Three kinds, 500 pairs each: tables that have nothing to do with each other (sorted by class, small, nominal, class-balanced;
often with the same names of columns), disjoint samples of one source, and disjoint parts of complete or balanced designs. An
accusation is a finding of severity medium or more about earlier studies (G01x, G02x); that equal rows stand on both sides of
a study's own split (G030) is true of some of these tables, and none.

    python -m benchmarks.recognition.guard_false_alarms [--pairs 500]
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.common.timing import Row
from benchmarks.recognition.disguise_tables import bundled, drawn
from modelsel.core.spec import make
from modelsel.core.types import Feature, Outputs, Table, Task, seal
from modelsel.guard.gate import Gate
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home

Pair = tuple[Task, Task]
Rng = np.random.Generator
LETTERS = ("rrrr", "rsiz", "kkkkkkkk", "bblkmk", "rrskkl", "i" * 12, "d" * 6, "b" * 10, "rrrrrrrr", "lm", "zz", "ddkk")
SHAPES = ((4, 4, 4, 3, 3, 3), (5, 5, 5, 5), (3, 3, 2, 3, 4, 2), (2,) * 9, (3,) * 6, (8, 8, 8), (12, 12))
BUNDLED = ("iris", "wine", "breast_cancer", "digits")


def unrelated(index: int, rng: Rng) -> Pair:
    """Another world each, the same number of rows and names of columns in every second pair."""
    sizes = rng.choice([60, 100, 150, 300, 700], 2)
    first, second = rng.integers(len(LETTERS), size=2)
    if index % 2:
        sizes[1], second = sizes[0], first
    return (
        _arranged(drawn(int(sizes[0]), LETTERS[first], 10 * index, 10 * index), index),
        _arranged(drawn(int(sizes[1]), LETTERS[second], 10 * index + 1, 10 * index + 1), index),
    )


def one_source(index: int, rng: Rng) -> Pair:
    """Two draws of one world, or disjoint halves of a table."""
    if index % 5 == 4:
        return _halves(bundled(BUNDLED[index // 5 % len(BUNDLED)]), rng)
    letters, rows = LETTERS[index % len(LETTERS)], int(rng.choice([80, 150, 400, 1000]))
    if index % 5 == 3:
        return _halves(drawn(2 * rows, letters, 10 * index), rng)
    return drawn(rows, letters, 10 * index, 10 * index), drawn(rows, letters, 10 * index + 1, 10 * index)


def designs(index: int, rng: Rng) -> Pair:
    """Disjoint halves of a complete design or of all boards, or two Latin hypercubes."""
    if index % 8 == 7:
        return _hypercube(200, 5, rng), _hypercube(200, 5, rng)
    if index % 8 == 6:
        return _halves(make("dataset", "tic_tac_toe").read(), rng)
    return _halves(_complete(SHAPES[index % 8 % len(SHAPES)], "nominal" if index % 3 else "numeric"), rng)


KINDS: dict[str, Callable[[int, Rng], Pair]] = {
    "unrelated tables": unrelated, "disjoint samples of one source": one_source, "complete and balanced designs": designs,
}  # fmt: skip


def accusations(pair: Pair) -> tuple[str, ...]:
    """Codes of what the second study is accused of, after a look in the first."""
    with tempfile.TemporaryDirectory() as folder:
        _look(Path(folder), pair[0], 0)
        gate = _look(Path(folder), pair[1], 1)
    grave = ("medium", "high", "critical")
    return tuple(sorted({f.code for f in gate.findings if f.severity in grave and f.code[:3] in ("G01", "G02")}))


def pair(kind: str, index: int) -> Pair:
    """The pair of this number; in every third the columns of the second table have other names."""
    first, second = KINDS[kind](index, np.random.default_rng([index, sorted(KINDS).index(kind)]))
    if index % 3 == 2:
        second = second.with_features(tuple(replace(f, name=f"{f.name} again") for f in second.features), second.values)
    return first, second


def _look(home: Path, task: Task, seed: int) -> Gate:
    order = np.random.default_rng(seed).permutation(len(task))
    cut = round(0.3 * len(task))
    test, development = task.take(np.sort(order[:cut])), task.take(np.sort(order[cut:]))
    sealing = TestSetDeclaration(
        seal(test), development, make("measure", "error"), f"study {seed}", f"runs/{seed}", f"spec {seed}"
    )
    wrong = float((development.target != 0).mean())
    gate = Gate(make("guard", "warn", anchors=()), home / "runs", home=Home(home))
    gate.look(LookRequest(sealing, SelectionSummary("zero", wrong, len(development), wrong, 1), _zeros))
    return gate


def _zeros(rows: Table) -> Outputs:
    return Outputs(np.zeros((1, len(rows)), np.int32))


def _arranged(task: Task, index: int) -> Task:
    """Sorted by class, with as many rows of either class, or as it is."""
    if index % 4 == 0:
        return _rows(task, np.argsort(task.target, kind="stable"))
    if index % 4 == 1:
        least = int(min(np.bincount(task.target, minlength=2)))
        return _rows(task, np.sort(np.concatenate([np.flatnonzero(task.target == c)[:least] for c in (0, 1)])))
    return task


def _halves(task: Task, rng: Rng) -> Pair:
    order = rng.permutation(len(task))
    cut = len(task) // 2
    return _rows(task, np.sort(order[:cut])), _rows(task, np.sort(order[cut:]))


def _complete(shape: tuple[int, ...], kind: str) -> Task:
    values = np.array(list(product(*(range(size) for size in shape))), np.float64)
    features = tuple(
        Feature(f"x{i}", kind, tuple(f"v{j}" for j in range(size)) if kind == "nominal" else ())  # type: ignore[arg-type]
        for i, size in enumerate(shape)
    )
    target = (values.sum(axis=1) > values.sum(axis=1).mean()).astype(np.int32)
    return Task(name="t", features=features, values=values, rows=np.arange(len(values)), classes=("no", "yes"), target=target)


def _hypercube(rows: int, columns: int, rng: Rng) -> Task:
    values = np.column_stack([rng.permutation(rows) for _ in range(columns)]) / rows
    features = tuple(Feature(f"x{i}", "numeric") for i in range(columns))
    target = (values[:, 0] > rng.random(rows)).astype(np.int32)
    return Task(name="t", features=features, values=values, rows=np.arange(rows), classes=("no", "yes"), target=target)


def _rows(task: Task, rows: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Task:
    return replace(task.take(rows), rows=np.arange(len(rows)))


def rows(pairs: int = 100) -> Iterator[Row]:
    """No timing: that nobody is accused is asserted, on the first pairs."""
    assert main(pairs) == 0
    yield from ()


def main(pairs: int) -> int:
    accused = 0
    for kind in KINDS:
        found = {index: codes for index in range(pairs) if (codes := accusations(pair(kind, index)))}
        accused += len(found)
        print(f"{kind:34}{len(found)} of {pairs} accused", dict(Counter(found.values())), list(found)[:20], flush=True)
    return 1 if accused else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=500)
    sys.exit(main(parser.parse_args().pairs))
