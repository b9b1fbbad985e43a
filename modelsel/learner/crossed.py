"""Scores of the analysis rows by the models of the other outer folds, in the place of inner fits.

    row i of fold j ≠ k is scored by the model of fold j, which was fitted on all rows but fold j's, so that it saw fold k

What they teach is judged on fold k, whose labels these models have seen: cheaper than inner folds (about two fits per fold in
place of 1 + inner folds), and sound only as far as scores do not tell the labels of rows left out by what is missing among
those fitted on. Folds with the classes in proportion see to that; `docs/calibration.md` has the simulation.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from modelsel.calibrator.base import BaseCalibrator
from modelsel.core.fingerprint import digest, generator
from modelsel.core.parts import FoldScheme, PreparationStep
from modelsel.core.spec import kind_of, resolved
from modelsel.core.types import ClassTask, Floats, Fold, Integers, Resampling
from modelsel.decision.base import BaseDecision
from modelsel.learner.base import BaseLearner
from modelsel.learner.inner import InnerFits, prepared_fit

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
        spec = resolved(self.scheme)
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
        said = [[resolved(one) for one in learners], [resolved(step) for step in self.steps]]
        key = digest([self.task.fingerprint, fold.fingerprint, self.seed, said])

        def make() -> Floats:
            drawn = int(generator(self.seed, self.task.fingerprint, fold.fingerprint).integers(2**63))
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


def problems(outer: OuterFolds | None, task: ClassTask | None, what: str, stratified: bool) -> Iterator[str]:
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
