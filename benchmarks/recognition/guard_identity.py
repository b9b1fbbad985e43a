"""Knowing rows again: all fingerprints of 200,000 and 300,000 × 20 mixed columns, alone and with that table remembered.

Keyed hashes with and without names, labels and ranks, sketches of columns, nearly unique columns, order of labels: what one
sealing takes, within a budget of a few seconds. Beside it stands `pandas.util.hash_pandas_object`, which knows neither keys nor
renamed columns nor other number types, and gives another answer for shuffled rows.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.timing import Row, processor, side_by_side
from modelsel.core.spec import make
from modelsel.core.types import Feature, Outputs, Table, Task, seal
from modelsel.guard.gate import Gate
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home

ROWS, BUDGET, TURNS = 200_000, 5.0, 3
LARGER, ISSUE = 300_000, 1.8  # a fifth of the nine seconds that it took one row after the other
LEVELS = tuple(f"level {i}" for i in range(12))


def table(rows: int = ROWS) -> Task:
    """Ten continuous, four whole-numbered and six nominal columns."""
    rng = np.random.default_rng(0)
    values = np.column_stack([
        *rng.normal(size=(10, rows)).round(6), *rng.integers(0, 5000, (4, rows)), *rng.integers(0, len(LEVELS), (6, rows)),
    ])  # fmt: skip
    kinds = [*["numeric"] * 14, *["nominal"] * 6]
    features = tuple(Feature(f"x{i}", kind, LEVELS if kind == "nominal" else ()) for i, kind in enumerate(kinds))  # type: ignore[arg-type]
    target = (values[:, 0] + rng.normal(size=rows) > 0).astype(np.int32)
    return Task(name="t", features=features, values=values, rows=np.arange(rows), classes=("no", "yes"), target=target)


def sealing(task: Task, seed: int = 0) -> TestSetDeclaration:
    order = np.random.default_rng(seed).permutation(len(task))
    cut = round(len(task) * 0.3)
    test, development = task.take(np.sort(order[:cut])), task.take(np.sort(order[cut:]))
    return TestSetDeclaration(seal(test), development, make("measure", "error"), "study", "runs/1", "spec")


def disguised(task: Task) -> Task:
    """The same rows in another order, their columns renamed and turned round."""
    turned = task.take(np.random.default_rng(5).permutation(len(task)))
    features = tuple(replace(feature, name=f"column {i}") for i, feature in enumerate(task.features[::-1]))
    return replace(turned.with_features(features, turned.values[:, ::-1]), rows=np.arange(len(task)))


def rows() -> Iterator[Row]:
    """Fingerprints alone, a whole look with the table remembered and in disguise, and a hash of rows beside them."""
    whole_table = sealing(table(LARGER))
    with tempfile.TemporaryDirectory() as folder:
        guard = lambda: Gate(make("guard", "warn", anchors=()), Path(folder) / "runs", home=Home(Path(folder)))  # noqa: E731
        work = f"all fingerprints of {LARGER:,} × 20, processor time"
        yield _within(work, lambda: guard().subject(whole_table), "digests of earlier versions are a test", ISSUE)
    task = table()
    other = disguised(task)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        gate = lambda: Gate(make("guard", "warn", anchors=()), home / "runs", home=Home(home))  # noqa: E731
        first, again = sealing(task), sealing(other, seed=1)
        digest = gate().subject(first).digest
        whole = TestSetDeclaration(again.sealed, again.development, again.measure, "study", "runs/2", "other")
        yield _within(f"all fingerprints of {ROWS:,} × 20", lambda: gate().subject(first), "the same rows have the same digest")
        yield side_by_side(
            f"all fingerprints of {ROWS:,} × 20", "pandas hash_pandas_object, one hash per row, no key",
            lambda: gate().subject(first), lambda: _hashed(task), equal="none asked: it answers less", turns=TURNS,
        )  # fmt: skip
        assert _look(gate(), first).look == 1
        assert gate().subject(first).digest == digest
        tested = set(map(bytes, first.sealed.values))
        shares = sum(row.tobytes() in tested for row in again.sealed.values[:, ::-1]) / len(again.sealed.values)
        yield _within(
            f"the same in disguise, with {ROWS:,} rows remembered", lambda: gate().subject(whole), "names found again"
        )
        result = _look(gate(), whole)
        assert {"G020", "G021"} <= set(result.flags)
        overlap = gate().session.ledger.entries()
        (share,) = [one["share"] for e in overlap if e.kind == "intent" for one in e.facts["overlap"] if one["as"] == "test"]
        assert abs(share - shares) < 1e-6


def _within(work: str, ours: Callable[[], object], equal: str, budget: float = BUDGET) -> Row:
    ours()
    times = sorted(processor(ours) for _ in range(TURNS))
    return Row(work, f"a budget of {budget:g} s", tuple(t / budget for t in times), times[TURNS // 2], budget, equal, most=1.0)


def _look(gate: Gate, what: TestSetDeclaration) -> object:
    def predict(rows: Table) -> Outputs:
        return Outputs((rows.values[:, 0] > 0).astype(np.int32)[None])

    return gate.look(LookRequest(what, SelectionSummary("a", 0.3, 140_000, 0.3, 1), predict))


def _hashed(task: Task) -> object:
    frame = pd.DataFrame({
        feature.name: pd.Categorical.from_codes(task.values[:, i].astype(int), LEVELS) if feature.levels else task.values[:, i]
        for i, feature in enumerate(task.features)
    })  # fmt: skip
    return pd.util.hash_pandas_object(frame, index=False)


if __name__ == "__main__":
    for row in rows():
        print(f"{row.work}: {row.ours:.2f} s ({row.against}: {row.theirs:.2f} s)")
