"""Accuracy (of numbers the root mean squared error) on the analysis and on the assessment rows against the size of the tree.

The first gets better with every test that is made; the second does, then gets worse: the further tests fit the noise of the
analysis rows. Mitchell 1997, *Machine learning*, figure 3.6.
"""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from modelsel.core.facts import DocumentFacts
from modelsel.core.facts import facts as facts_of
from modelsel.reporting.charts import Plot, Scale
from modelsel.reporting.roots import ROOTED, SQUARED, spread
from modelsel.reporting.show import SectionContext
from modelsel.reporting.words import is_known, score

TITLE = "Overfitting against the size of the tree"
ACCURACY = "accuracy"
LINES = 40
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 940, 330, 60, 20, 20, 290


@facts_of
class SizeCurve(DocumentFacts):
    """The trees of an entry by size: leaves, scores on analysis and assessment rows, standard errors; `of`: what is shown."""

    entry: str
    sizes: list[float]
    training: list[float]
    assessment: list[float]
    se: list[float]

    @property
    def shows(self) -> str:
        """What a curve shows (`of` in the record): accuracy, unless it says otherwise."""
        return str(self.stated.get("of", ACCURACY))


@facts_of
class SizeCurves(DocumentFacts):
    """The curves of all entries that have trees of at least three sizes."""

    curves: list[SizeCurve]


def facts(studied: SectionContext) -> Mapping[str, object]:
    """Per entry of the space, candidates by size (mean leaves over the folds)."""
    if studied.task.kind == "numbers":
        if studied.measure not in (SQUARED, "rmse"):
            return {"reason": f"root mean squared errors need measure=mse or rmse, not {studied.measure}"}
    elif studied.measure != "error":
        return {"reason": f"accuracies need measure=error, not {studied.measure}"}
    curves = [one for one in (_curve(studied, entry) for entry in _entries(studied)) if len(one.sizes) > 2]
    return SizeCurves(curves=curves) if curves else {"reason": "no entry of the space has trees of at least three sizes"}


def text(one: SizeCurves) -> str:
    """Write the section for the terminal."""
    return "\n".join(_table(curve) for curve in SizeCurves.read(one).curves)


def html(one: SizeCurves) -> str:
    """Write the section for the page."""
    said = (
        "Dashed: on the rows that the tree was grown from. Solid: on the assessment rows, with one standard error to each side."
    )
    return f"<p class='soft'>{said}</p>{''.join(map(_figure, SizeCurves.read(one).curves))}"


def _entries(studied: SectionContext) -> list[str]:
    return list(dict.fromkeys(candidate.entry for candidate in studied.selection.candidates))


def _curve(studied: SectionContext, entry: str) -> SizeCurve:
    """Gather accuracies, or root mean squared errors, by size for the eligible trees of an entry."""
    selection, board = studied.selection, studied.selection.board
    rows = [
        i
        for i, candidate in enumerate(selection.candidates)
        if candidate.entry == entry
        and board.eligible[i]
        and board.unit[i] == "leaves"
        and np.isfinite(selection.means["training_error"][i])
    ]
    by_size = {round(float(board.complexity[i]), 9): i for i in reversed(rows)}
    kept = [by_size[size] for size in sorted(by_size)]
    training, mean, se = selection.means["training_error"][kept], board.mean[kept], board.se[kept]
    if studied.task.class_names:
        training, mean = 1.0 - training, 1.0 - mean
    elif studied.measure == SQUARED:
        se, mean = np.array([*map(spread, mean, se)]), np.sqrt(mean)
    curve = SizeCurve(
        entry=entry, sizes=board.complexity[kept].tolist(), training=training.tolist(), assessment=mean.tolist(), se=se.tolist()
    )
    return curve if studied.task.class_names else SizeCurve.read({**curve, "of": ROOTED})


def _points(curve: SizeCurve) -> list[tuple[float, float, float, float]]:
    return list(zip(curve.sizes, curve.training, curve.assessment, curve.se, strict=True))


def _best(curve: SizeCurve) -> tuple[int, str]:
    """Return the position of the best score of the assessment rows, and what it is called."""
    if curve.shows == ACCURACY:
        return int(np.argmax(curve.assessment)), "largest"
    return int(np.argmin(curve.assessment)), "smallest"


def _table(curve: SizeCurve) -> str:
    """Write the curve as text, with some of its sizes and the best."""
    head = f"{'leaves':>8}  {'training':>8}  {'assessment':>10}  {'se':>6}"
    points, (top, best) = _points(curve), _best(curve)
    kept = set(np.linspace(0, len(points) - 1, min(LINES, len(points))).astype(int).tolist()) | {top}
    lines = [_line(points[i], f"  <- {best}" if i == top else "") for i in sorted(kept)]
    return "\n".join([f"{curve.entry}: {curve.shows}", head, "-" * len(head), *lines]) + "\n"


def _line(point: Sequence[float], best: str) -> str:
    size, training, assessment, se = point
    return f"{size:8.1f}  {score(training):>8}  {score(assessment):>10}  {score(se, assessment):>6}{best}"


def _figure(curve: SizeCurve) -> str:
    """Draw the curve, with its table below."""
    return (
        f"<h3>{escape(curve.entry)}</h3><figure class='wide' tabindex='0'>{draw(curve)}</figure>"
        f"<details><summary>As a table</summary><pre>{escape(_table(curve))}</pre></details>"
    )


def draw(curve: SizeCurve) -> str:
    """Draw training and out-of-fold score against the number of leaves, with one standard error."""
    points, (top, best) = _points(curve), _best(curve)
    plot = Plot(WIDTH, HEIGHT, f"{curve.entry}: {curve.shows} against leaves")
    across = Scale.of(curve.sizes, LEFT + 12, WIDTH - RIGHT - 12, log=False)
    ends = [assessment + side * se for _, _, assessment, se in points for side in (-1, 1) if is_known(se)]
    up = Scale.of([*curve.training, *curve.assessment, *ends], BOTTOM, TOP, log=False)
    plot.axis_left(up, LEFT, WIDTH - RIGHT)
    plot.axis_below(across, TOP, BOTTOM, "size of the tree (leaves, mean over the folds)", 8)
    plot.path([(across(size), up(training)) for size, training, _, _ in points], "trend dashed")
    plot.marks([(across(size), up(training)) for size, training, _, _ in points], 4, "training")
    for size, _, assessment, se in points:
        if is_known(se):
            plot.line(across(size), up(assessment - se), across(size), up(assessment + se), "bar s0")
    plot.path([(across(size), up(assessment)) for size, _, assessment, _ in points], "trend")
    plot.marks([(across(size), up(assessment)) for size, _, assessment, _ in points], 0)
    size, _, assessment, _ = points[top]
    plot.line(across(size), TOP, across(size), BOTTOM, "guide")
    right = across(size) > WIDTH / 2
    words = f"{best}: {f'{assessment:.3f}' if best == 'largest' else score(assessment)} at {size:g} leaves"
    y = BOTTOM - 8 if best == "largest" else TOP + 12
    plot.text(across(size) + (-6 if right else 6), y, words, "strong", "end" if right else "start")
    return plot.svg()
