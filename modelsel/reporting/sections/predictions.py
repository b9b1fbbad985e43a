"""The winner's out-of-fold predictions: confusion, ROC, calibration. Nothing here comes from the sealed rows."""

from typing import TypedDict

import numpy as np

from modelsel.core.types import Booleans, Floats, Integers, Outputs
from modelsel.measure.base import probabilities
from modelsel.reporting.charts import Plot, Scale
from modelsel.reporting.sections.view import View
from modelsel.reporting.words import percent, with_unit
from modelsel.statistics.auc import areas, curve
from modelsel.statistics.reliability import BrierParts, brier_parts, reliability

MOST_CLASSES = 25  # a larger matrix is not read; its largest entries are listed instead
CURVES = 6
BINS = 10
BARS = "in which all of a calibrated model's shares lie with probability 95 %"
WITHHELD = "No interval: rows of one group are not independent, and no form for groups is built here."
SIZE, LEFT, TOP, BOTTOM = 330, 48, 12, 290


class PredictionsShown(TypedDict, total=False):
    """Out-of-fold answers of the winner, as the page shows them; empty where they were not kept."""

    rows: int
    wrong: int
    classes: list[str]
    matrix: list[dict[str, object]]
    largest: list[dict[str, object]]
    curves: list[dict[str, object]]


def section(view: View) -> PredictionsShown:
    """Matrix (or its largest entries), ROC and calibration where class scores are on record."""
    found, classes = view.assessed, [str(name) for name in view.outcome.task.classes]
    if view.outcome.winner.id not in found.ids:
        return {}
    at = found.ids.index(view.outcome.winner.id)
    known = found.predicted[at] >= 0
    truth, predicted = found.truth[known].astype(np.int64), found.predicted[at][known].astype(np.int64)
    counts = confusion(truth, predicted, len(classes))
    parts: PredictionsShown = {
        "rows": int(known.sum()),
        "wrong": int((truth != predicted).sum()),
        "classes": classes,
        "matrix": [],
        "largest": [],
        "curves": [],
    }
    if len(classes) <= MOST_CLASSES:
        parts["matrix"] = _cells(counts, classes)
    else:
        parts["largest"] = _largest(counts, classes)
    if found.scores is not None:
        scores = found.scores[at][known]
        probable = not np.isnan(probabilities(Outputs(predicted[None], scores[None]))).any()
        grouped = bool(view.details.data.groups)
        parts["curves"] = [_roc(truth, scores, classes, grouped), *([_calibration(truth, scores, grouped)] if probable else [])]
    return parts


def confusion(truth: Integers, predicted: Integers, classes: int) -> Integers:
    """Rows per (true, predicted) pair."""
    return np.bincount(truth * classes + predicted, minlength=classes * classes).reshape(classes, classes).astype(np.int64)


def roc(positive: Floats, truth: Integers) -> tuple[Floats, Floats, float]:
    """False and true positive rates at every distinct score, and the area under them (ties count half)."""
    found = curve(truth == 1, positive)
    false, true = np.nan_to_num(found.false_positive), np.nan_to_num(found.true_positive)  # a class without rows
    return false, true, float(np.trapezoid(true, false))


def _cells(counts: Integers, classes: list[str]) -> list[dict[str, object]]:
    """Write the rows of the confusion matrix."""
    rows = counts.sum(axis=1)
    return [
        {
            "name": name,
            "rows": int(rows[i]),
            "recall": percent(counts[i, i] / rows[i]) if rows[i] else "–",
            "cells": [
                {"count": int(count), "share": round(float(count / max(1, rows[i])), 3), "right": i == j}
                for j, count in enumerate(counts[i])
            ],
        }
        for i, name in enumerate(classes)
    ]


