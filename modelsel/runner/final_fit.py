"""The final model: the winner, its preparation included, fitted on all development rows.

Its generator is derived as in a cell, from seed, rows and growing specification: fitting it again gives the same model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.reading import TableReading
from modelsel.core.spec import kind_of
from modelsel.core.types import (
    ABSENT,
    BOTH_TASKS,
    CLASS_TASKS,
    Candidate,
    ClassOutputs,
    Description,
    Feature,
    Floats,
    Integers,
    NumberOutputs,
    Outputs,
    Table,
    Targets,
    Task,
    TaskKind,
    positions,
)
from modelsel.learner.base import FittedModel
from modelsel.learner.greedy_ensemble import EnsembleModel, Member
from modelsel.learner.inner import FittedSteps
from modelsel.planning.make import fit_digest
from modelsel.preparer.base import FittedPreparer
from modelsel.runner.evaluation.cell import unless_final
from modelsel.runner.evaluation.preprocessing import prepare, rows_digest

IS: dict[TaskKind, str] = {"classes": "the target is a class", "numbers": "the target is a number"}
UNSAID: dict[str, tuple[TaskKind, ...]] = {"learner": CLASS_TASKS, "preparer": BOTH_TASKS}  # of parts that do not say


def unread(candidate: Candidate, task: Task) -> Iterator[tuple[str, object, str]]:
    """Yield group, part and reason of the learner or steps that do not read the kind of target that there is."""
    for group, part in (("learner", candidate.learner), *(("preparer", step) for step in candidate.steps)):
        if task.kind not in getattr(part, "reads", UNSAID[group]):
            yield group, part, f"{group} {kind_of(part)} does not read it: {IS[task.kind]}"


def objections(candidate: Candidate, task: Task) -> Iterator[str]:
    """Yield the reasons why a candidate cannot be fitted on a task."""
    yield from (reason for _, _, reason in unread(candidate, task))
    yield from (reason for part in (*candidate.preparers, candidate.learner) for reason in part.problems(task))


@dataclass(frozen=True, eq=False)
class Final:
    """A model over raw tables: the fitted steps, then the fitted learner."""

    features: tuple[Feature, ...]  # of the raw table
    classes: tuple[str, ...]  # none where it predicts numbers
    steps: tuple[tuple[str, FittedPreparer], ...]  # kind, fitted step
    kind: str  # of the learner
    model: FittedModel
    reading: TableReading | None = None  # how the cells of the table were read; None: the model was made before there was one

    def prepared(self, table: Table) -> Table:
        """The table as the learner sees it."""
        for _, step in self.steps:
            table = step.apply(table)
        return table

    def predict(self, table: Table) -> Targets:
        """Index of the predicted class per row, or the predicted number."""
        return self.model.predict(self.prepared(table))

    def scores(self, table: Table) -> Floats:
        """Class scores, rows × classes."""
        return self.model.scores(self.prepared(table))

    def decisions(self, table: Table) -> Floats:
        """Decision values, rows × classes; AttributeError for a model that has none."""
        found: Floats = self.model.decisions(self.prepared(table))  # type: ignore[attr-defined]
        return found

    @property
    def learner(self) -> Description:
        """The fitted learner as data."""
        return replace(self.model.describe(), kind=self.kind)

    @property
    def descriptions(self) -> tuple[Description, ...]:
        """The fitted steps as data."""
        return tuple(replace(step.describe(), kind=kind) for kind, step in self.steps)


def fit(candidate: Candidate, task: Task, seed: int, rows: Integers | None = None) -> Final:
    """Fit a candidate on all rows of the task (or on some). Raises what its steps and its learner raise.

    Of training sets side by side (a column of folds each) the first one is what there is to learn from.
    """
    if chosen := getattr(candidate.learner, "chosen", ()):
        return _mean(candidate, chosen, task, seed, rows)
    rows = _learnt_from(task) if rows is None else rows
    steps, ready = prepare(candidate.preparers, task, rows, seed)
    rng = generator(seed, rows_digest(task, rows), fit_digest(candidate)) if _draws(candidate.learner) else _nothing_drawn()
    kinds = [kind_of(step) for step in candidate.preparers]
    model = candidate.learner.fit(ready, rows, rng)
    named = tuple(zip(kinds, steps, strict=True))
    return Final(task.features, task.class_names, named, kind_of(candidate.learner), model, task.reading)


def _mean(
    ensemble: Candidate, chosen: Sequence[tuple[Candidate, int]], task: Task, seed: int, rows: Integers | None
) -> Final:  # fmt: skip
    """The mean of an ensemble's members, each fitted as it would be alone."""
    fitted = [fit(member, task, seed, rows) for member, _ in chosen]
    members = tuple(
        Member(one.kind, one.model, FittedSteps(tuple(kind for kind, _ in one.steps), tuple(step for _, step in one.steps)))
        for one in fitted
    )
    times = tuple(count for _, count in chosen)
    return Final(
        task.features,
        task.class_names,
        (),
        kind_of(ensemble.learner),
        EnsembleModel(members, times, not task.class_names),
        task.reading,
    )


