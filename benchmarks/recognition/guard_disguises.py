"""Thirty-six disguises of ten tables: one look at the table under `guard=strict`, then a look at it in disguise.

A disguise is *seen* when the second look is refused, or shown as the next look that it is without a certificate. A reseeded
disguise is also split by another seed. Tables of a folder (CSV, the class in the last column) are measured with `--folder`.

    python -m benchmarks.recognition.guard_disguises [--folder FOLDER] [--only TABLE]
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, reduce
from pathlib import Path

import numpy as np

from benchmarks.common.timing import Row
from benchmarks.recognition.disguise_tables import given, tables
from modelsel.core.spec import make
from modelsel.core.types import Feature, Floats, Outputs, Table, Task, seal
from modelsel.guard.gate import Gate
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home

Change = Callable[[Task, np.random.Generator], Task | None]  # None: there is nothing here to be changed so
GOAL = 0.95


@dataclass(frozen=True)
class Disguise:
    """Changes one after the other; `reseeded`: with another seed of the split."""

    name: str
    changes: tuple[Change, ...]
    reseeded: bool = True

    def of(self, task: Task, seed: int = 1) -> Task | None:
        rng = np.random.default_rng(seed)
        return reduce(lambda done, change: None if done is None else change(done, rng), self.changes, task)  # type: ignore[arg-type,return-value]


def shuffled(task: Task, rng: np.random.Generator) -> Task:
    return _rows(task, rng.permutation(len(task)))


def constant(task: Task, rng: np.random.Generator) -> Task:
    del rng
    return task.with_features((*task.features, Feature("one", "numeric")), np.c_[task.values, np.ones(len(task))])


def random_column(task: Task, rng: np.random.Generator) -> Task:
    return task.with_features((*task.features, Feature("any", "numeric")), np.c_[task.values, rng.normal(size=len(task))])


def dropped(task: Task, rng: np.random.Generator, count: int = 1) -> Task:
    return _kept(task, np.sort(rng.permutation(len(task.features))[count:]))


def nominal_dropped(task: Task, rng: np.random.Generator) -> Task | None:
    nominal = [i for i, feature in enumerate(task.features) if feature.kind != "numeric"]
    if not nominal or len(task.features) < 2:
        return None
    gone = rng.choice(nominal)
    return _kept(task, np.array([i for i in range(len(task.features)) if i != gone]))


def half_dropped(task: Task, rng: np.random.Generator) -> Task:
    return dropped(task, rng, len(task.features) // 2)


def renamed(task: Task, rng: np.random.Generator) -> Task:
    del rng
    features = tuple(replace(feature, name=f"column {i}") for i, feature in enumerate(task.features))
    return task.with_features(features, task.values)


def reordered(task: Task, rng: np.random.Generator) -> Task:
    order = rng.permutation(len(task.features))
    return task.with_features(tuple(task.features[i] for i in order), task.values[:, order])


def levels_renamed(task: Task, rng: np.random.Generator) -> Task | None:
    def other(feature: Feature) -> Feature:
        return replace(feature, levels=tuple(f"{feature.name}/{i}" for i in rng.permutation(len(feature.levels))))

    if all(feature.kind == "numeric" for feature in task.features):
        return None
    return task.with_features(tuple(map(other, task.features)), task.values)


def one_hot(task: Task, rng: np.random.Generator) -> Task | None:
    del rng
    if all(feature.kind == "numeric" for feature in task.features):
        return None
    features: list[Feature] = []
    columns: list[Floats] = []
    for feature, values in zip(task.features, task.values.T):
        levels = range(len(feature.levels)) if feature.kind != "numeric" else ()
        features += [Feature(f"{feature.name}={i}", "numeric") for i in levels] or [feature]
        columns += [(values == i).astype(np.float64) for i in levels] or [values]
    return task.with_features(tuple(features), np.column_stack(columns))


def as_codes(task: Task, rng: np.random.Generator) -> Task | None:
    del rng
    if all(feature.kind == "numeric" for feature in task.features):
        return None
    return task.with_features(tuple(Feature(feature.name, "numeric") for feature in task.features), task.values)


def noise(size: float) -> Change:
    return _numbers(lambda x, rng: x + size * np.nanstd(x) * rng.normal(size=len(x)))


def subset(share: float) -> Change:
    return lambda task, rng: _rows(task, np.sort(rng.permutation(len(task))[: round(share * len(task))]))


def row_less(task: Task, rng: np.random.Generator) -> Task:
    return _rows(task, np.delete(np.arange(len(task)), rng.integers(len(task))))


def row_more(task: Task, rng: np.random.Generator) -> Task:
    more = _rows(task, np.append(np.arange(len(task)), rng.integers(len(task))))
    values = more.values.copy()
    values[-1] = np.nan
    return replace(more, values=values)


def duplicates(task: Task, rng: np.random.Generator) -> Task:
    return _rows(task, np.append(np.arange(len(task)), rng.integers(len(task), size=len(task) // 10)))


def _numbers(change: Callable[[Floats, np.random.Generator], Floats]) -> Change:
    def changed(task: Task, rng: np.random.Generator) -> Task | None:
        values = task.values.copy()
        numeric = [i for i, feature in enumerate(task.features) if feature.kind == "numeric"]
        for i in numeric:
            values[:, i] = change(values[:, i], rng)
        return task.with_features(task.features, values) if numeric else None

    return changed


def _five(x: Floats, rng: np.random.Generator) -> Floats:
    del rng
    return np.array([float(f"{value:.5g}") for value in x])


scaled = _numbers(lambda x, rng: x * rng.uniform(0.1, 10) + rng.normal())
turned = _numbers(lambda x, rng: 3 - 2 * x)
standardised = _numbers(lambda x, rng: (x - np.nanmean(x)) / (np.nanstd(x) or 1.0))
rounded = _numbers(lambda x, rng: x.round(2))
five = _numbers(_five)
single = _numbers(lambda x, rng: x.astype(np.float32).astype(np.float64))
monotone = _numbers(lambda x, rng: np.arctan((x - np.nanmedian(x)) / (np.nanstd(x) or 1.0)) + 3)

DISGUISES: tuple[Disguise, ...] = (
    Disguise("constant column added, shuffled", (constant, shuffled)),
    Disguise("nominal column dropped", (nominal_dropped, shuffled)),
    Disguise("levels renamed", (levels_renamed, shuffled)),
    Disguise("noise of 1e-7 of a deviation", (noise(1e-7), shuffled)),
    Disguise("noise of 1e-5", (noise(1e-5), shuffled)),
    Disguise("noise of 1e-3", (noise(1e-3), shuffled)),
    Disguise("noise of 1e-7, same order", (noise(1e-7),), reseeded=False),
    Disguise("noise of 1e-5, same order", (noise(1e-5),), reseeded=False),
    Disguise("noise of 1e-3, same order", (noise(1e-3),), reseeded=False),
    Disguise("scaled, a column dropped", (scaled, dropped, shuffled)),
    Disguise("90 % of the rows, standardised", (subset(0.9), standardised)),
    Disguise("90 % of the rows, standardised, same seed", (subset(0.9), standardised), reseeded=False),
    Disguise("90 % of the rows, levels renamed", (subset(0.9), levels_renamed)),
    Disguise("two decimals", (rounded, shuffled)),
    Disguise("two decimals, same order", (rounded,), reseeded=False),
    Disguise("five digits", (five, shuffled)),
    Disguise("five digits, same order", (five,), reseeded=False),
    Disguise("columns renamed", (renamed, shuffled)),
    Disguise("single precision", (single, shuffled)),
    Disguise("a tenth of the rows twice", (duplicates, shuffled)),
    Disguise("increasing maps", (monotone, shuffled)),
    Disguise("increasing maps, a column dropped", (monotone, dropped, shuffled)),
    Disguise("decreasing scale", (turned, shuffled)),
    Disguise("a row more", (row_more, shuffled)),
    Disguise("a row less", (row_less, shuffled)),
    Disguise("a row less, standardised", (row_less, standardised, shuffled)),
    Disguise("a row less, increasing maps, renamed", (row_less, monotone, renamed, shuffled)),
    Disguise("constant column added, levels renamed", (constant, levels_renamed, shuffled)),
    Disguise("a column dropped, renamed", (dropped, renamed, shuffled)),
    Disguise("noise of 1e-5, a column dropped, renamed", (noise(1e-5), dropped, renamed, shuffled)),
    Disguise("noise of 1e-3, scaled, renamed", (noise(1e-3), scaled, renamed, shuffled)),
    Disguise("random column added", (random_column, shuffled)),
    Disguise("columns reordered, renamed, scaled", (reordered, renamed, scaled, shuffled)),
    Disguise("levels as columns of 0 and 1", (one_hot, shuffled)),
    Disguise("levels as codes", (as_codes, shuffled)),
    Disguise("half of the columns dropped", (half_dropped, shuffled)),
)  # fmt: skip


def measured(task: Task, disguises: tuple[Disguise, ...] = DISGUISES, seed: int = 1) -> dict[str, bool]:
    """Whether each disguise of one table is seen; those that change nothing of it are left out."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "first"
        look(first, task, 0)
        for disguise in disguises:
            other = disguise.of(task, seed)
            if other is not None:
                home = Path(folder) / "home"
                shutil.copytree(first, home)
                found[disguise.name] = look(home, other, 1 if disguise.reseeded else 0, "another") != "answered"
                shutil.rmtree(home)
    return found


