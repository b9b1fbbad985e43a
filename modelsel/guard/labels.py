"""Predictions as an identity, and what labels say about them."""

import hashlib
from dataclasses import replace

import numpy as np

from modelsel.core.types import Booleans, Floats, Integers, Outputs, Targets
from modelsel.guard.bounded_losses import LossForm
from modelsel.guard.fingerprints import slow
from modelsel.guard.release import LabelSummary
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.identity import Hashes
from modelsel.measure.base import BaseMeasure
from modelsel.measure.capped import CappedError, ErrorQuantiles

DECIMALS = 6  # of class scores: platforms differ by far less, models by more


def prediction_digest(measure: BaseMeasure, outputs: Outputs, weights: Floats | None, rows: Hashes, key: IdentityKey) -> str:
    """Slow digest of what is predicted for which row, whatever the order of the rows: of what the measure reads, no more.

    Without scores for a measure of classes, without classes for one of scores, with the weights of the rows.
    """
    if measure.needs_scores and outputs.scores is not None:
        parts = [np.round(outputs.scores[0], DECIMALS) + 0.0]
    else:
        parts = [outputs.predicted[0].astype(np.float64)[:, None]]
    if weights is not None:
        parts.append(weights.astype(np.float64)[:, None])
    table = np.hstack(parts)
    order = np.lexsort((*table.T[::-1], rows))
    return slow(np.hstack([table[order], rows[order].view(np.float64)[:, None]]), key)


def former_digest(outputs: Outputs, rows: Hashes) -> str:
    """The digest as it was kept before weights and measures were part of it: what answers of that time are known by."""
    parts = [outputs.predicted[0].astype(np.float64)[:, None]]
    if outputs.scores is not None:
        parts.append(np.round(outputs.scores[0], 9) + 0.0)
    table = np.hstack(parts)
    order = np.lexsort((*table.T[::-1], rows))
    return hashlib.sha256(np.ascontiguousarray(table[order]).tobytes() + rows[order].tobytes()).hexdigest()[:32]


def wrong(measure: BaseMeasure, outputs: Outputs, target: Targets, classes: int) -> Booleans:
    """Mask the rows whose class is another one; of numbers those that are off by more than the measure's tolerance."""
    if classes:
        return np.asarray(outputs.predicted[0] != target)
    if isinstance(measure, CappedError):
        return measure.off(target, outputs)
    return np.asarray(measure.losses(target, outputs, 0)[0] > 0)


def truth(
    measure: BaseMeasure, outputs: Outputs, labels: tuple[tuple[str, ...], Targets, Floats | None], rows: Booleans,
    form: LossForm | None = None, units: Integers | None = None,
) -> LabelSummary:  # fmt: skip
    """Errors, score and class sizes on some of the rows; by the form of a bounded loss also losses, of units of these rows."""
    classes, target, weights = labels
    own = weights[rows] if weights is not None else None
    scores = outputs.scores[:, rows] if outputs.scores is not None else None
    kept = replace(outputs, predicted=outputs.predicted[:, rows], scores=scores)
    sizes = np.bincount(target[rows], minlength=len(classes)).tolist() if classes else ()
    return LabelSummary(
        n=int(rows.sum()),
        errors=int(wrong(measure, kept, target[rows], len(classes)).sum()),
        score=float(measure.score(target[rows], kept, own, len(classes))[0]),
        classes=tuple(sizes),
        effective=float(own.sum() ** 2 / (own**2).sum()) if own is not None else float(rows.sum()),
        losses=form.losses(target[rows], kept, units, own) if form else None,
        above=form.above(target[rows], kept) if form else None,
        within=measure.within(target[rows], kept) if isinstance(measure, ErrorQuantiles) else (),
    )
