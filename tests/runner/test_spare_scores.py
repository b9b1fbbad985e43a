"""Class scores that no measure reads: kept within their room, whoever computes the cells, and never in a candidate's way."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from modelsel.runner.evaluation.limits import CellLimits
from modelsel.runner.execution.executors import Pool
from modelsel.runner.spare_scores import SpareScores
from tests.doubles import Double, DoublePath, Quadratic, candidates
from tests.runner.studies import answer, study

NEEDED = 8 * 60 * 2 * 4  # bytes: rows, classes, candidates


def counted(folder: Path, *deeds: str):
    """Four candidates of two fits, and a function that counts these."""
    log = folder / "fits"
    some = candidates(*(Double(group=at % 2, cut=0.1 * at, deed=deed, log=str(log)) for at, deed in enumerate(deeds)))
    return some, lambda: len(log.read_text().splitlines())


def second(folder: Path, some, spare: SpareScores | None, **more):
    """Two runs of one study: by classes, and again with a measure of class scores beside."""
    first = study(folder, some, spare=spare, **more)
    return first, partial(study, folder, some, beside={"quadratic": Quadratic()}, spare=spare, **more)


def ok(count: int = 4) -> tuple[str, ...]:
    return ("none",) * count


@pytest.mark.parametrize(("room", "fits"), [(NEEDED, 6), (NEEDED - 1, 9), (NEEDED // 2 - 1, 12)])
def test_what_has_room_is_not_fitted_again(tmp_path, room, fits):
    some, count = counted(tmp_path, *ok())
    _, again = second(tmp_path, some, SpareScores(room))
    assert count() == 6  # three folds, two fits
    found = again()
    assert count() == fits
    refitted = study(tmp_path, some, beside={"quadratic": Quadratic()}, name="other")
    assert answer(found) == answer(refitted)
    assert np.array_equal(found.beside["quadratic"], refitted.beside["quadratic"])


def test_limits_and_measures_that_read_class_scores_leave_nothing_to_keep(tmp_path):
    some, _ = counted(tmp_path, *ok())
    first, _ = second(tmp_path, some, None)
    work, spare = first.book.work, SpareScores(NEEDED)
    assert spare.serves(work) == {0, 1}
    assert not spare.serves(replace(work, limits=CellLimits(seconds=1.0)))
    assert not spare.serves(replace(work, rows=False))
    assert not spare.serves(replace(work, measure=Quadratic()))


def test_scores_that_are_not_finite_are_no_failure_where_classes_are_asked_for(tmp_path):
    some, count = counted(tmp_path, "nan", *ok(3))
    first, again = second(tmp_path, some, SpareScores())
    assert first.counts == {"ok": 4, "failed": 0, "skipped": 0}
    before, found = count(), again()
    assert count() == before + 3  # the one without scores, on each fold
    assert found.counts == {"ok": 3, "failed": 1, "skipped": 0}


@dataclass(frozen=True, eq=False)
class Speechless(DoublePath):
    def outputs(self, learners, table, rows, scores):
        if scores:
            raise RuntimeError("has no class scores")
        return super().outputs(learners, table, rows, scores)


@dataclass(frozen=True)
class Shy(Double):
    def fit_path(self, task, rows, rng):
        return Speechless(float(np.nanmean(task.values[rows, 0])), rows, task, len(task.classes))


def test_who_has_no_class_scores_answers_as_ever(tmp_path):
    some = candidates(Shy(cut=0.0), Shy(cut=0.1))
    alone, kept = study(tmp_path, some, name="alone"), study(tmp_path, some, spare=SpareScores(), name="kept")
    assert kept.counts == {"ok": 2, "failed": 0, "skipped": 0}
    assert answer(kept) == answer(alone)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_they_come_back_from_workers(tmp_path, kind):
    some, count = counted(tmp_path, *ok())
    _, again = second(tmp_path, some, SpareScores(), pool=Pool(kind, 2))
    again()
    assert count() == 6
