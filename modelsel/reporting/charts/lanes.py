"""Rows of a chart with a name each: beside the row where there is room, above it on a narrow window."""

from dataclasses import dataclass

from modelsel.reporting.charts.svg import Plot


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
