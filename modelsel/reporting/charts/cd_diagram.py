"""The critical-difference diagram: mean ranks on an axis, a bar over learners that are not told apart, the difference above.

The better ranks are on the right, as in the paper, and the names run down from the outside to the middle, so that no two lines
cross. Source: Demšar (2006), figure 1.
"""

from collections.abc import Sequence
from itertools import count

from modelsel.core.types import Floats
from modelsel.reporting.charts.svg import Plot, label_of

WIDTH, SIDE, ROW, AXIS = 940, 235, 22, 62
LETTERS = 30
CSS = (
    "svg .axis{stroke:var(--ink);stroke-width:1.2}svg .lead{fill:none;stroke:var(--soft);stroke-width:1}"
    "svg .clique{stroke:var(--ink);stroke-width:4.5;stroke-linecap:round}"
)
FILE = (
    "svg{--ink:#1d2229;--soft:#5b6470;--paper:#fff;font:12px system-ui,-apple-system,'Segoe UI',sans-serif;fill:var(--ink);"
    "background:var(--paper)}@media (prefers-color-scheme:dark){svg{--ink:#e6e4df;--soft:#9aa3ad;--paper:#14171b}}"
    f"svg .tick,svg .label{{fill:var(--soft);font-size:11px}}svg .name{{font-size:12px}}{CSS}"
)


def diagram(
    learners: Sequence[str], ranks: Floats, difference: float, bars: Sequence[Sequence[int]], sets: int, alpha: float = 0.05
) -> Plot:
    """The picture of mean `ranks` (1 is best) over `sets` data sets; `bars` hold positions of learners."""
    k = len(learners)
    leads = AXIS + 14 + 10 * len(bars)
    height = leads + ROW * ((k + 1) // 2) + 34
    plot = Plot(WIDTH, height, f"critical-difference diagram: mean ranks of {k} learners over {sets} data sets")
    _axis(plot, k)
    _ruler(plot, k, difference)
    for i, bar in enumerate(bars):
        y = AXIS + 14 + 10 * i
        ends = [_x(float(ranks[at]), k) for at in (bar[0], bar[-1])]
        plot.line(min(ends) - 3, y, max(ends) + 3, y, "clique")
    order = sorted(range(k), key=lambda at: (float(ranks[at]), at))
    right = (k + 1) // 2
    for side, half in ((1, order[:right]), (-1, order[: right - 1 : -1])):
        for row, at in zip(count(), half):
            _lead(plot, _short(learners[at]), float(ranks[at]), k, leads + ROW * row + 12, side)
    words = (
        f"mean ranks over {sets} data sets, better to the right; bars join what Nemenyi's test at {alpha:g} does not tell apart"
    )
    plot.text(WIDTH / 2, height - 8, words, "label", "middle")
    return plot


def _axis(plot: Plot, k: int) -> None:
    """Draw the axis of ranks with its ticks."""
    plot.line(_x(k, k), AXIS, _x(1, k), AXIS, "axis")
    for half in range(2, 2 * k + 1):
        x, whole = _x(half / 2, k), half % 2 == 0
        plot.line(x, AXIS - (7 if whole else 4), x, AXIS, "axis")
        if whole:
            plot.text(x, AXIS - 12, label_of(half / 2), "tick", "middle")


def _ruler(plot: Plot, k: int, difference: float) -> None:
    """The critical difference at the scale of the axis; a longer one than the axis is drawn as long as the axis."""
    start, y = _x(k, k), 22
    end = _x(max(k - difference, 1), k)
    plot.line(start, y, end, y, "axis")
    for x in (start, end):
        plot.line(x, y - 4, x, y + 4, "axis")
    beyond = ", longer than the axis" if difference > k - 1 else ""
    plot.text(start, y - 9, f"critical difference {difference:.2f}{beyond}", "label")


def _lead(plot: Plot, name: str, rank: float, k: int, y: float, side: int) -> None:
    """A line from a rank down and out to the name; `side` is 1 to the right, -1 to the left."""
    x, edge = _x(rank, k), _x(1, k) + 14 if side > 0 else _x(k, k) - 14
    plot.path([(x, AXIS), (x, y), (edge, y)], "lead")
    anchor = "start" if side > 0 else "end"
    words = f"{name}  {rank:.2f}" if side > 0 else f"{rank:.2f}  {name}"
    plot.text(edge + 5 * side, y + 4, words, "name", anchor)


def _x(rank: float, k: int) -> float:
    return WIDTH - SIDE - (rank - 1) / (k - 1) * (WIDTH - 2 * SIDE)


def _short(name: str) -> str:
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"
