"""Tables, models and gates for tests of the guard: small, real, and quick to vary."""

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from modelsel.core.outcome import TestResult
from modelsel.core.spec import make
from modelsel.core.types import Feature, NumberOutputs, Outputs, Table, Task, seal
from modelsel.guard.gate import Gate
from modelsel.guard.labels import wrong
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home


def numbers(rows: int = 400, columns: int = 4, seed: int = 0) -> Task:
    """A table of continuous columns, every row distinct; the label follows the first two, with noise."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, columns)).round(4)
    target = (values[:, 0] + values[:, 1] + rng.normal(size=rows) > 0).astype(np.int32)
    features = tuple(Feature(f"x{i}", "numeric") for i in range(columns))
    return Task(name="numbers", features=features, values=values, rows=np.arange(rows), classes=("no", "yes"), target=target)


def amounts(rows: int = 400, columns: int = 4, seed: int = 0) -> Task:
    """The same with a number as target, which follows the first two columns, with noise."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, columns)).round(4)
    target = 100 + 20 * values[:, 0] + 20 * values[:, 1] + 10 * rng.normal(size=rows)
    features = tuple(Feature(f"x{i}", "numeric") for i in range(columns))
    return Task(name="amounts", features=features, values=values, rows=np.arange(rows), target=target, measured_in="kg")


def renamed(task: Task, names: Mapping[str, str]) -> Task:
    return replace(task, features=tuple(replace(f, name=names.get(f.name, f.name)) for f in task.features))


def shuffled(task: Task, seed: int = 1) -> Task:
    order = np.random.default_rng(seed).permutation(len(task))
    return replace(task.take(order), rows=np.arange(len(task)))


@dataclass(frozen=True)
class Rule:
    """A model that needs no training: class 1 where a column is above a cut."""

    column: int = 0
    cut: float = 0.0

    def __call__(self, table: Table) -> Outputs:
        said = (table.values[:, self.column] > self.cut).astype(np.int32)[None]
        p = np.where(said == 1, 0.8, 0.2)
        return Outputs(said, np.stack([1 - p, p], axis=2))


@dataclass(frozen=True)
class Line:
    """A model of numbers that needs no training: a line in two columns."""

    slopes: tuple[float, float] = (20.0, 20.0)

    def __call__(self, table: Table) -> Outputs:
        return NumberOutputs((100 + table.values[:, :2] @ np.array(self.slopes))[None])


@dataclass(frozen=True)
class Study:
    """One study over a task: split by seed, seal, select, look; every setting can be varied."""

    task: Task
    home: Path
    policy: str = "warn"
    settings: Mapping[str, Any] = field(default_factory=dict)
    rule: Rule | Line = Rule()
    spec: str = ""
    test: float = 0.3
    split_seed: int = 0
    measure: Any = None
    candidates: tuple[str, ...] = ()
    anchors: tuple[Any, ...] = ()
    seed: int = 0
    runs: Path | None = None
    target: str = ""

    def parts(self) -> tuple[Task, Task]:
        order = np.random.default_rng(self.split_seed).permutation(len(self.task))
        cut = round(len(self.task) * self.test)
        return self.task.take(np.sort(order[cut:])), self.task.take(np.sort(order[:cut]))

    def gate(self) -> Gate:
        policy = make("guard", self.policy, **self.settings)
        return Gate(policy, self.runs or self.home / "runs", self.anchors, Home(self.home))

    def sealing(self) -> TestSetDeclaration:
        development, test = self.parts()
        spec = self.spec or f"rule {' '.join(map(str, astuple(self.rule)))}"
        return TestSetDeclaration(
            seal(test), development, self.measure or make("measure", "error"), "study", "runs/study/1", spec,
            {"rule": asdict(self.rule), "spec": spec} | ({"dataset": {"target": self.target}} if self.target else {}),
            self.candidates, self.seed,
        )  # fmt: skip

    def request(self, sealing: TestSetDeclaration) -> LookRequest:
        task = sealing.development
        off = wrong(sealing.measure, self.rule(task), task.target, task.class_count)
        selected = SelectionSummary(
            f"{self.rule}", float(off.mean()), len(off), float(off.mean()), max(1, len(self.candidates))
        )
        return LookRequest(sealing, selected, self.rule)

    def look(self) -> TestResult:
        return self.run()[0]

    def run(self) -> tuple[TestResult, Gate]:
        gate, sealing = self.gate(), self.sealing()
        return gate.look(self.request(sealing)), gate

    def choose_only(self) -> Gate:
        gate, sealing = self.gate(), self.sealing()
        gate.seal(sealing)
        gate.select(sealing, self.request(sealing).selected, self.rule)
        return gate

    def choose_and_look(self) -> TestResult:
        self.choose_only()
        return self.look()

    def but(self, **changes: Any) -> "Study":
        return replace(self, **changes)


def one_look(folder: Path, policy: str) -> TestResult:
    """The beginning of many tests: the plain study has looked, in the home of a folder."""
    return Study(numbers(), folder / "home", policy=policy).look()


def uncertified(gate: Gate) -> tuple[str, str]:
    """Why G052 says that there is no interval, and what it says to do."""
    found = [finding for finding in gate.findings if finding.code == "G052"]
    assert len(found) == 1
    return found[0].message, found[0].do