def look(home: Path, task: Task, seed: int, spec: str = "first") -> str:
    """refused, replayed, uncertified or answered: what becomes of one look at 30 % of the rows under `guard=strict`."""
    order = np.random.default_rng(seed).permutation(len(task))
    cut = round(0.3 * len(task))
    test, development = task.take(np.sort(order[:cut])), task.take(np.sort(order[cut:]))
    sealing = TestSetDeclaration(seal(test), development, make("measure", "error"), "study", "runs/1", spec)

    def predict(rows: Table) -> Outputs:
        return Outputs(np.full((1, len(rows)), int(spec == "first"), np.int32))

    gate = Gate(make("guard", "strict", anchors=()), home / "runs", home=Home(home))
    result = gate.look(LookRequest(sealing, SelectionSummary(spec, 0.3, 800, 0.3, 1), predict))
    if result.refused:
        return "refused"
    if result.replay:
        return "replayed"
    return "answered" if result.interval else "uncertified"


def _rows(task: Task, rows: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Task:
    return replace(task.take(rows), rows=np.arange(len(rows)))


def _kept(task: Task, columns: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Task:
    return task.with_features(tuple(task.features[i] for i in columns), task.values[:, columns])


@cache
def _measured(name: str) -> dict[str, bool]:
    return measured(tables()[name]())


def rows() -> Iterator[Row]:
    """No timing: the share that is seen is asserted."""
    found = [seen for name in tables() for seen in _measured(name).values()]
    assert sum(found) >= GOAL * len(found)
    yield from ()


def main(folder: Path | None, only: str | None) -> int:
    chosen = given(folder) if folder else tables()
    seen = tried = 0
    for name, make_table in chosen.items():
        if only is None or only in name:
            found = measured(make_table())
            seen, tried = seen + sum(found.values()), tried + len(found)
            missed = ", ".join(disguise for disguise, one in found.items() if not one)
            print(f"{name:26}{sum(found.values()):3} of {len(found)}; not seen: {missed}", flush=True)
    print(f"{seen} of {tried} disguises seen ({seen / max(1, tried):.1%})")
    return 0 if seen >= GOAL * tried else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="tables (CSV, the class in the last column) instead of the ten")
    parser.add_argument("--only", help="a part of a table's name")
    options = parser.parse_args()
    sys.exit(main(options.folder, options.only))
