"""Protocols of the parts of a study.

A part is a frozen dataclass (its specification); what it fits is another object. Nothing is mutated.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from modelsel.core.types import (
    Codes,
    Description,
    Floats,
    Integers,
    Outputs,
    Partition,
    Resampling,
    Scoreboard,
    Table,
    Task,
)  # fmt: skip

AnyTable = TypeVar("AnyTable", bound=Table)


class Model(Protocol):
    """A fitted learner. It reads features by position; the recorder matches names before it calls."""

    def predict(self, table: Table) -> Codes:
        """Index of the predicted class per row."""
        ...

    def scores(self, table: Table) -> Floats:
        """Class scores, rows × classes, each row summing to 1."""
        ...

    def describe(self) -> Description:
        """The model as data, which `Learner.restore` of the same kind reads back."""
        ...


class Path(Protocol):
    """One fit that answers every learner which differs from it only in path parameters."""

    def outputs(self, learners: Sequence[Any], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Return what each learner, fitted alone, would answer for `rows` of `table`: classes equal, scores to 1e-12."""
        ...

    def complexity(self, learners: Sequence[Any]) -> Floats:
        """Measured complexity per learner, in the learner's `unit`.

        This, `training_error`, `held_back` and `never_judged` are the measured columns of a cell's result: a path may leave
        any of them out.
        """
        ...

    def training_error(self, learners: Sequence[Any]) -> Floats:
        """Compute each learner's weighted share of misclassified analysis rows.

        NaN where it would cost another fit; the learner's `no_training_error` then tells the report why.
        """
        ...

    def model(self, learner: Any) -> Model:
        """The model that `learner.fit` would return."""
        ...


