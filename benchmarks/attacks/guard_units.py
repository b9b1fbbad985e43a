"""Attacks at the real gate, with ledgers on disk and without fits: does any interval miss where rows stand in units?

    python -m benchmarks.attacks.at_the_gate --table units [--runs 500] [--kept FILE] [--cell "declared, groups" ...]

Sealed rows stand in sixty units of 1 to 12 rows. The labels of a unit are one fair coin, so that the mean loss of every model
that does not know them is known, whatever was asked before. An analyst asks models that are right or wrong unit by unit, and
votes of those that came out well. At δ = .05 at most 41 of 500 runs may have a miss.

    declared       units are declared at every look
    members        so, and four models whose predictions were on record are asked about before and after the others
    left out       they are declared at the first look, and no more
    dropped        so, and rows of the units on which the votes agree least are dropped besides
    measures       error, Brier score and costs in turn
    borders        other units are declared at each look
    home           the first look is in another ledger, under another key
    merged         two homes look in turn without knowing of each other, then one takes over the other's ledger
    stratified     as many units of either label
    undeclared     units are never declared: no promise is made for it, and it fails

Units: groups of unequal size; copies (ten equal rows each); weights of rows; Brier score; costs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.places import scratch
from modelsel.core.spec import make
from modelsel.core.types import Feature, Floats, Integers, Outputs, Sealed, Task, seal
from modelsel.guard.concurrent_looks import standing_interval
from modelsel.guard.gate import Gate
from modelsel.guard.history import History
from modelsel.guard.requests import LookRequest, OutOfFold, SelectionSummary, TestSetDeclaration
from modelsel.ledger.database.schema import sqlite_url
from modelsel.ledger.home import Home

SCENARIOS = (
    "declared", "members", "left out", "dropped", "measures", "borders", "home", "merged", "stratified", "undeclared",
)  # fmt: skip
KINDS = ("groups", "copies", "weights", "brier", "costs")
MEASURES = {"brier": {}, "cost_matrix": {"costs": ((0.0, 0.3), (1.0, 0.0))}, "error": {}}
UNITS, LOOKS, SPACE = 60, 4, 4


@dataclass(frozen=True, eq=False)
class Side:
    """Rows in units, development or sealed, with the label of each unit."""

    unit: Integers
    label: Integers
    values: Floats
    weights: Floats | None


@dataclass(frozen=True, eq=False)
class Attack:
    """A scenario's rows, and the homes that look at them; `anew`: each look by a gate of its own, as a process has it."""

    scenario: str
    units: str
    folder: Path
    rng: np.random.Generator
    anew: bool = False
    gates: dict[Path, Gate] = field(default_factory=dict)
    sides: dict[tuple[Any, ...], tuple[Sealed, Task]] = field(default_factory=dict)

    def misses(self) -> bool:
        """Say whether an interval misses what every model has that does not know the labels."""
        return any(interval is not None and not interval[0] <= truth <= interval[1] for interval, truth in self.intervals())

    def _side(self) -> Side:
        rng, even = self.rng, self.scenario == "stratified"
        size = np.full(UNITS, 10) if self.units == "copies" else rng.integers(1, 13, UNITS)
        unit = np.repeat(np.arange(UNITS), size)
        label = rng.permutation(np.arange(UNITS) % 2) if even else rng.integers(0, 2, UNITS)
        values = rng.normal(size=(len(unit), 3))
        values = values[np.searchsorted(unit, unit)] if self.units == "copies" else values
        return Side(unit, label, values, rng.uniform(0.5, 3, len(unit)) if self.units == "weights" else None)

    def _measure(self, look: int) -> Any:
        own = {"brier": "brier", "costs": "cost_matrix"}.get(self.units, "error")
        name = list(MEASURES)[look % 3] if self.scenario == "measures" else own
        return make("measure", name, **MEASURES[name])

    def intervals(self) -> Iterator[tuple[Any, float]]:
        """The interval of each look, and the mean loss that it should hold."""
        sealed, known, vote = self._side(), self._side(), np.zeros(UNITS)
        members = {f"member {i}": self._fresh() for i in range(SPACE)} if self.scenario == "members" else {}
        self._commit(sealed, known, members)
        names = [*members][: SPACE // 2] + [""] * LOOKS + [*members][SPACE // 2 :]
        truths, free = [], 0
        for look, name in enumerate(names, 1):
            free += not name
            fresh = members[name] if name else self._fresh()
            signs = vote + 0.1 * fresh if not name and free == LOOKS else fresh
            rows, measure = self._asked(sealed, vote, look), self._measure(look)
            said = self._said(signs[sealed.unit[rows]])
            truth = _expected(measure, said, None if sealed.weights is None else sealed.weights[rows])
            result = self._gate(look).look(self._request(sealed, known, rows, look, said, measure, name))
            truths += [] if result.replay else [truth]
            if result.score is not None:
                vote += np.sign(truth - result.score) * fresh
            if self.scenario != "merged":
                yield result.interval, truth
        if self.scenario == "merged":
            yield from zip(self._merged(), truths, strict=True)

    def _fresh(self) -> Floats:
        """A model that knows nothing: a sign for each unit."""
        return np.asarray(self.rng.choice([-1.0, 1.0], UNITS))

    def _commit(self, sealed: Side, known: Side, members: dict[str, Floats]) -> None:
        """Put the predictions of declared models on record, before anything is answered."""
        every = np.arange(len(sealed.unit))
        for name, signs in members.items():
            said = self._said(signs[sealed.unit])
            request = self._request(sealed, known, every, 1, said, self._measure(1), name)
            self._gate(1).select(request.sealing, request.selected, request.predict)

    def _said(self, signs: Floats) -> Outputs:
        """Classes, and where chances are judged these too."""
        chance = 1 / (1 + np.exp(-2 * np.clip(signs, -2, 2)))
        return Outputs((signs > 0).astype(np.int32)[None], np.column_stack([1 - chance, chance])[None])

    def _asked(self, sealed: Side, vote: Floats, look: int) -> Integers:
        """The rows of a look."""
        if self.scenario != "dropped" or look < 3:
            return np.arange(len(sealed.unit))
        return np.flatnonzero(np.isin(sealed.unit, np.argsort(np.abs(vote), kind="stable")[UNITS // 5 :]))

    def _declared(self, unit: Integers, look: int) -> Integers | None:
        if self.scenario == "undeclared" or (look > 1 and self.scenario in ("left out", "dropped", "home")):
            return None
        return (unit + look - 1) // 2 if self.scenario == "borders" else unit

    def _task(self, side: Side, rows: Integers, units: Integers | None) -> Task:
        features = tuple(Feature(f"x{i}", "numeric") for i in range(3))
        return Task(name="t", features=features, values=side.values[rows], rows=np.arange(len(rows)), classes=("no", "yes"),
                    target=side.label[side.unit[rows]].astype(np.int32), groups=units,
                    weights=None if side.weights is None else side.weights[rows])  # fmt: skip

    def _request(
        self, sealed: Side, known: Side, rows: Integers, look: int, said: Outputs, measure: Any, name: str
    ) -> LookRequest:
        test, learnt = self._sides(sealed, known, rows, look)
        foreseen = self._said(self._fresh()[known.unit])
        space = tuple(f"member {i}" for i in range(SPACE)) if self.scenario == "members" else ()
        sealing = TestSetDeclaration(test, learnt, measure, "s", "runs/s/1", f"spec {look}", {}, space)
        chosen = SelectionSummary(name or f"w {look}", _expected(measure, foreseen, learnt.weights), len(learnt), 0.5)
        seen = OutOfFold(foreseen, learnt.target, learnt.groups, learnt.weights)
        return LookRequest(sealing, chosen, lambda _: said, seen=seen)

    def _sides(self, sealed: Side, known: Side, rows: Integers, look: int) -> tuple[Sealed, Task]:
        """The sealed rows and those that choose, as they are declared now; the same ones are made once."""
        declared = self._declared(sealed.unit[rows], look)
        place = (look,) if self.anew else (rows.tobytes(), None if declared is None else declared.tobytes())
        if place not in self.sides:
            learnt = self._task(known, np.arange(len(known.unit)), None if declared is None else -1 - known.unit)
            self.sides[place] = seal(self._task(sealed, rows, declared)), learnt
        return self.sides[place]

    def _gate(self, look: int) -> Gate:
        apart = {"ledger": "project", "project": "other"} if self.scenario == "home" and look == 1 else {}
        home = Home(self.folder / ("second" if self.scenario == "merged" and look % 2 else "first"))
        place = home.folder / ("apart" if apart else "")
        if self.anew or place not in self.gates:
            self.gates[place] = Gate(make("guard", "warn", quota=None, anchors=(), **apart), self.folder / "runs", (), home)
        return self.gates[place]

    def _merged(self) -> Iterator[Any]:
        """The intervals that stand after one home has taken over the other's ledger."""
        first = self._gate(2)
        first.merge(sqlite_url((self.folder / "second" / "ledger.db").absolute()))
        history = History.of(first.session.ledger.entries())
        for look in history.looks:
            yield standing_interval(look, history.looks)


def _expected(measure: Any, said: Outputs, weights: Floats | None) -> float:
    """The mean loss over labels that are fair coins."""
    rows = said.predicted.shape[1]
    losses = [measure.losses(np.full(rows, code, np.int32), said, 2)[0] for code in (0, 1)]
    return float(np.average(np.mean(losses, axis=0), weights=weights))


def missed(scenario: str, units: str, run: int) -> bool:
    """Say whether at least one interval of a run misses."""
    place = SCENARIOS.index(scenario), KINDS.index(units)
    with scratch() as folder:
        return Attack(scenario, units, folder, np.random.default_rng([run, *place])).misses()
