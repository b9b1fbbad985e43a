"""Plots as text: a few SVG marks over two scales; the diagram of critical differences; documents that hold a plot and tables.

Colours are classes (`s0`, `s1`, ...), so that light, dark and print agree.

Series differ by the shape of their marks as well, so that the page reads without colour.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import count

import numpy as np

from modelsel.core.types import Floats
from modelsel.reporting.words import minus

SERIES = 8
SPACE = ' xmlns="http://www.w3.org/2000/svg"'
LETTER = 6.3  # pixels of a label
LOG_SPAN = 100.0  # positive values over more than this factor are drawn on a logarithmic axis


@dataclass(frozen=True)
class Scale:
    """Data to pixels, linear or logarithmic, with round tick values."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def of(cls, values: Iterable[float], start: float, end: float, *, log: bool | None = None, zero: bool = False) -> "Scale":
        """A scale that holds all finite values, with a little room; `log=None` decides by their span."""
        known = [v for v in values if math.isfinite(v)] or [0.0, 1.0]
        low, high = min(known), max(known)
        logarithmic = low > 0 and high / low > LOG_SPAN if log is None else log and low > 0
        if logarithmic:
            return cls(low / 1.15, high * 1.15, start, end, True)
        room = (high - low) * 0.04 or abs(high) * 0.1 or 0.5
        return cls(0.0 if zero and low >= 0 else low - room, high + room, start, end)

    def __call__(self, value: float) -> float:
        low, high, at = (math.log(v) for v in (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def within(self, value: float) -> float:
        """The pixel of a value, or of the end that it lies beyond."""
        return self(min(max(value, self.low), self.high))

    def room(self, least: float) -> float:
        """The pixels that labels of an axis on the left need, at least so many."""
        return max(least, 14 + LETTER * max((len(label_of(tick)) for tick in self.ticks(5)), default=0))

    def ticks(self, most: int = 6) -> list[float]:
        """Choose round values for ticks.

        >>> Scale(0, 1, 0, 100).ticks(5)
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        """
        return _log_ticks(self.low, self.high) if self.log else _round_ticks(self.low, self.high, most)


@dataclass
class Plot:
    """Marks in drawing order; `svg()` is the picture."""

    width: float
    height: float
    title: str
    parts: list[str] = field(default_factory=list)

    def svg(self, style: str = "") -> str:
        """The picture for a page; with a `style` of its own, for a file."""
        body = "".join(self.parts)
        if style:
            body = f"<style>{style}</style>{body}"
        size = f'viewBox="0 0 {_p(self.width)} {_p(self.height)}" width="{_p(self.width)}" height="{_p(self.height)}"'
        return f'<svg{SPACE if style else ""} {size} role="img" aria-label="{escape(self.title)}">{body}</svg>'

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str = "grid") -> None:
        self.parts.append(f'<line class="{css}" x1="{_p(x1)}" y1="{_p(y1)}" x2="{_p(x2)}" y2="{_p(y2)}"/>')

    def text(self, x: float, y: float, words: str, css: str = "", anchor: str = "start") -> None:
        kind = f' class="{css}"' if css else ""
        side = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(f'<text{kind} x="{_p(x)}" y="{_p(y)}"{side}>{escape(words)}</text>')

    def path(self, points: Sequence[tuple[float, float]], css: str) -> None:
        """A line through the points."""
        if points:
            self.parts.append(f'<path class="{css}" d="M{" ".join(f"{_p(x)} {_p(y)}" for x, y in points)}"/>')

    def steps(self, points: Sequence[tuple[float, float]], css: str) -> None:
        """A line that goes across, then up or down."""
        moves = "".join(f"H{_p(x)}V{_p(y)}" for x, y in points[1:])
        if points:
            self.parts.append(f'<path class="{css}" d="M{_p(points[0][0])} {_p(points[0][1])}{moves}"/>')

    def marks(self, points: Iterable[tuple[float, float]], series: int, css: str = "") -> None:
        """A mark for each point, all in one path: series 0 is a dot, 1 a square, 2 a triangle, 3 a diamond, 4 a cross, ..."""
        shape = SHAPES[series % len(SHAPES)]
        d = "".join(f"M{_p(x)} {_p(y)}{shape}" for x, y in points)
        if d:
            self.parts.append(f'<path class="mark m{series % len(SHAPES)} s{series % SERIES} {css}" d="{d}"/>')

    def axis_below(self, scale: Scale, top: float, bottom: float, label: str = "", most: int = 6) -> None:
        """Ticks under the plot, a hair line up through it."""
        for tick in scale.ticks(most):
            self.line(scale(tick), top, scale(tick), bottom)
            self.text(scale(tick), bottom + 15, label_of(tick), "tick", "middle")
        if label:
            self.text((scale.start + scale.end) / 2, bottom + 31, label, "label", "middle")

    def axis_left(self, scale: Scale, left: float, right: float) -> None:
        for tick in scale.ticks(5):
            self.line(left, scale(tick), right, scale(tick))
            self.text(left - 6, scale(tick) + 4, label_of(tick), "tick", "end")


SHAPES = (
    "h0",  # a dot: round cap of a line without length
    "m-2.4-2.4h4.8v4.8h-4.8z",
    "m0-3.2l2.9 5.2h-5.8z",
    "m0-3.4l3.2 3.4l-3.2 3.4l-3.2-3.4z",
    "m-2.6-2.6l5.2 5.2m0-5.2l-5.2 5.2",
    "m-3.2 0h6.4m-3.2-3.2v6.4",
)


def label_of(tick: float) -> str:
    """Write the label of a tick.

    >>> [label_of(t) for t in (0.05, -20.0, 100000.0, 1e-07, 1.5e10)]
    ['0.05', '−20', '100,000', '1e−07', '1.5e+10']
    """
    if tick != 0 and not 1e-4 <= abs(tick) < 1e7:
        return minus(f"{tick:.3g}")
    return minus(f"{round(tick, 10):,g}" if abs(tick) < 1e6 else f"{tick:,.0f}")


def _round_ticks(low: float, high: float, most: int) -> list[float]:
    """Choose ticks of 1, 2, 2.5 or 5 times a power of ten."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((m * power for m in (1, 2, 2.5, 5) if m * power >= rough * 0.999), 10 * power)
    first = math.ceil(low / step - 1e-9)
    return [float(round(i * step, 12)) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Choose ticks at powers of ten, with 2 and 5 between where there are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = math.ceil(len(powers) / 6)
    steps = (1, 2, 5) if len(powers) <= 3 else (1,)
    ticks = [m * 10.0**p for p in powers if p % every == 0 for m in steps]
    return [t for t in ticks if low <= t <= high]


def _p(value: float) -> str:
    """A pixel position to a tenth."""
    return f"{np.round(value, 1):g}"


# Rows of a chart with a name each: beside the row where there is room, above it on a narrow window.


@dataclass(frozen=True)
class Lanes:
    """Pixels: `row` between two rows, `left` and `right` of the axis; `letters` of a name that are shown, `ticks` at most."""

    width: int
    left: int
    right: int
    row: int
    letters: int
    ticks: int
    above: bool

    def name(self, plot: Plot, top: float, index: int, words: str, css: str) -> float:
        """Write the name of a row; returns the height of its middle."""
        short = words if len(words) <= self.letters else f"{words[: self.letters - 1]}…"
        y = top + self.row * index + self.row * (0.7 if self.above else 0.5)
        if self.above:
            plot.text(self.left, y - 9, short, css)
        else:
            plot.text(self.left - 12, y + 4, short, css, "end")
        return y


WIDE = Lanes(width=940, left=320, right=20, row=28, letters=44, ticks=8, above=False)
NARROW = Lanes(width=330, left=14, right=22, row=40, letters=48, ticks=4, above=True)


# The critical-difference diagram: mean ranks on an axis, a bar over learners that are not told apart, the difference above.
#
# The better ranks are on the right, as in the paper, and the names run down from the outside to the middle, so that no two
# lines cross. Source: Demšar (2006), figure 1.


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


def diagram(learners: Sequence[str], ranks: Floats, difference: float, bars: Sequence[Sequence[int]], sets: int) -> Plot:
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
    words = f"mean ranks over {sets} data sets, better to the right; bars join what Nemenyi's test at 0.05 does not tell apart"
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


# A page of sentences, a picture and tables as plain values, and its forms: text, Markdown, HTML.


@dataclass(frozen=True)
class DocumentTable:
    """Cells as text; the first column says what a row is. `marked` cells (row, column) are the best of their row."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    marked: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Document:
    """`answer` says which is best; `style` is what the picture needs as a file of its own, `css` what it needs on a page."""

    title: str
    lead: str
    sentences: tuple[str, ...]
    tables: tuple[DocumentTable, ...]
    picture: Plot | None = None
    style: str = ""
    css: str = ""
    answer: tuple[str, ...] = ()


def document_text(of: Document) -> str:
    """Write it for the terminal: the tables, then the sentences; a star marks the best of a row."""
    blocks = [*("\n".join(table_lines(table)) for table in of.tables), "\n".join(of.sentences)]
    return "\n\n".join(blocks)


def document_markdown(of: Document, picture: str = "") -> str:
    """Write it for documentation; `picture` is the file name of the picture beside it."""
    image = [f"![{of.picture.title}]({picture})"] if of.picture and picture else []
    said = "\n".join(f"- {sentence}" for sentence in of.sentences)
    return "\n\n".join([f"# {of.title}", of.lead, said, *image, *("\n".join(_pipes(table)) for table in of.tables)]) + "\n"


def table_lines(table: DocumentTable) -> Iterator[str]:
    """Yield the lines of a table as text, columns aligned."""
    cells = [table.head, *(tuple(_with_star(table, i, j) for j in range(len(row))) for i, row in enumerate(table.rows))]
    widths = [max(len(row[j]) for row in cells) for j in range(len(table.head))]
    yield f"{table.title}{f' ({table.note})' if table.note else ''}"
    for first, *rest in cells:
        yield "  ".join([first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:]))]).rstrip()


def _with_star(table: DocumentTable, row: int, column: int) -> str:
    cell = table.rows[row][column]
    return f"{cell}*" if (row, column) in table.marked else f"{cell} " if column and table.marked else cell


def _pipes(table: DocumentTable) -> Iterator[str]:
    """Yield the lines of a table as Markdown."""
    yield f"## {table.title}\n"
    if table.note:
        yield f"{table.note[:1].upper()}{table.note[1:]}.\n"
    yield f"| {' | '.join(table.head)} |"
    yield f"|{'|'.join(['---', *['--:'] * (len(table.head) - 1)])}|"
    for i, row in enumerate(table.rows):
        cells = [f"**{escape(cell)}**" if (i, j) in table.marked else escape(cell) for j, cell in enumerate(row)]
        yield f"| {' | '.join(cells)} |"