def fit_and_answer(
    candidate: Candidate, task: Task, seed: int, scores: bool, *tables: Table
) -> tuple[Final, tuple[Outputs, ...]]:
    """The final model, and what it says of each table: one job of the pool.

    A model that is not this package's own is described too, as it will be for the record: what crashes or raises there does
    so in the job.
    """
    final = fit(candidate, task, seed)
    if not type(final.model).__module__.startswith("modelsel."):
        final.model.describe()
    return final, tuple(outputs(final, table, scores) for table in tables)


def answers(candidate: Candidate, task: Task, seed: int, scores: bool, *tables: Table) -> tuple[Outputs, ...]:
    """Fit a candidate on all rows of the task, and ask it about each table."""
    final = fit(candidate, task, seed)
    return tuple(outputs(final, table, scores) for table in tables)


class AnswersTables(Protocol):
    """A model behind its preparation steps: as it was fitted, or as it was read back."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes; none of numbers."""
        ...

    @property
    def model(self) -> FittedModel:
        """The model that answers for prepared rows."""
        ...

    def prepared(self, table: Table) -> Table:
        """Return the rows as the model reads them."""
        ...


def outputs(fitted: AnswersTables, table: Table, scores: bool) -> Outputs:
    """Compute a fitted model's outputs for a raw table: numbers; or classes, and scores where they are asked for."""
    ready = fitted.prepared(table)
    if not fitted.classes:
        return NumberOutputs(np.asarray(fitted.model.predict(ready), np.float64)[None, :])
    said = fitted.model.scores(ready)[None, :, :] if scores else None
    return ClassOutputs(np.asarray(fitted.model.predict(ready), np.int32)[None, :], said)


def _draws(learner: object) -> bool:
    """Say whether a candidate's fit draws random numbers, and so needs a digest of its rows."""
    return bool(getattr(learner, "draws", True))


def _nothing_drawn() -> np.random.Generator:
    return np.random.default_rng(0)


def _learnt_from(task: Task) -> Integers:
    if task.folds is None or task.folds.ndim == 1:
        return positions(task)
    return np.flatnonzero((task.folds[:, 0] < 0) & (task.folds[:, 0] != ABSENT))


# Seconds that a fitted candidate takes for 1,000 rows: the least of a few tries, after one that warms up. Trees and forests are
# grown for it on some of the rows where there are many: what they take follows their depth, the logarithm of the rows.

ROWS, TRIES = 1000, 3
ENOUGH = 0.5  # seconds after which no further try is made
GROWN_ON = 50_000  # rows


def prediction_time(model: Final, table: Table) -> float:
    """Time the prediction of 1,000 rows of the table, repeated in order where it has fewer."""
    rows = np.resize(np.arange(len(table)), ROWS)
    some = Table(
        name=table.name, features=table.features, values=table.values[rows], rows=table.rows[rows], source=table.source
    )
    tries: list[float] = []
    for _ in range(1 + TRIES):
        start = perf_counter()
        model.predict(some)
        tries.append(perf_counter() - start)
        if sum(tries) > ENOUGH:
            break
    return min(tries[1:] or tries)


def prediction_seconds(candidates: Sequence[Candidate], task: Task, seed: int) -> dict[str, float]:
    """Time candidates by id, each fitted on the rows of the task; one that cannot be fitted is left out."""
    found: dict[str, float] = {}
    step = -(-len(task) // GROWN_ON)
    some = task if step == 1 else task.take(positions(task)[::step])
    for candidate in candidates:
        try:
            own = some if candidate.learner.unit == "leaves" else task
            found[candidate.id] = prediction_time(fit(candidate, own, seed), task)
        except BaseException as problem:
            unless_final(problem)  # it was assessed in every fold, and that is what counts: here it has no time
    return found
