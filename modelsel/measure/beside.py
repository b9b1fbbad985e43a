"""The measures that are shown beside the one that chooses: every other kind that is defined on the folds.

Those of class counts read one confusion matrix, which is counted once for all of them. Settings are the defaults; where the
measure that chooses names a positive class or costs, the others are about the same ones.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from modelsel.core.spec import kind_of, kinds_of, make, with_fields
from modelsel.core.types import (
    CLASS_TASKS,
    CLASSES,
    PROBABILITIES,
    Candidate,
    Floats,
    Outputs,
    Resampling,
    Targets,
    Task,
    scores_are,
)
from modelsel.measure.auc import Auc
from modelsel.measure.base import BaseMeasure, FromConfusion, confusion
from modelsel.measure.one_class import OneAgainstRest

SHARED = ("positive", "costs")  # settings that say what the study is about
FEW = 8  # classes up to which matrices are kept until all are there
MANY = 100  # classes beyond which what goes over all of them, one against the rest, is left to who asks for it (measures=all)
HELD = 1 << 22  # counts that are held at a time


def other_measures(chooses: BaseMeasure, task: Task, resampling: Resampling, scores: bool) -> dict[str, BaseMeasure]:
    """The measures of class scores (`scores`), or those of class counts, by kind.

    Where a fold assesses a single row, a measure that is not a mean over rows says nothing, and is left out.
    """
    alone = min((len(fold.assessment) for fold in resampling.folds), default=0) < 2
    found = {kind: _about(kind, chooses) for kind in kinds_of("measure") if kind != kind_of(chooses)}
    return {
        kind: measure
        for kind, measure in found.items()
        if task.kind in getattr(measure, "reads", CLASS_TASKS)
        and measure.needs_scores == scores
        and (measure.over_rows or not alone)
        and not any(True for _ in measure.problems(task, resampling))
    }


def measures_by_default(measures: Mapping[str, BaseMeasure], task: Task) -> dict[str, BaseMeasure]:
    """Return the measures that are reported by default beside the one that chooses; with many classes only those by rows.

    A confusion matrix of a thousand classes has a million cells, and a mean over classes ranks the rows a thousand times.
    """
    if task.class_count <= MANY:
        return dict(measures)
    return {name: one for name, one in measures.items() if not isinstance(one, FromConfusion | OneAgainstRest | Auc)}


def omission_note(classes: int) -> str | None:
    """Say which measures a study on many classes does not compute by itself; None where it computes all."""
    if classes <= MANY:
        return None
    return f"{classes:,} classes: measures that go over all of them stand beside the one that chooses only under measures=all"


def bounding_measures(chooses: BaseMeasure, bounds: Iterable[Any]) -> dict[str, BaseMeasure]:
    """The measures that a rule sets bounds to, by the name that it knows them under.

    Raises KeyError for an unknown kind, TypeError for a setting that it does not have.
    """
    found: dict[str, BaseMeasure] = {}
    for bound in bounds:
        same = bound.kind == kind_of(chooses) and not bound.settings
        found[bound.name] = chooses if same else with_fields(_about(bound.kind, chooses), **bound.settings)
    return found


def bound_problems(chooses: BaseMeasure, bounds: Iterable[Any], task: Task, resampling: Resampling) -> Iterator[str]:
    """Yield reasons why a rule cannot set its bounds.

    No such measure, or one that is not defined on this task and these folds.
    """
    for bound in bounds:
        try:
            measure = bounding_measures(chooses, [bound])[bound.name]
        except KeyError:
            yield f"unknown measure {bound.kind!r} in rule.subject_to: one of {', '.join(kinds_of('measure'))}"
        except TypeError as error:
            yield f"rule.subject_to.{bound.kind}: {error}"
        else:
            yield from (f"rule.subject_to.{bound.kind}: {reason}" for reason in measure.problems(task, resampling))


def confusion_measures(measures: Mapping[str, BaseMeasure], classes: int) -> dict[str, FromConfusion]:
    """The measures that are read off confusion matrices, once for all candidates and folds; none where matrices are large."""
    if classes > FEW:
        return {}
    return {name: one for name, one in measures.items() if isinstance(one, FromConfusion)}


def of_matrices(measures: Mapping[str, FromConfusion], matrices: Floats) -> dict[str, Floats]:
    """Candidates × folds by name, from candidates × folds × true class × predicted class; NaN where a matrix is."""
    candidates, folds, classes, _ = matrices.shape
    known = np.isfinite(matrices).all(axis=(2, 3)).ravel()
    found = {}
    for name, measure in measures.items():
        each = np.full(candidates * folds, np.nan)
        each[known] = measure.of(matrices.reshape(-1, classes, classes)[known])
        found[name] = each.reshape(candidates, folds)
    return found


def score_beside(
    measures: Mapping[str, BaseMeasure], truth: Targets, outputs: Outputs, weights: Floats | None, classes: int
) -> Floats:
    """Candidates × measures.

    >>> from modelsel.core.spec import make
    >>> outputs = Outputs(np.array([[0, 1, 1]], np.int32))
    >>> score_beside({"recall": make("measure", "recall")}, np.array([0, 0, 1], np.int32), outputs, None, 2).tolist()
    [[0.75]]
    """
    table = np.empty((len(outputs.predicted), len(measures)))
    counted = [(at, one) for at, one in enumerate(measures.values()) if isinstance(one, FromConfusion)]
    for at, measure in enumerate(measures.values()):
        if not isinstance(measure, FromConfusion):
            table[:, at] = measure.score(truth, outputs, weights, classes)
    size = max(1, HELD // max(classes * classes, 1))
    for start in range(0, len(table) if counted else 0, size):
        part = slice(start, start + size)
        matrices = confusion(truth, outputs.predicted[part], weights, classes)
        for at, measure in counted:
            table[part, at] = measure.of(matrices)
    return table


def _about(kind: str, chooses: BaseMeasure) -> BaseMeasure:
    """The measure of a kind, about the class and the costs that the one that chooses is about."""
    plain = make("measure", kind)
    known = {field.name for field in fields(plain)}
    said = {name: value for name in SHARED if name in known and (value := getattr(chooses, name, None)) is not None}
    about: BaseMeasure = make("measure", kind, **said) if said else plain
    return about


# Candidates whose class scores a measure cannot read, known before any fit: there are estimators without probabilities.
#
# What ranks rows (AUC, average precision, lift, top-k) reads decision values as well; log loss, Brier score and calibration
# error read probabilities alone.


def unanswerable(measures: Iterable[Any], candidates: Iterable[Candidate]) -> Iterator[tuple[str, str]]:
    """Yield the space entry and the reason of candidates that cannot be judged by one of the measures, each once."""
    asked = [measure for measure in measures if measure.needs_scores]
    seen: set[tuple[str, str]] = set()
    for candidate in candidates if asked else ():
        said = scores_are(candidate.learner)
        for measure in asked if said != PROBABILITIES else ():
            found = candidate.entry, _reason(measure, said)
            if found[1] and found not in seen:
                seen.add(found)
                yield found


def _reason(measure: object, said: str) -> str:
    """Say why class scores of this sort will not do; empty where they do."""
    if getattr(measure, "needs_probabilities", False):
        reads = "probabilities"
    elif said == CLASSES and getattr(measure, "ranks", True):
        reads = "class scores"
    else:
        return ""
    name = getattr(measure, "name", "") or f"measure={kind_of(measure)}"
    way = "set learner.calibrator=platt (in a space `calibrator: platt`), or another measure"
    return f"{name} reads {reads}, and this learner gives {said} alone: {way}"
