"""Area under the ROC curve; for more than two classes one against rest, weighted by class share.

How well the scores *rank*, whatever the threshold; says nothing of calibration. Not defined on one class: NaN there.
"""

from dataclasses import dataclass

from modelsel.core.types import Codes, Floats, Outputs
from modelsel.measure._over_rows import class_scores
from modelsel.statistics.auc import multiclass_auc


@dataclass(frozen=True)
class Auc:
    """Higher is better; ½ is chance."""

    higher_is_better = True
    needs_scores = True
    over_rows = False

    def score(self, truth: Codes, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        return multiclass_auc(truth, class_scores(outputs), classes, weights)

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        raise TypeError("Auc is no mean over rows")
