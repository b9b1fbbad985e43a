"""The picture that opens the report (floor, cross-validated, corrected and sealed score on one axis), and scores by fold."""

from collections.abc import Iterator
from dataclasses import dataclass

from modelsel.core.outcome import StudySummary
from modelsel.record.candidates import Row
from modelsel.reporting import verdict
from modelsel.reporting.charts import NARROW, WIDE, Lanes, Plot, Scale
from modelsel.reporting.sections.view import View
from modelsel.reporting.words import is_known, score

OTHERS = 6  # bests of other learners


@dataclass(frozen=True)
class ScoreLine:
    """A score with what it may be: an interval, or one standard error to each side."""

    name: str
    mean: float
    low: float
    high: float
    series: int
    strong: bool = False


def section(view: View) -> dict[str, object]:
    """The drawing for a wide and for a narrow window; `elsewhere` where the sealed test judges by another measure."""
    lines = list(score_lines(view))
    return {"svg": _draw(view, lines, WIDE), "narrow": _draw(view, lines, NARROW), "elsewhere": _elsewhere(view.outcome)}


def score_lines(view: View) -> Iterator[ScoreLine]:
    """Yield the winner's scores from the promise to the test, then what it has to beat; a learner of the floor once."""
    outcome, own = view.outcome, view.series(view.winner)
    cv, corrected = outcome.winner.cv, outcome.winner.corrected
    yield ScoreLine("cross-validated (best of all)", cv.mean, *_about(cv.mean, cv.se), own)
    if corrected:
        yield ScoreLine("corrected for the choice", corrected.mean, corrected.low, corrected.high, own, True)
    if (tested := _sealed_score(outcome)) is not None:
        yield ScoreLine("sealed test", *tested, own, True)
    floor = [line for line in verdict.lines(outcome) if line.has_score]
    apart = {view.winner.label, *(row.label for row in view.rows if row.id in {line.id for line in floor})}
    for row in [row for row in view.best_of_each if row.label not in apart][:OTHERS]:
        yield ScoreLine(f"best of {row.label}", row.mean, *_about(row.mean, row.se), view.series(row))
    for line in floor:
        yield ScoreLine(f"floor: {line.name}", line.mean, *_about(line.mean, line.se), 7)


def _sealed_score(outcome: StudySummary) -> tuple[float, float, float] | None:
    """The score of the sealed test and its ends, where it was released and is of the study's own measure."""
    test = outcome.test
    if test is None or test.refused or test.score is None or not is_known(test.score):
        return None
    if _elsewhere(outcome):
        return None
    low, high = test.interval or (test.score, test.score)
    return float(test.score), low, high


def _elsewhere(outcome: StudySummary) -> bool:
    """Say whether the sealed test judges by another measure than the study: it has no place on the same axis."""
    test = outcome.test
    return test is not None and not test.refused and test.measure not in (None, outcome.measure)


def _about(mean: float, se: float | None) -> tuple[float, float]:
    """The mean and one standard error to each side, where it is known."""
    reach = se if se is not None and is_known(se) else 0.0
    return mean - reach, mean + reach


def _draw(view: View, lines: list[ScoreLine], lanes: Lanes) -> str:
    """Draw a lane per score: its interval as a bar, the score as a stroke and in figures."""
    scale = Scale.of(
        [end for line in lines for end in (line.low, line.high)], lanes.left, lanes.width - lanes.right - 50, log=False
    )
    bottom = 14 + lanes.row * len(lines)
    plot = Plot(lanes.width, bottom + 40, f"{view.outcome.measure} of the winner and of what it has to beat")
    plot.axis_below(scale, 6, bottom, view.outcome.measure, lanes.ticks)
    for i, line in enumerate(lines):
        y = lanes.name(plot, 14, i, line.name, "name strong" if line.strong else "name")
        css = f"s{line.series % 8}"
        plot.line(scale(line.low), y, scale(line.high), y, f"bar {css}")
        plot.line(scale(line.mean), y - 7, scale(line.mean), y + 7, f"mean {css}")
        plot.text(lanes.width - 4, y + 4, score(line.mean), "tick", "end")
    return plot.svg()


# Fold scores of the best candidates on one axis: a mark per fold, the mean, one standard error to each side.


SHOWN = 14


def strips(view: View) -> dict[str, object]:
    """The best few overall and the best of each entry, best first."""
    rows = choose_strips(view)
    return {
        "svg": _draw_strips(view, rows, WIDE),
        "narrow": _draw_strips(view, rows, NARROW),
        "shown": len(rows),
        "of": len(view.ranked),
    }


def _draw_strips(view: View, rows: list[Row], lanes: Lanes) -> str:
    """Draw a strip per candidate."""
    reach = view.reach([fold for row in rows for fold in row.folds])
    scale = Scale.of(reach, lanes.left, lanes.width - lanes.right, log=False)
    bottom = 14 + lanes.row * len(rows)
    plot = Plot(lanes.width, bottom + 40, f"{view.outcome.measure} on each fold, best candidates first")
    plot.axis_below(scale, 6, bottom, f"{view.outcome.measure} on the assessment part of each fold", lanes.ticks)
    plot.line(scale(rows[0].mean), 6, scale(rows[0].mean), bottom, "guide")
    for i, row in enumerate(rows):
        strong = "name strong" if row.id == view.winner.id else "name"
        _strip(plot, view, row, scale, lanes.name(plot, 14, i, view.name_of(row.id), strong))
    return plot.svg()


def choose_strips(view: View) -> list[Row]:
    """Choose at most SHOWN of the best, and the best of each entry wherever it stands."""
    wanted = {row.id for row in (*view.ranked[:SHOWN], *view.best_of_each)} | {view.winner.id}
    return [row for row in view.ranked if row.id in wanted]


def _strip(plot: Plot, view: View, row: Row, scale: Scale, y: float) -> None:
    """Draw one candidate's strip: folds, mean, one standard error to each side."""
    series = view.series(row)
    if not scale.low <= row.mean <= scale.high:
        _beyond(plot, row, scale, y)
        return
    plot.line(scale.within(row.mean - row.se), y, scale.within(row.mean + row.se), y, f"bar s{series % 8}")
    plot.marks(((scale(s), y) for s in row.folds if scale.low <= s <= scale.high), series, "faint")
    plot.line(scale(row.mean), y - 7, scale(row.mean), y + 7, f"mean s{series % 8}")


def _beyond(plot: Plot, row: Row, scale: Scale, y: float) -> None:
    """A candidate off the axis: an arrow and its mean, so that it does not squeeze the others."""
    right = row.mean > scale.high
    words = f"{score(row.mean)} →" if right else f"← {score(row.mean)}"
    plot.text(scale.end if right else scale.start, y + 4, words, "tick", "end" if right else "start")
