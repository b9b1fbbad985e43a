"""Attacks at the real gate, with ledgers on disk and without fits: does any interval miss where rows stand in units?

    python -m benchmarks.attacks.guard_units [--runs 100] [--scenario ...] [--kept FILE]

Sealed rows stand in sixty units of 1 to 12 rows. The labels of a unit are one fair coin, so that every model that does not know
them is wrong with probability ½ a row, whatever was asked before. An analyst asks models that are right or wrong unit by unit,
and votes of those that came out well. At δ = .05 at most 41 of 500 runs may have a miss.

    declared       units are declared at every look
    left out       they are declared at the first look, and no more
    dropped        so, and rows of the units on which the votes agree least are dropped besides
    borders        other units are declared at each look
    home           the first look is in another ledger, under another key
    merged         two homes look in turn without knowing of each other, then one takes over the other's ledger
    undeclared     units are never declared: no promise is made for it, and it fails
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from modelsel.core.spec import make
from modelsel.core.types import Feature, Floats, Integers, Outputs, Task, seal
from modelsel.guard.gate import Gate
from modelsel.guard.history.history import History
from modelsel.guard.matching.concurrent_looks import standing_interval
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.database.engines import sqlite_url
from modelsel.ledger.home import Home

SCENARIOS = ("declared", "left out", "dropped", "borders", "home", "merged", "undeclared")
UNITS, LOOKS, STEP = 60, 4, 5


@dataclass(frozen=True, eq=False)
class Attack:
    """A scenario's rows, and the homes that look at them."""

    scenario: str
    folder: Path
    rng: np.random.Generator

    def misses(self) -> bool:
        """Say whether an interval misses the ½ that every model has."""
        return any(interval is not None and not interval[0] <= 0.5 <= interval[1] for interval in self._intervals())

    def _intervals(self) -> Iterator[Any]:
        rng = self.rng
        unit = np.repeat(np.arange(UNITS), rng.integers(1, 13, UNITS))
        label, vote = rng.integers(0, 2, UNITS), np.zeros(UNITS)
        values, known = rng.normal(size=(len(unit), 3)), rng.normal(size=(80, 3))
        for look in range(1, LOOKS + 1):
            fresh = rng.choice([-1.0, 1.0], UNITS)
            said = ((vote + 0.1 * fresh if look == LOOKS else fresh) > 0).astype(np.int32)
            rows = self._asked(unit, vote, look)
            task = self._task(values[rows], label[unit[rows]], self._declared(unit[rows], look))
            result = self._gate(look).look(
                self._request(task, self._task(known, rng.integers(0, 2, 80), None), said[unit[rows]], look)
            )
            if result.score is not None:
                vote += np.sign(0.5 - result.score) * fresh
            yield result.interval if self.scenario != "merged" else None
        if self.scenario == "merged":
            yield from self._merged()

    def _asked(self, unit: Integers, vote: Floats, look: int) -> Integers:
        """The rows of a look."""
        if self.scenario != "dropped" or look < 3:
            return np.arange(len(unit))
        return np.flatnonzero(np.isin(unit, np.argsort(np.abs(vote), kind="stable")[UNITS // 5 :]))

    def _declared(self, unit: Integers, look: int) -> Integers | None:
        if self.scenario == "undeclared" or (look > 1 and self.scenario in ("left out", "dropped", "home")):
            return None
        return (unit + look - 1) // 2 if self.scenario == "borders" else unit

    def _task(self, values: Floats, label: Any, units: Integers | None) -> Task:
        features = tuple(Feature(f"x{i}", "numeric") for i in range(3))
        return Task(name="t", features=features, values=values, rows=np.arange(len(values)), classes=("no", "yes"),
                    target=np.asarray(label, np.int32), groups=units)  # fmt: skip

    def _request(self, test: Task, known: Task, said: Any, look: int) -> LookRequest:
        known = known if test.groups is None else Task(**{**_fields(known), "groups": -1 - np.arange(len(known))})
        sealing = TestSetDeclaration(seal(test), known, make("measure", "error"), "s", "runs/s/1", f"spec {look}")
        chosen = SelectionSummary(f"w {look}", 0.5, len(known), 0.5)
        return LookRequest(sealing, chosen, lambda _: Outputs(np.asarray(said, np.int32)[None]))

    def _gate(self, look: int) -> Gate:
        apart = {"ledger": "project", "project": "other"} if self.scenario == "home" and look == 1 else {}
        home = Home(self.folder / ("second" if self.scenario == "merged" and look % 2 else "first"))
        return Gate(make("guard", "warn", quota=None, anchors=(), **apart), self.folder / "runs", (), home)

    def _merged(self) -> Iterator[Any]:
        """The intervals that stand after one home has taken over the other's ledger."""
        first = self._gate(2)
        first.merge(sqlite_url((self.folder / "second" / "ledger.db").absolute()))
        history = History.of(first.session.ledger.entries())
        for look in history.looks:
            yield standing_interval(look, history.looks)


def _fields(task: Task) -> dict[str, Any]:
    return {name: getattr(task, name) for name in Task.__dataclass_fields__}


def missed(scenario: str, runs: int, first: int = 0) -> int:
    """Runs in which at least one interval misses."""
    found = 0
    for run in range(first, runs):
        with tempfile.TemporaryDirectory() as folder:
            found += Attack(scenario, Path(folder), np.random.default_rng(run)).misses()
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--scenario", nargs="+", default=SCENARIOS, choices=SCENARIOS)
    parser.add_argument("--kept", type=Path, help="file of the counts so far, from which the same command goes on")
    args = parser.parse_args()
    known: dict[str, Any] = json.loads(args.kept.read_text()) if args.kept is not None and args.kept.is_file() else {}
    print("| scenario | runs with a miss | runs |\n|---|---|---|")
    for scenario in args.scenario:
        done, many = known.get(scenario, (0, 0))
        while done < args.runs:
            until = min(args.runs, done + STEP)
            done, many = until, many + missed(scenario, until, done)
            known[scenario] = (done, many)
            if args.kept is not None:
                args.kept.write_text(json.dumps(known, indent=1))
        print(f"| {scenario} | {many} | {done} |", flush=True)


if __name__ == "__main__":
    main()
