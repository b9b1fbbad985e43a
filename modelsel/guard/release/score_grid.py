"""Showing a measure that is no error count: its value on a grid, whose cells are what can be said.

Half widths at L nats a side, for values in a range r: mean over n rows r √(L / 2n), with weights n = (Σw)²/Σw² (given the
weights); AUC √(L / 2 min(n+, n−)) (Hoeffding for two-sample U-statistics); balanced error, a union over C classes,
mean_c √((L + ln C) / 2n_c). Where none is known (F1, kappa, MCC, log loss, recall, ...) no interval is certified.
"""

from dataclasses import dataclass
from math import inf, isfinite, log

import numpy as np
from scipy.special import ndtr

from modelsel.core.spec import kind_of
from modelsel.core.types import Floats
from modelsel.guard.release.mechanisms import FAILED, LabelSummary, Released, ReleaseMechanism, charged, worst_of
from modelsel.statistics.reuse import prices

RANGES = {"error": (0.0, 1.0), "balanced_error": (0.0, 1.0), "auc": (0.0, 1.0), "f1": (0.0, 1.0), "brier": (0.0, 2.0),
          "kappa": (-1.0, 1.0), "mcc": (-1.0, 1.0), "precision": (0.0, 1.0), "recall": (0.0, 1.0), "f_beta": (0.0, 1.0),
          "specificity": (0.0, 1.0), "average_precision": (0.0, 1.0), "top_k_error": (0.0, 1.0),
          "expected_calibration_error": (0.0, 1.0)}  # fmt: skip
MEANS = ("error", "brier", "cost_matrix")
CLASSWISE = ("auc", "balanced_error")  # their width shows how many rows each class has, which is priced
WITH_COUNT = ("error", "cost_matrix")  # weighted or costed: the unweighted count is shown beside, and priced


@dataclass(frozen=True)
class ScoreGridRelease(ReleaseMechanism):
    """A value of a measure in steps of (high − low)/steps, or of 1/steps where it has no bounds."""

    kind: str
    n: int
    steps: int
    bounds: tuple[float, float]
    expected: tuple[float, int] | None  # cross-validated score and its rows
    foreseen: tuple[float, int] | None  # of the error count, where it is shown beside
    rounded: bool = False  # by the seal: then no count is shown beside

    def release(self, truth: LabelSummary) -> Released:
        """Release the value's cell with what an interval around it needs; class counts and errors are priced too."""
        if not isfinite(truth.score):
            return Released("undefined", None, None, -log(FAILED))
        cell = self._cell(truth.score)
        score = self._origin + cell * self._step
        price = self._price(cell) + self._class_price(len(truth.classes))
        errors = truth.errors if self._counts else None
        if errors is not None:
            price += prices.predicted(errors, self.n, *self.foreseen) if self.foreseen else prices.full(self.n)
        half, rounding = self._half(truth), self._step / 2
        return Released("value", round(score, 12), errors, charged(price), half=half, rounding=rounding, bounds=self._limits)

    @property
    def worst(self) -> float:
        count = log(10 * (self.n + 1)) if self._counts else 0.0
        return worst_of(log(10 * (self.steps + 1)) + count + self._class_price(20))

    @property
    def numbers(self) -> int:
        return 2 if self._counts else 1

    @property
    def _counts(self) -> bool:
        return self.kind in WITH_COUNT and not self.rounded

    @property
    def _bounded(self) -> bool:
        return isfinite(self.bounds[1])

    @property
    def _limits(self) -> tuple[float, float]:
        return self.bounds if self._bounded else (0.0, 0.0)  # without bounds there is no interval to be kept within

    @property
    def _origin(self) -> float:
        return self.bounds[0] if self._bounded else 0.0

    @property
    def _step(self) -> float:
        return (self.bounds[1] - self.bounds[0]) / self.steps if self._bounded else 1 / self.steps

    def _cell(self, score: float) -> int:
        cell = int(np.floor((score - self._origin) / self._step + 0.5))
        return min(self.steps, max(0, cell)) if self._bounded else max(0, cell)

    def _price(self, cell: int) -> float:
        """Price a cell by the probability that was given to it beforehand."""
        if not self._bounded:
            return log((cell + 1) * (cell + 2))  # 1/((k+1)(k+2)) sums to one over all k ≥ 0
        if self.expected is None:
            return prices.grid(self.steps)
        return -log(prices.PRIOR / (self.steps + 1) + (1 - prices.PRIOR) * float(self._masses(*self.expected)[cell]))

    def _masses(self, mean: float, rows: int) -> Floats:
        """A normal distribution about the cross-validated score, cut into cells."""
        spread = (self.bounds[1] - self.bounds[0]) / 2 * np.sqrt(1 / self.n + 1 / max(1, rows))
        edges = np.r_[-inf, self._origin + (np.arange(self.steps) + 0.5) * self._step, inf]
        return np.asarray(np.diff(ndtr((edges - mean) / spread)))

    def _class_price(self, classes: int) -> float:
        return (classes - 1) * prices.full(self.n) if self.kind in CLASSWISE else 0.0

    def _half(self, truth: LabelSummary) -> float | None:
        """Compute c, where the half width is √(c · nats), rounded up for the union over classes."""
        present = [count for count in truth.classes if count]
        if self.kind in MEANS and self._bounded:
            return (self.bounds[1] - self.bounds[0]) ** 2 / (2 * truth.effective)
        if self.kind == "auc" and len(truth.classes) == 2 and len(present) == 2:
            return 1 / (2 * min(present))
        if self.kind == "balanced_error":
            # ln C ≤ ln C · nats / ln 2 since every side pays more than ln 2: keeps the form √(c · nats)
            union = 1 + log(len(present)) / log(2)
            return float(np.mean([np.sqrt(union / (2 * count)) for count in present])) ** 2
        return None


def bounds_of(measure: object) -> tuple[float, float]:
    """The range of a measure; (0, ∞) where it has none."""
    costs = getattr(measure, "costs", None)
    if costs:
        return float(np.min(costs)), float(np.max(costs))
    return RANGES.get(kind_of(measure), (0.0, inf))