def _largest(counts: Integers, classes: list[str], most: int = 20) -> list[dict[str, object]]:
    """List the most frequent confusions."""
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    pairs = [(int(k) // len(classes), int(k) % len(classes)) for k in order]
    return [{"truth": classes[i], "said": classes[j], "count": int(wrong[i, j])} for i, j in pairs if wrong[i, j]]


def _roc(truth: Integers, scores: Floats, classes: list[str], grouped: bool) -> dict[str, object]:
    """Draw a ROC curve per class, with its area."""
    wanted = (
        [1] if len(classes) == 2 else np.argsort(-np.bincount(truth, minlength=len(classes)), kind="stable")[:CURVES].tolist()
    )
    plot, across, up = _square("ROC curves of the out-of-fold scores", "false positive rate")
    plot.line(across(0), up(0), across(1), up(1), "guide")
    legend = []
    for series, k in enumerate(wanted):
        false, true, area = roc(scores[:, k], (truth == k).astype(np.int64))
        plot.path([(across(float(f)), up(float(t))) for f, t in _thin(false, true)], f"curve c{series} s{series}")
        legend.append({"name": classes[k], "series": series, "value": area_words(area, truth == k, scores[:, k], grouped)})
    return {
        "title": f"ROC, one class against the rest; areas {'without interval' if grouped else 'with DeLong’s 95 % interval'}",
        "svg": plot.svg(),
        "legend": legend,
        "notes": [WITHHELD] if grouped else [],
    }


def area_words(area: float, positive: Booleans, scores: Floats, grouped: bool = False) -> str:
    """The area with DeLong's interval where there is one, which takes rows for independent and scored by one model."""
    if grouped or min(np.count_nonzero(positive), np.count_nonzero(~positive)) < 2:
        return f"area {area:.3f}"
    low, high = areas(positive, scores).interval()
    return f"area {area:.3f} [{low:.3f}, {high:.3f}]"


def _calibration(truth: Integers, scores: Floats, grouped: bool) -> dict[str, object]:
    """Shares that came true, with the band in which a calibrated model's would lie, and the Brier score in its parts."""
    binary = scores.shape[1] == 2
    confidence = scores[:, 1] if binary else scores.max(axis=1)
    found = reliability(confidence, truth == 1 if binary else truth == scores.argmax(axis=1), BINS)
    plot, across, up = _square("calibration of the out-of-fold scores", "mean score" if binary else "mean highest score")
    plot.line(across(0), up(0), across(1), up(1), "guide")
    bars = zip(found.score.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    for x, low, high in () if grouped else bars:
        plot.line(across(x), up(low), across(x), up(high), "band")
    points = [(across(x), up(y)) for x, y in zip(found.score.tolist(), found.share.tolist(), strict=True)]
    plot.path(points, "trend s0")
    plot.marks(points, 0)
    outside = int(((found.share < found.low) | (found.share > found.high)).sum())
    parts = brier_parts(scores, truth.astype(np.int32))
    beside = WITHHELD if grouped else f"{outside} of {len(points)} shares outside their bars, {BARS}."
    notes = [beside, f"Brier {parts.brier:.4f} = {_in_parts(parts)}."]
    return {"title": "Calibration: share that came true", "svg": plot.svg(), "legend": [], "notes": notes}


def _in_parts(parts: BrierParts) -> str:
    """Write the parts of a Brier score in a sentence."""
    return (
        f"{parts.miscalibration:.4f} miscalibration − {parts.discrimination:.4f} discrimination + "
        f"{parts.uncertainty:.4f} uncertainty (all rows together)"
    )


def _square(title: str, below: str) -> tuple[Plot, Scale, Scale]:
    """Prepare a square plot of rates from 0 to 1."""
    plot = Plot(SIZE, BOTTOM + 42, title)
    across, up = Scale(0.0, 1.0, LEFT, SIZE - 14), Scale(0.0, 1.0, BOTTOM, TOP)
    plot.axis_left(up, LEFT, SIZE - 14)
    plot.axis_below(across, TOP, BOTTOM, below, 5)
    return plot, across, up


POINTS = 300  # of a curve


def _thin(x: Floats, y: Floats) -> list[tuple[float, float]]:
    keep = np.unique(np.linspace(0, len(x) - 1, min(POINTS, len(x))).astype(np.int64))
    return [(float(x[i]), float(y[i])) for i in keep]


# Where the target is a number: predicted against observed, residuals, error by size.


NUMBERS_LEFT = 62
POINTS = 1500  # rows that are drawn
PARTS = 10  # of the rows by predicted size


def of_numbers(view: View) -> dict[str, object]:
    """Root mean squared and mean absolute error of the winner out of fold, and its plots."""
    found = view.assessed
    if view.outcome.winner.id not in found.ids:
        return {}
    at = found.ids.index(view.outcome.winner.id)
    known = found.assessed_by(at)
    truth, said = (np.asarray(each[known], np.float64) for each in (found.truth, found.predicted[at]))
    away, unit = said - truth, view.outcome.task.measured_in or ""
    drawn = np.random.default_rng(0).permutation(len(truth))[:POINTS]
    return {
        "numbers": True,
        "rows": len(truth),
        "rmse": with_unit(float(np.sqrt(np.mean(np.square(away)))), unit),
        "mae": with_unit(float(np.mean(np.abs(away))), unit),
        "half": with_unit(float(np.median(np.abs(away))), unit),
        "curves": [
            _plot("Predicted against observed", "observed", truth[drawn], said[drawn], diagonal=True),
            _plot("Residuals, observed less predicted", "predicted", said[drawn], -away[drawn]),
            _by_size(said, np.abs(away)),
        ],
    }


def _plot(title: str, below: str, x: Floats, y: Floats, diagonal: bool = False) -> dict[str, object]:
    """Draw rows as points, with the line on which they would be right."""
    both = np.concatenate([x, y]) if diagonal else y
    plot, across, up = _frame(title, below, both if diagonal else x, both)
    low, high = (float(end) for end in ((both if diagonal else x).min(), (both if diagonal else x).max()))
    plot.line(across(low), up(low if diagonal else 0.0), across(high), up(high if diagonal else 0.0), "guide")
    plot.marks([(across(float(a)), up(float(b))) for a, b in zip(x, y)], 0)
    return {"title": title, "svg": plot.svg(), "legend": [], "notes": []}


def _by_size(said: Floats, away: Floats) -> dict[str, object]:
    """Draw the mean absolute error of each tenth of the rows, by what was predicted."""
    order = np.argsort(said, kind="stable")
    parts = [part for part in np.array_split(order, PARTS) if len(part)]
    x, y = (np.array([each[part].mean() for part in parts]) for each in (said, away))
    plot, across, up = _frame("Mean absolute error by size", "predicted", x, np.append(y, 0.0))
    points = [(across(float(a)), up(float(b))) for a, b in zip(x, y)]
    plot.path(points, "trend s0")
    plot.marks(points, 0)
    return {"title": f"Mean absolute error of {len(parts)} parts of the rows", "svg": plot.svg(), "legend": [], "notes": []}


def _frame(title: str, below: str, x: Floats, y: Floats) -> tuple[Plot, Scale, Scale]:
    """Prepare a plot whose axes hold these values."""
    plot, up = Plot(SIZE, BOTTOM + 42, title), Scale.of(y.tolist(), BOTTOM, TOP, log=False)
    left = up.room(NUMBERS_LEFT)
    across = Scale.of(x.tolist(), left, SIZE - 14, log=False)
    plot.axis_left(up, left, SIZE - 14)
    plot.axis_below(across, TOP, BOTTOM, below, 4)
    return plot, across, up
