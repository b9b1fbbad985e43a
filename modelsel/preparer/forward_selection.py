"""Forward selection: one feature after the other is added, each time the one that lowers the learner's error most.

The error is cross-validated inside the analysis rows; the order of adding is one ranking, from which every `n` is read. With
no `n`, the prefix of least error is taken (the shortest of equal ones). Equal errors while adding: column order. This error
chose the features, so that it is too low: judge the candidate by the folds outside.
Source: Kohavi & John (1997), *Wrappers for feature subset selection*.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from modelsel.core.spec import part, spec_of, whole
from modelsel.core.types import CLASS_TASKS, Description, Floats, Integers, Table, Task, TaskKind
from modelsel.learner.base import BaseLearner, Path, SubsetPath
from modelsel.preparer.base import BasePreparer, Chosen, restore_columns
from modelsel.statistics.sampling import deal


@dataclass(frozen=True)
class ForwardSelection(BasePreparer):
    """Path parameter: `n`. Naive Bayes reads every subset off one count; other learners are fitted for each."""

    learner: BaseLearner = part("learner", "naive_bayes")
    folds: int = whole(5, least=2, help="inner folds, dealt among the analysis rows")
    most: int = whole(10, least=1, help="features added at most")
    n: int | None = whole(None, least=1, help="how many to keep; none: as many as have the least inner error")

    reads: ClassVar[tuple[TaskKind, ...]] = CLASS_TASKS
    selects: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.learner, tuple) and not self.learner[1]:  # a configuration gives it with its preparation steps
            object.__setattr__(self, "learner", self.learner[0])

    def fit_key(self) -> dict[str, object]:
        return {"kind": "forward_selection", "learner": spec_of(self.learner), "folds": self.folds, "most": self.most}

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Yield what is wrong with the judging learner and the numbers of features."""
        if isinstance(self.learner, tuple):
            yield "the learner that forward_selection judges by takes no preparer of its own: put it before the selection"
            return
        yield from self.learner.problems(task)
        if self.n is not None and self.n > self.most:
            yield f"n = {self.n} is more than most = {self.most}"

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "Added":
        """Add features one by one, each time the one with the lowest inner error."""
        fold = deal(len(rows), self.folds, rng, np.asarray(task.target[rows], np.int32))
        parts = [(rows[fold != number], rows[fold == number]) for number in np.unique(fold)]
        judge = SubsetScorer(self.learner, task, parts, rng)
        order: list[int] = []
        errors: list[float] = []
        for _ in range(min(self.most, len(task.features))):
            left = [column for column in range(len(task.features)) if column not in order]
            found = [judge.error([*order, column]) for column in left]
            best = int(np.argmin(found))
            order.append(left[best])
            errors.append(found[best])
        return Added(np.array(order, np.int64), np.array(errors))

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Chosen:
        return self.fit_path(task, rows, rng).prepared(self)

    @staticmethod
    def restore(description: Description) -> Chosen:
        return restore_columns("forward_selection", description)


@dataclass(frozen=True, eq=False)
class Added:
    """Columns in the order in which they were added, and the inner error after each."""

    order: Integers
    errors: Floats

    def prepared(self, preparer: ForwardSelection) -> Chosen:
        n = preparer.n or int(np.argmin(self.errors)) + 1
        return Chosen("forward_selection", np.sort(self.order[:n]))


class SubsetScorer:
    """Weighted inner error of the learner on some columns, rounded to 1e-12 so that ties are ties."""

    def __init__(
        self, learner: BaseLearner, task: Task, parts: Sequence[tuple[Integers, Integers]], rng: np.random.Generator
    ) -> None:
        """Fit the learner on all columns of each part once, where it can read subsets off that."""
        self.learner, self.task, self.parts = learner, task, parts
        self.seed = int(rng.integers(2**63))
        shared = getattr(learner, "reads_subsets", False)
        self.whole = [self._path(task, analysis) for analysis, _ in parts] if shared else []

    def error(self, columns: Sequence[int]) -> float:
        """Compute the weighted error over all inner parts."""
        kept = np.sort(np.array(columns, np.int64))
        wrong = sum(self._wrong(kept, number) for number in range(len(self.parts)))
        weight = sum(float(self.task.row_weights[rows].sum()) for _, rows in self.parts)
        return round(wrong / weight, 12)

    def _wrong(self, columns: Integers, number: int) -> float:
        """Compute the weight of wrongly predicted rows of one inner part."""
        analysis, rows = self.parts[number]
        table = self.task
        if self.whole and isinstance(self.whole[number], SubsetPath):
            path: Path = self.whole[number].subset(columns)
        else:
            table = self.task.with_features(tuple(self.task.features[c] for c in columns), self.task.values[:, columns])
            path = self._path(table, analysis)
        predicted = path.outputs([self.learner], table, rows, False).predicted[0]
        return float(self.task.row_weights[rows] @ (predicted != self.task.target[rows]))

    def _path(self, task: Task, rows: Integers) -> Any:
        return self.learner.fit_path(task, rows, np.random.default_rng(self.seed))
