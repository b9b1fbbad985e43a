"""Candidates whose class scores a measure cannot read, known before any fit: there are estimators without probabilities.

What ranks rows (AUC, average precision, lift, top-k) reads decision values as well; log loss, Brier score and calibration error
read probabilities alone.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from modelsel.core.spec import kind_of
from modelsel.core.types import CLASSES, PROBABILITIES, Candidate, scores_are


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
