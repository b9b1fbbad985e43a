"""A learner's own scores of the analysis rows, each from a fit that did not see the row: inner fits, or the other outer folds.

The analysis rows are dealt into inner folds, class by class; whole groups where there are groups, and copies of one row stay
together. Preparation steps are fitted inside each inner fold too, on its rows alone, since a step that reads labels would
make the scores of the others look better than they are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from modelsel.calibrator.base import BaseCalibrator
from modelsel.core.fingerprint import digest, generator
from modelsel.core.parts import FittedStep, FoldScheme, PreparationStep
from modelsel.core.spec import class_of, kind_of, spec_of
from modelsel.core.types import ClassTask, Description, Floats, Fold, Integers, Resampling, Table, positions
from modelsel.decision.base import BaseDecision
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
    """A fit on some rows: the steps before it, and the path that answers the learners of equal growing."""

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
    """Take one of several descriptions out by its name. KeyError when it is not there."""
    said, start = description.facts[name], f"{name}/"
    own = {key.removeprefix(start): array for key, array in description.arrays.items() if key.startswith(start)}
    return Description(str(said["kind"]), said["facts"], own)


def steps_of(description: Description) -> FittedSteps:
    """The fitted steps again."""
    parts = [part_of(description, f"step{place}") for place in range(int(description.facts["steps"]))]
    fitted = tuple(class_of("preparer", part.kind).restore(part) for part in parts)  # type: ignore[attr-defined]
    return FittedSteps(tuple(part.kind for part in parts), fitted)


# Outer folds in the place of inner fits: scores of the analysis rows by the models of the other folds.
#
#     row i of fold j ≠ k is scored by the model of fold j, which was fitted on all rows but fold j's, so that it saw fold k
#
# What they teach is judged on fold k, whose labels these models have seen: cheaper than inner folds (about two fits per fold in
# place of 1 + inner folds), and sound only as far as scores do not tell the labels of rows left out by what is missing among
# those fitted on. Folds with the classes in proportion see to that; `benchmarks/notes/calibration.md` has the simulation.


REMEMBERED = 1 << 28  # bytes of scores that are kept, so that each model scores its rows once for all other folds
INNER, OUTER = "inner", "outer"


class RememberedScores:
    """Scores by everything that they depend on; one thread makes them, the others wait for it."""

    def __init__(self, size: int = REMEMBERED) -> None:
        self._size, self._lock = size, Lock()
        self._locks: dict[str, Lock] = {}
        self._scores: dict[str, Floats] = {}

    def get(self, key: str, make: Callable[[], Floats]) -> Floats:
        """The scores of a key, made where they are not remembered."""
        with self._lock:
            own = self._locks.setdefault(key, Lock())
        with own:
            if (known := self._scores.get(key)) is not None:
                return known
            made = make()
            with self._lock:
                self._scores[key] = made
                while sum(one.nbytes for one in self._scores.values()) > self._size and len(self._scores) > 1:
                    gone = next(iter(self._scores))
                    del self._scores[gone]
                    self._locks.pop(gone, None)
            return made


SCORES = RememberedScores()


@dataclass(frozen=True)
class OuterFolds:
    """The folds of a study: its scheme, and the seed that it draws from."""

    scheme: FoldScheme
    seed: int = 0

    @classmethod
    def of(cls, adjustment: BaseCalibrator | BaseDecision) -> "OuterFolds":
        """Read what a calibrator or a decision holds. A seed of the scheme's own comes first."""
        assert adjustment.scheme is not None
        own = getattr(adjustment.scheme, "seed", None)
        return cls(adjustment.scheme, int(adjustment.scheme_seed or 0 if own is None else own))

    def on(self, task: ClassTask) -> Resampling:
        """The folds of these rows."""
        return self.scheme.instantiate(task, self.seed)

    def specification(self) -> dict[str, object]:
        """The scheme, and the seed beside it where it has none of its own."""
        spec = spec_of(self.scheme)
        return spec if "seed" in spec else {**spec, "drawn_from": self.seed}


