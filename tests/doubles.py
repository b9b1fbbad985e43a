"""Learners, a measure and tasks for tests of the engine: real parts that misbehave on request, no mocks.

`Double` predicts class `lean` where the first feature is at most the mean of its analysis rows, and the next class
elsewhere: `cut` moves that threshold and is its path parameter. On request it raises, stalls, returns NaN or kills its worker.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from modelsel.core.fingerprint import array_digest, digest
from modelsel.core.spec import number, one_of, plain, whole
from modelsel.core.types import Candidate, Description, Feature, Fold, Outputs, Resampling, Table, Task

DEEDS = (
    "none",
    "raise",
    "raise_growing",
    "stall",
    "spin",
    "long_c_call",
    "nan",
    "kill",
    "exhaust",
    "hoard",
    "quit",
    "refuse",
    "wrong_shape",
    "interrupt",
    "raise_fit",
    "kill_fit",
    "stall_fit",
    "hoard_fit",
    "long_c_call_fit",
)


@dataclass(frozen=True)
class Double:
    """`deed` happens while outputs are made for this candidate (`raise_growing`: while its batch grows with it in the lead).

    `folds` restricts the deed to analysis parts whose first row is one of them; `noise` draws from the cell's generator.
    """

    group: int = whole(0)
    cut: float = number(0.0)
    lean: int = whole(0, least=0)
    deed: str = one_of(*DEEDS)
    first_rows: tuple[int, ...] = plain(())
    noise: bool = plain(False)
    seconds: float = number(0.0, least=0)
    log: str = field(default="", metadata={"identity": False})  # a file to which every fit adds a line
    kind = "double"
    unit = "steps"
    holds_gil = False

    def fit_key(self) -> dict[str, Any]:
        return {"kind": "double", "group": self.group, "noise": self.noise, "seconds": self.seconds}

    def problems(self, task: Table | None = None) -> Iterable[str]:
        return ()

    def refusal(self, task: Task, rows: np.ndarray) -> str | None:
        return "asked to refuse" if self.deed == "refuse" else None

    def fit_path(self, task: Task, rows: np.ndarray, rng: np.random.Generator) -> "DoublePath":
        if self.log:
            with open(self.log, "a") as log:
                log.write(f"{self.group} {array_digest(rows)}\n")
        if self.deed == "raise_growing":
            raise RuntimeError("grew badly")
        time.sleep(self.seconds)
        column = task.values[rows, 0]
        noise = float(rng.normal()) if self.noise else 0.0
        return DoublePath(float(np.nanmean(column)) + noise, rows, task, len(task.classes))

    def fit(self, task: Task, rows: np.ndarray, rng: np.random.Generator) -> "DoubleModel":
        if self.deed.endswith("_fit"):  # on all rows, after every fold went well
            _misbehave(self.deed.removesuffix("_fit"))
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> "DoubleModel":
        facts = description.facts
        return DoubleModel(float(facts["threshold"]), int(facts["lean"]), int(facts["classes"]))


@dataclass(frozen=True, eq=False)
class DoubleModel:
    threshold: float
    lean: int
    classes: int

    def predict(self, table: Table) -> np.ndarray:
        above = table.values[:, 0] > self.threshold
        return ((self.lean + above) % self.classes).astype(np.int32)

    def scores(self, table: Table) -> np.ndarray:
        hard = np.eye(self.classes)[self.predict(table)]
        return 0.8 * hard + 0.2 / self.classes

    def describe(self) -> Description:
        return Description("double", {"threshold": self.threshold, "lean": self.lean, "classes": self.classes})


@dataclass(frozen=True, eq=False)
class DoublePath:
    mean: float
    rows: np.ndarray
    task: Task
    classes: int

    def model(self, learner: Double) -> DoubleModel:
        return DoubleModel(self.mean + learner.cut, learner.lean, self.classes)

    def outputs(self, learners: Sequence[Double], table: Table, rows: np.ndarray, scores: bool) -> Outputs:
        for learner in learners:
            if not learner.first_rows or int(self.rows[0]) in learner.first_rows:
                _misbehave(learner.deed)
        cut = Table(name=table.name, features=table.features, values=table.values[rows], rows=table.rows[rows])
        models = [self.model(learner) for learner in learners]
        predicted = np.array([model.predict(cut) for model in models], np.int32)
        if any(learner.deed == "wrong_shape" for learner in learners):
            predicted = predicted[:, :-1]
        if not scores:
            return Outputs(predicted)
        said = np.array([model.scores(cut) for model in models])
        for position, learner in enumerate(learners):
            if learner.deed == "nan":
                said[position, 0] = np.nan
        return Outputs(predicted, said)

    def complexity(self, learners: Sequence[Double]) -> np.ndarray:
        return np.array([abs(learner.cut) for learner in learners])

    def training_error(self, learners: Sequence[Double]) -> np.ndarray:
        truth = self.task.target[self.rows]
        return np.mean(
            self.outputs([_harmless(one) for one in learners], self.task, self.rows, False).predicted != truth, axis=1
        )


def _harmless(learner: Double) -> Double:
    return Double(learner.group, learner.cut, learner.lean)


def _misbehave(deed: str) -> None:
    deeds: dict[str, Callable[[], object]] = {
        "raise": _raise,
        "stall": lambda: time.sleep(3600),
        "spin": _spin,
        "long_c_call": lambda: pow(3, 10**9) % 7,  # minutes inside one C call that keeps the interpreter lock
        "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "exhaust": lambda: np.ones(10**15),  # more than any machine has: refused at once
        "hoard": lambda: np.ones(10**8),  # 800 MB: too much only where memory is limited
        "quit": lambda: sys.exit(3),
        "interrupt": _interrupt,
    }
    deeds.get(deed, lambda: None)()


def _raise() -> None:
    raise ValueError("asked to raise")


def _interrupt() -> None:
    raise KeyboardInterrupt


def _spin() -> None:
    while True:
        pass


def candidates(*doubles: Double) -> tuple[Candidate, ...]:
    return tuple(Candidate(double) for double in doubles)


def spread(count: int, group: int = 0, **settings: Any) -> tuple[Candidate, ...]:
    """Candidates of one batch that differ in `cut`."""
    return candidates(*(Double(group=group, cut=cut / 10 - count / 20, **settings) for cut in range(count)))


def task(rows: int = 60, classes: int = 2, seed: int = 0, whole_numbers: bool = False, weighted: bool = False) -> Task:
    """A numeric and a nominal feature; the class leans on both, with noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    x = np.round(2 * x) if whole_numbers else x
    level = rng.integers(3, size=rows)
    target = ((x + level + rng.normal(size=rows) > 1).astype(np.int32) + (level == 2) * (classes > 2)).astype(np.int32)
    features = (Feature("x", "numeric"), Feature("level", "nominal", ("a", "b", "c")))
    return Task(
        name="doubled",
        features=features,
        values=np.column_stack([x, level.astype(float)]),
        rows=np.arange(rows, dtype=np.int64),
        classes=tuple("pqr"[:classes]),
        target=target % classes,
        weights=rng.uniform(0.5, 2, rows) if weighted else None,
    )


