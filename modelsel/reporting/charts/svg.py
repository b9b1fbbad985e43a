"""Plots as text: a few SVG marks over two scales. Colours are classes (`s0`, `s1`, ...), so that light, dark and print agree.

Series differ by the shape of their marks as well, so that the page reads without colour.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from modelsel.reporting.text.words import minus

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
        """One mark per point, all in one path: series 0 is a dot, 1 a square, 2 a triangle, 3 a diamond, 4 a cross, ..."""
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

    def axis_left(self, scale: Scale, left: float, right: float, most: int = 5) -> None:
        for tick in scale.ticks(most):
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