@dataclass(frozen=True, eq=False)
class CrossedFits(InnerFits):
    """The fit on the analysis rows, and the outer folds that score them; `parts` has the positions of each fold's rows."""

    learner: BaseLearner
    steps: tuple[PreparationStep, ...]
    folds: tuple[Fold, ...]
    seed: int

    def held_out_scores(self, learners: Sequence[object]) -> dict[object, Floats]:
        """Compute by learner the scores of the analysis rows, each by the model of the outer fold of the row."""
        found = np.empty((len(learners), len(self.rows), len(self.task.classes)))
        for fold, (_, out) in zip(self.folds, self.parts, strict=True):
            found[:, out] = self._of(fold, learners)
        return dict(zip(learners, found, strict=True))

    def _of(self, fold: Fold, learners: Sequence[object]) -> Floats:
        """Learners × rows × classes of one fold's assessment rows, in their order."""
        said = [[spec_of(one) for one in learners], [spec_of(step) for step in self.steps]]
        key = digest([self.task.fingerprint, fold.fingerprint, self.seed, said])

        def make() -> Floats:
            drawn = int(generator(self.seed, self.task.draw_fingerprint, fold.fingerprint).integers(2**63))
            fit = prepared_fit(self.learner, self.steps, self.task, fold.analysis, drawn)
            return fit.scores(learners, self.task, fold.assessment)

        return SCORES.get(key, make)


def crossed_fits(
    learner: BaseLearner,
    steps: Sequence[PreparationStep],
    task: ClassTask,
    rows: Integers,
    outer: OuterFolds,
    rng: np.random.Generator,
) -> CrossedFits:
    """Fit on the analysis rows of one of the scheme's folds, or on all rows. ValueError for other rows."""
    rows = np.asarray(rows)
    folds = teaching(outer.on(task), rows, len(task))
    place = np.full(len(task), -1)
    place[rows] = np.arange(len(rows))
    parts = tuple((np.flatnonzero(place[fold.analysis] >= 0), place[fold.assessment]) for fold in folds)
    whole = prepared_fit(learner, steps, task, rows, int(rng.integers(2**63)))
    return CrossedFits(whole, (), parts, task, rows, learner, tuple(steps), folds, outer.seed)


def teaching(resampling: Resampling, rows: Integers, size: int) -> tuple[Fold, ...]:
    """The folds whose scores teach: the others of the repeat of these analysis rows; for all rows the first repeat.

    Raises ValueError for rows that are neither.
    """
    if len(rows) == size and np.array_equal(np.sort(rows), np.arange(size)):
        return tuple(fold for fold in resampling.folds if fold.repeat == 0)
    own = next((fold for fold in resampling.folds if np.array_equal(fold.analysis, rows)), None)
    if own is None:
        raise ValueError("outer folds score the rows of a study's folds, and these are others: use fold_scores: inner")
    return tuple(fold for fold in resampling.folds if fold.repeat == own.repeat and fold.index != own.index)


def taught_by(learner: object) -> OuterFolds | None:
    """Return the outer folds that teach a learner, or one that it adjusts; None without."""
    while learner is not None:
        if (found := getattr(learner, "crossing", None)) is not None:
            return found  # type: ignore[no-any-return]
        learner = getattr(learner, "base", None)
    return None


def strangers(outer: OuterFolds, task: ClassTask, rows: Integers) -> str | None:
    """Say why the outer folds cannot teach on these rows; None where they can."""
    try:
        teaching(outer.on(task), np.asarray(rows), len(task))
    except ValueError as error:
        return str(error)
    return None


def crossing_problems(outer: OuterFolds | None, task: ClassTask | None, what: str, stratified: bool) -> Iterator[str]:
    """Reasons why outer folds cannot teach: no study, rows not assessed once each, folds of one row, other proportions."""
    if outer is None:
        yield f"{what}.fold_scores: outer reads the folds of a study, and there is none here: use inner"
        return
    scheme = outer.scheme
    called = f"{what}.fold_scores: outer with scheme={kind_of(scheme)}"
    in_proportion = kind_of(scheme).startswith("stratified") or getattr(scheme, "stratify", False)
    if stratified and not in_proportion:
        yield (
            f"{called}: a class that is missing among the rows left out is frequent among those fitted on, so that scores tell "
            "labels where folds do not hold the classes in proportion: use stratified_kfold, or fold_scores: inner"
        )
    elif task is not None and not any(True for _ in scheme.problems(task)) and not _once_each(outer.on(task)):
        yield f"{called}: its folds must assess every row once, several at a time: use stratified_kfold, or fold_scores: inner"


def _once_each(resampling: Resampling) -> bool:
    """Say whether each repeat assesses every row once, in folds of several rows that analyse all the others."""
    for repeat in {fold.repeat for fold in resampling.folds}:
        own = [fold for fold in resampling.folds if fold.repeat == repeat]
        assessed = np.sort(np.concatenate([fold.assessment for fold in own]))
        size = len(assessed)
        if not np.array_equal(assessed, np.arange(size)):
            return False
        if any(len(fold.assessment) < 2 or len(fold.analysis) != size - len(fold.assessment) for fold in own):
            return False
    return True