def folds(on: Task, count: int = 3, repeats: int = 1) -> Resampling:
    """Interleaved folds, shifted per repeat."""
    made = []
    for repeat in range(repeats):
        part = (np.arange(len(on)) // (repeat + 1)) % count
        for fold in range(count):
            made.append(Fold(len(made), repeat, np.flatnonzero(part != fold), np.flatnonzero(part == fold)))
    return Resampling("interleaved", on.fingerprint, tuple(made))


@dataclass(frozen=True)
class Wrong:
    """Share of wrong rows, as the measure `error` computes it."""

    kind = "wrong"
    higher_is_better = False
    needs_scores = False
    over_rows = True
    zero_one = True

    def score(self, truth: np.ndarray, outputs: Outputs, weights: np.ndarray | None, classes: int) -> np.ndarray:
        return np.average(outputs.predicted != truth, axis=1, weights=weights)

    def losses(self, truth: np.ndarray, outputs: Outputs, classes: int) -> np.ndarray:
        return (outputs.predicted != truth).astype(float)


@dataclass(frozen=True)
class Quadratic:
    """Brier score, which reads class scores."""

    kind = "quadratic"
    higher_is_better = False
    needs_scores = True
    over_rows = True

    def score(self, truth: np.ndarray, outputs: Outputs, weights: np.ndarray | None, classes: int) -> np.ndarray:
        return np.average(self.losses(truth, outputs, classes), axis=1, weights=weights)

    def losses(self, truth: np.ndarray, outputs: Outputs, classes: int) -> np.ndarray:
        return ((outputs.scores - np.eye(classes)[truth]) ** 2).sum(axis=2)


@dataclass(frozen=True)
class Agreement:
    """Recall averaged over classes: no mean over rows, higher is better, undefined where a class is absent."""

    kind = "agreement"
    higher_is_better = True
    needs_scores = False
    over_rows = False

    def score(self, truth: np.ndarray, outputs: Outputs, weights: np.ndarray | None, classes: int) -> np.ndarray:
        right, here = outputs.predicted == truth, [truth == label for label in range(classes)]
        return np.mean([right[:, own].mean(axis=1) if own.any() else np.full(len(right), np.nan) for own in here], axis=0)

    def losses(self, truth: np.ndarray, outputs: Outputs, classes: int) -> np.ndarray:
        raise NotImplementedError


def identity(*values: object) -> str:
    """A digest of anything plain."""
    return digest(values)


def with_groups(task: Task, groups: np.ndarray) -> Task:
    return replace(task, groups=np.asarray(groups, np.int64))


def with_target(task: Task, rows: np.ndarray, target: np.ndarray) -> Task:
    """The task with other classes on some rows."""
    changed = task.target.copy()
    changed[rows] = target
    return replace(task, target=changed)


PEEKS = ("none", "average", "labels", "answers", "drop")


@dataclass(frozen=True)
class Peeping:
    """A preparer that centres the numbers; `peek` is what it looks at beyond its analysis rows.

    average: of all rows that it is applied to; labels: hands on the classes of the rows it is applied to; answers: knows the
    whole task from elsewhere and looks its rows up, by their number, among the rows that it was shown; drop: leaves out a row.
    """

    peek: str = one_of(*PEEKS)
    kind = "peeping"

    def fit_key(self) -> dict[str, Any]:
        return {"kind": "peeping"}

    def problems(self, task: Table | None = None) -> Iterable[str]:
        return ()

    def fit_path(self, task: Task, rows: np.ndarray, rng: np.random.Generator) -> "PeepingRanking":
        return PeepingRanking(float(np.nanmean(task.values[rows, 0])), dict(zip(task.rows.tolist(), task.target.tolist())))

    def fit(self, task: Task, rows: np.ndarray, rng: np.random.Generator) -> "PeepingFitted":
        return self.fit_path(task, rows, rng).prepared(self)


@dataclass(frozen=True)
class PeepingRanking:
    mean: float
    known: dict[int, int]

    def prepared(self, preparer: Peeping) -> "PeepingFitted":
        return PeepingFitted(preparer.peek, self.mean, self.known)


@dataclass(frozen=True)
class PeepingFitted:
    peek: str
    mean: float
    known: dict[int, int]

    def apply(self, table: Table) -> Table:
        values = table.values.copy()
        values[:, 0] -= np.nanmean(values[:, 0]) if self.peek == "average" else self.mean
        if self.peek == "labels":
            values[:, 0] = table.target  # type: ignore[attr-defined]
        if self.peek == "answers":
            values[:, 0] = [self.known.get(int(row), -1) for row in table.rows]
        changed = table.with_features(table.features, values)
        return replace(changed, values=values[1:], rows=table.rows[1:]) if self.peek == "drop" else changed

    def describe(self) -> Description:
        return Description("peeping", {"mean": self.mean})