class Learner(Protocol):
    """A specification of how to learn. Frozen, hashable; see `core.spec` for how its fields are declared."""

    @property
    def unit(self) -> str:
        """The unit of its complexity: leaves, stored rows, table entries, ..."""
        ...

    @property
    def holds_gil(self) -> bool:
        """True when fitting holds the interpreter lock, so that processes serve better than threads."""
        ...

    def fit_key(self) -> dict[str, Any]:
        """The resolved specification without path parameters: learners of equal growing share one fit."""
        ...

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Reasons why this combination is not valid, by itself or on these features; empty when it is."""
        ...

    def refusal(self, task: Task, rows: Integers) -> str | None:
        """Say why this learner cannot be fitted on just these rows (k larger than the rows): the candidate is skipped."""
        ...

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> Path:
        """Fit once on `rows` (positions, repeats allowed) for all learners of equal growing."""
        ...

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Model:
        """Fit this learner alone."""
        ...

    @staticmethod
    def restore(description: Description) -> Model:
        """Read a model back; raises ValueError when the description is not whole (every index is checked)."""
        ...


class Prepared(Protocol):
    """A fitted preparation step."""

    def apply(self, table: AnyTable) -> AnyTable:
        """The same rows, other features (as `with_features` does)."""
        ...

    def describe(self) -> Description: ...


class FeatureRanking(Protocol):
    """One fit of a preparer that answers every preparer differing from it only in path parameters."""

    def prepared(self, preparer: Any) -> Prepared:
        """The step that `preparer.fit`, called alone, would return."""
        ...


class Preparer(Protocol):
    """A preparation step inside the candidate, fitted on analysis rows only."""

    def fit_key(self) -> dict[str, Any]:
        """The resolved specification without path parameters: preparers of equal growing share one ranking per fold."""
        ...

    def problems(self, task: Table | None = None) -> Iterable[str]: ...

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> FeatureRanking:
        """Fit once on `rows` for all preparers of equal growing."""
        ...

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Prepared:
        """Fit this preparer alone."""
        ...

    @staticmethod
    def restore(description: Description) -> Prepared: ...


@runtime_checkable
class SelectedColumns(Prepared, Protocol):
    """A preparation step that only leaves features out: the table keeps `columns`, in this order, unchanged."""

    @property
    def columns(self) -> Integers: ...


@runtime_checkable
class SubsetPath(Path, Protocol):
    """A path that also answers for fewer features: one fit on all of them serves every `SelectedColumns` before the learner."""

    def subset(self, columns: Integers) -> Path:
        """The path that a fit on just these columns would give.

        Its `outputs` still read tables with all columns; its models read tables with just these.
        """
        ...


class Scheme(Protocol):
    """A resampling recipe."""

    def problems(self, task: Task) -> Iterable[str]:
        """List reasons why it cannot be used on this task (more folds than rows, groups that would be ignored)."""
        ...

    def instantiate(self, task: Task, seed: int) -> Resampling: ...


class Split(Protocol):
    """The outer split into development and test rows; `Partition.test` is empty for `split=none`."""

    def problems(self, task: Task) -> Iterable[str]: ...

    def partition(self, task: Task) -> Partition: ...


class Measure(Protocol):
    """A measure of the quality of predictions on a fold."""

    @property
    def higher_is_better(self) -> bool: ...

    @property
    def needs_scores(self) -> bool:
        """True when it reads class scores and not only predicted classes."""
        ...

    @property
    def over_rows(self) -> bool:
        """True when the score is the (weighted) mean of `losses` over rows."""
        ...

    def problems(self, task: Task, resampling: Resampling) -> Iterable[str]:
        """List reasons why it cannot be used on this task and these folds.

        For example a cost matrix of another size, or AUC on folds of one class.
        """
        ...

    def score(self, truth: Codes, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        """One number per candidate; NaN where it is not defined on these rows."""
        ...

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        """Loss per candidate and row (candidates × rows); only where `over_rows`."""
        ...


class Rule(Protocol):
    """A rule from scores to the chosen candidate: a pure function, so that it can be replayed and bootstrapped.

    Examples
    --------
    >>> from modelsel.rule.best import Best
    >>> Best().choose(Scoreboard(
    ...     ids=("a", "b"), folds=np.array([[0.5, 0.5], [0.25, 0.25]]), mean=np.array([0.5, 0.25]), se=np.zeros(2),
    ...     complexity=np.ones(2), unit=("leaves", "leaves"), eligible=np.ones(2, bool)))
    1
    """

    def problems(self, resampling: Resampling, over_rows: bool) -> Iterable[str]:
        """List reasons why it cannot be used with these folds and this measure.

        Parameters
        ----------
        resampling : Resampling
            The folds.
        over_rows : bool
            True for a measure that is a mean over rows.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        ...

    def choose(self, board: Scoreboard) -> int:
        """Choose the winner; ties: the simpler, then the one declared first.

        Parameters
        ----------
        board : Scoreboard
            The scores of all candidates.

        Returns
        -------
        int
            The index of the winner.

        Raises
        ------
        ValueError
            Where no candidate is eligible.
        """
        ...


class Progress(Protocol):
    """A receiver of a study's progress (the terminal, a notebook, nobody)."""

    def start(self, cells: int, candidates: int) -> None: ...

    def advance(self, cells: int = 1, best: float | None = None, failures: int = 0) -> None: ...

    def say(self, message: str) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


class Anchor(Protocol):
    """A memory outside the ledger of how far it had got, so that a deleted or rewritten ledger is noticed.

    Facts are strings: `ledger` (its id), `testset`, `look` (how many so far), `spent` (nats), `n`, `head`
    ("replica:seq:hash"), `policy`. What was witnessed cannot be withdrawn.
    """

    @property
    def name(self) -> str:
        """state, mlflow, lockfile, ..."""
        ...

    def witness(self, facts: Mapping[str, str]) -> None:
        """Remember these facts; called after each look was committed. Raises OSError when it cannot."""
        ...

    def recall(self, testset: str) -> Iterable[Mapping[str, str]]:
        """All facts ever witnessed about a test set, in no order; empty when there are none."""
        ...
