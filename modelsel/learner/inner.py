"""Inner fits: a learner's own scores of the analysis rows, each from a fit that did not see the row.

The analysis rows are dealt into inner folds, class by class; whole groups where there are groups, and copies of one row stay
together. Preparation steps are fitted inside each inner fold too, on its rows alone, since a step that reads labels would
make the scores of the others look better than they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modelsel.core.parts import FittedStep, PreparationStep
from modelsel.core.spec import class_of, kind_of
from modelsel.core.types import ClassTask, Description, Floats, Integers, Table, positions
from modelsel.learner.base import BaseLearner, Path
from modelsel.statistics.sampling import deal, deal_groups


@dataclass(frozen=True, eq=False)
class FittedSteps:
    """Preparation steps, fitted one after the other, with their kinds."""

    kinds: tuple[str, ...]
    fitted: tuple[FittedStep, ...]

    def __call__(self, table: Table) -> Table:
        """The table as the learner behind them sees it."""
        for step in self.fitted:
            table = step.apply(table)
        return table

    def describe(self) -> tuple[Description, ...]:
        """Describe each fitted step."""
        return tuple(
            Description(kind, said.facts, said.arrays)
            for kind, said in zip(self.kinds, (step.describe() for step in self.fitted), strict=True)
        )


@dataclass(frozen=True, eq=False)
class PreparedFit:
    """One fit on some rows: the steps before it, and the path that answers the learners of equal growing."""

    steps: FittedSteps
    path: Path

    def scores(self, learners: Sequence[object], table: Table, rows: Integers) -> Floats:
        """Class scores, learners × rows × classes."""
        found = self.path.outputs(learners, self.steps(without_classes(table)), rows, True).scores
        assert found is not None
        return found


def prepared_fit(
    learner: BaseLearner, steps: Sequence[PreparationStep], task: ClassTask, rows: Integers, seed: int
) -> PreparedFit:
    """Fit steps and learner on some rows of a task; a step is handed these rows and no others."""
    done: list[FittedStep] = []
    for step in steps:
        seen = task.take(rows)
        done.append(step.fit(seen, positions(seen), np.random.default_rng(seed)))
        ready = done[-1].apply(without_classes(task))
        task = task.with_features(ready.features, ready.values)
    fitted = FittedSteps(tuple(kind_of(step) for step in steps), tuple(done))
    return PreparedFit(fitted, learner.fit_path(task, rows, np.random.default_rng(seed)))


def inner_folds(task: ClassTask, rows: Integers, folds: int, rng: np.random.Generator) -> list[tuple[Integers, Integers]]:
    """Analysis and assessment rows of each inner fold: positions in `rows`."""
    _, copy = np.unique(rows, return_inverse=True)
    repeated = copy.max() + 1 < len(rows)
    groups = task.groups[rows] if task.groups is not None else copy
    if task.groups is not None or repeated:
        part = deal_groups(groups, [1.0] * folds, rng, task.target[rows])
    else:
        part = deal(len(rows), folds, rng, task.target[rows])
    return [(np.flatnonzero(part != number), np.flatnonzero(part == number)) for number in np.unique(part)]


@dataclass(frozen=True, eq=False)
class InnerFits:
    """The fit on all analysis rows (`whole`), and those on parts of them (`inner`), which know nothing of the rest."""

    whole: PreparedFit
    inner: tuple[PreparedFit, ...]
    parts: tuple[tuple[Integers, Integers], ...]
    task: ClassTask
    rows: Integers

    def held_out_scores(self, learners: Sequence[object]) -> dict[object, Floats]:
        """Compute by learner the scores of the analysis rows, each by the inner fit that did not see the row."""
        found = np.empty((len(learners), len(self.rows), len(self.task.classes)))
        for fit, (_, out) in zip(self.inner, self.parts, strict=True):
            found[:, out] = fit.scores(learners, self.task, self.rows[out])
        return dict(zip(learners, found, strict=True))

    def scores_of(self, learners: Sequence[object], table: Table, rows: Integers) -> dict[object, Floats]:
        """Compute by learner the scores of some rows, by the fit on all analysis rows."""
        return dict(zip(learners, self.whole.scores(learners, table, rows), strict=True))


def inner_fits(
    learner: BaseLearner,
    steps: Sequence[PreparationStep],
    task: ClassTask,
    rows: Integers,
    folds: int,
    rng: np.random.Generator,
) -> InnerFits:
    """Fit on all analysis rows, and on all but each of so many inner folds (0: on none)."""
    rows = np.asarray(rows)
    parts = tuple(inner_folds(task, rows, folds, rng)) if folds else ()
    seeds = rng.integers(2**63, size=1 + len(parts)).tolist()
    whole = prepared_fit(learner, steps, task, rows, seeds[0])
    inner = (prepared_fit(learner, steps, task, rows[seen], seed) for (seen, _), seed in zip(parts, seeds[1:], strict=True))
    return InnerFits(whole, tuple(inner), parts, task, rows)


def refusal(learner: BaseLearner, task: ClassTask, rows: Integers, folds: int, what: str) -> str | None:
    """Too few rows for the inner folds of `what`, or for the learner on the smallest of them."""
    distinct = len(np.unique(rows if task.groups is None else task.groups[rows]))
    if distinct < folds:
        return f"{distinct} rows (or groups) for {folds} inner folds of the {what}"
    fewest = rows[: len(rows) - -(-len(rows) // folds)] if folds else rows
    return learner.refusal(task, fewest)


def without_classes(table: Table) -> Table:
    """The rows without classes."""
    return Table(name=table.name, features=table.features, values=table.values, rows=table.rows, source=table.source)


def nest_descriptions(parts: dict[str, Description]) -> tuple[dict[str, object], dict[str, NDArray[np.generic]]]:
    """Facts and arrays of several descriptions, each under its name."""
    facts: dict[str, object] = {name: {"kind": part.kind, "facts": dict(part.facts)} for name, part in parts.items()}
    arrays: dict[str, NDArray[np.generic]] = {
        f"{name}/{key}": array for name, part in parts.items() for key, array in part.arrays.items()
    }
    return facts, arrays


def part_of(description: Description, name: str) -> Description:
    """One of the descriptions again. KeyError when it is not there."""
    said, start = description.facts[name], f"{name}/"
    own = {key.removeprefix(start): array for key, array in description.arrays.items() if key.startswith(start)}
    return Description(str(said["kind"]), said["facts"], own)


def steps_of(description: Description) -> FittedSteps:
    """The fitted steps again."""
    parts = [part_of(description, f"step{place}") for place in range(int(description.facts["steps"]))]
    fitted = tuple(class_of("preparer", part.kind).restore(part) for part in parts)  # type: ignore[attr-defined]
    return FittedSteps(tuple(part.kind for part in parts), fitted)
