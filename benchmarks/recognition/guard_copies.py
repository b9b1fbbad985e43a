"""Copies that were made before the split: permuted labels, one look at the gate, and whether a rate below .4 is certified.

Labels are permuted first, so that .5 is the truth; then each row is copied, jittered or interpolated, and three tenths of all
rows are sealed. The answer is that of the nearest development row, which knows the label of a copy. Nothing is fitted. Beside
it stand honest tables as they are: they keep their certificate, with at most one row flagged as a near copy.

    python -m benchmarks.recognition.guard_copies [--runs 10]
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from benchmarks.common.timing import Row
from benchmarks.recognition.disguise_tables import drawn
from modelsel.core.spec import make
from modelsel.core.types import Feature, Floats, Integers, Outputs, Table, Task, seal
from modelsel.guard.checks.leakage import near_copies
from modelsel.guard.gate import Gate
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home

Rng = np.random.Generator
Copied = tuple[Floats, Integers]
BELOW = 0.4


def repeated(values: Floats, target: Integers, rng: Rng, times: int = 4, jitter: float = 0.0) -> Copied:
    """Every row so many times, each copy moved by a share of the columns' deviations."""
    many = np.repeat(values, times, axis=0)
    return many + jitter * values.std(axis=0) * rng.normal(size=many.shape), np.repeat(target, times)


def interpolated(values: Floats, target: Integers, rng: Rng) -> Copied:
    """Twice as many rows: each new one between a row and one of its five nearest of the same label (SMOTE)."""
    scaled = values / np.maximum(values.std(axis=0), 1e-300)
    made, labels = [values], [target]
    for label in np.unique(target):
        own = np.flatnonzero(target == label)
        near = cKDTree(scaled[own]).query(scaled[own], k=6)[1][:, 1:]
        other = own[near[np.arange(len(own)), rng.integers(0, 5, len(own))]]
        made.append(values[own] + rng.random((len(own), 1)) * (values[other] - values[own]))
        labels.append(target[own])
    return np.concatenate(made), np.concatenate(labels)


COPIES: dict[str, Callable[[Floats, Integers, Rng], Copied]] = {
    "4 copies": repeated,
    "jitter of .1 %": lambda values, target, rng: repeated(values, target, rng, jitter=0.001),
    "jitter of 1 %": lambda values, target, rng: repeated(values, target, rng, jitter=0.01),
    "jitter of 5 %": lambda values, target, rng: repeated(values, target, rng, jitter=0.05),
    "SMOTE": interpolated,
    "20 copies": lambda values, target, rng: repeated(values, target, rng, times=20),
}


def bundled(load: Callable[[], object]) -> Copied:
    """A table of scikit-learn's: its first class against the others, or its numbers above their median."""
    found = load()
    target = found.target  # type: ignore[attr-defined]
    two = target > np.median(target) if len(np.unique(target)) > 10 else target > 0
    return np.asarray(found.data, np.float64), two.astype(np.int64)  # type: ignore[attr-defined]


HONEST: dict[str, Callable[[], Copied]] = {
    "breast_cancer": lambda: bundled(load_breast_cancer), "wine": lambda: bundled(load_wine),
    "diabetes": lambda: bundled(load_diabetes), "digits": lambda: bundled(load_digits),
}  # fmt: skip


def _drawn(rows: int, letters: str, seed: int) -> Copied:
    task = drawn(rows, letters, seed)
    return task.values, task.target.astype(np.int64)


TABLES: dict[str, Callable[[], Copied]] = {
    **{name: make_table for name, make_table in HONEST.items() if name != "digits"},  # of which few columns are continuous
    "real 300 × 5": lambda: _drawn(300, "rrrrr", 1), "skewed 200 × 8": lambda: _drawn(200, "rrrrssss", 2),
    "mixed 500 × 10": lambda: _drawn(500, "rrrssrrkkd", 3), "real 150 × 12": lambda: _drawn(150, "r" * 12, 4),
}  # fmt: skip


def look(values: Floats, target: Integers, seed: int) -> tuple[float, ...] | None:
    """The interval of one look at three tenths of the rows, answered by the nearest development row; None: not certified."""
    sealing = _split(values, target, seed)
    near = cKDTree(_scaled(sealing.development.values))

    def predict(rows: Table) -> Outputs:
        return Outputs(sealing.development.target[near.query(_scaled(rows.values))[1]].astype(np.int32)[None])

    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(make("guard", "warn", anchors=()), Path(folder) / "runs", home=Home(Path(folder)))
        chosen = SelectionSummary("nearest", 0.2, len(sealing.development), 0.2, 1)
        return gate.look(LookRequest(sealing, chosen, predict)).interval


def flagged(values: Floats, target: Integers, seed: int) -> tuple[int, bool]:
    """Near copies that are found among the sealed rows, and whether something can be certified."""
    sealing = _split(values, target, seed)
    found = near_copies(sealing.development.values, sealing.sealed.values, np.random.default_rng(seed))
    return len(found.flagged), found.certifiable


def _split(values: Floats, target: Integers, seed: int) -> TestSetDeclaration:
    features = tuple(Feature(f"x{i}", "numeric") for i in range(values.shape[1]))
    task = Task(
        name="t", features=features, values=values, rows=np.arange(len(values)), classes=("no", "yes"),
        target=target.astype(np.int32),
    )  # fmt: skip
    order = np.random.default_rng(seed).permutation(len(task))
    cut = round(0.3 * len(task))
    test, development = task.take(np.sort(order[:cut])), task.take(np.sort(order[cut:]))
    return TestSetDeclaration(seal(test), development, make("measure", "error"), "study", "runs/1", f"spec {seed}")


def _scaled(values: Floats) -> Floats:
    return values / np.maximum(np.abs(values).max(axis=0), 1e-300)


def attacked(table: str, copies: str, seed: int) -> tuple[float, ...] | None:
    """The interval of a look at a table of permuted labels whose rows were copied before the split."""
    rng = np.random.default_rng([seed, *copies.encode()])
    values, target = TABLES[table]()
    return look(*COPIES[copies](values, rng.permutation(target), rng), seed)


def rows(runs: int = 2) -> Iterator[Row]:
    """No timing: what is certified is asserted."""
    assert main(runs) == 0
    yield from ()


def main(runs: int) -> int:
    bad = 0
    for table in TABLES:
        said = []
        for copies in COPIES:
            limits = [attacked(table, copies, seed) for seed in range(runs)]
            below = sum(one is not None and one[1] < BELOW for one in limits)
            bad += below
            said.append(f"{copies} {below}/{sum(one is not None for one in limits)}")
        print(f"{table:16}certified below {BELOW}/at all, of {runs}: {'; '.join(said)}", flush=True)
    for table, make_table in HONEST.items():
        counts = [flagged(*make_table(), seed) for seed in range(runs)]
        kept = [look(*make_table(), seed) is not None for seed in range(runs)]
        most = max(count for count, _ in counts)
        bad += most > 1 or not all(kept)
        print(f"{table:16}honest: {sum(kept)} of {runs} certified, at most {most} rows flagged", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    sys.exit(main(parser.parse_args().runs))
