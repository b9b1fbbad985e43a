"""A drawing of the report as a picture of its own: what a notebook shows, and a file as SVG or PNG."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.exports.of_trees import drawing_style
from modelsel.record.files import write
from modelsel.record.folder import RunFolder
from modelsel.reporting import charts
from modelsel.reporting.page import environment, resource
from modelsel.reporting.sections import leaderboard, scores
from modelsel.reporting.sections.view import View
from modelsel.reporting.verdict import verdict

FORMS = (".svg", ".png")
SPACE = 'xmlns="http://www.w3.org/2000/svg"'
FONTS = (  # a renderer that takes sans-serif for Arial, which most Linux machines lack, would leave all words out
    '"Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", "DejaVu Sans", "Noto Sans", "FreeSans", "Cantarell", sans-serif'
)
SCALE = 2  # pixels of a PNG per unit of the drawing


@dataclass(frozen=True)
class Picture:
    """`save("x.svg")` or `save("x.png")`; a notebook shows it, light or dark as its page is."""

    title: str
    drawing: str  # an SVG element without style

    @property
    def svg(self) -> str:
        """A self-contained SVG file, light and dark."""
        return _with_style(self.drawing, style())

    def save(self, path: str | Path) -> Path:
        """Write the file, and return its path. Raises ConfigurationError for another ending, StoreError if it cannot."""
        place = Path(path)
        if place.suffix.lower() not in FORMS:
            fix = f"end it with one of {', '.join(FORMS)}"
            raise ConfigurationError(Problem("MSEL-288", f"'{place.name}' is not a form of a picture", "save", fix))
        return write(place, self._png() if place.suffix.lower() == ".png" else self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<picture: {self.title}>"

    def _png(self) -> bytes:
        return bytes(_renderer().svg_to_bytes(svg_string=_with_style(self.drawing, light()), zoom=SCALE))


@cache
def style() -> str:
    """The rules of the page's style that drawings need, with its colours in light and dark."""
    text = resource("style.css")
    colours = re.findall(r"^(?:@media[^{]*dark[^{]*\{\s*)?:root \{.*?\n\s*\}(?:\n\})?", text, re.MULTILINE | re.DOTALL)[:2]
    rules = re.findall(r"^svg .*$", text, re.MULTILINE)
    paper = "svg { background: var(--paper); }"
    return "\n".join([*(block.replace(":root", "svg") for block in colours), *rules, charts.CSS, drawing_style(), paper])


@cache
def light() -> str:
    """Write the light colours out, for viewers without CSS variables and media queries."""
    text = style()
    text = re.sub(r"@media.*?\n\s*\}\n\}", "", text, flags=re.DOTALL)
    colours = dict(re.findall(r"--(\w+):\s*(#[0-9a-fA-F]+)", text))
    text = re.sub(r"var\(--(\w+)\)", lambda found: colours.get(found[1], "#000000"), text)
    return re.sub(r"--\w+:[^;]*;", "", text).replace('system-ui, -apple-system, "Segoe UI", sans-serif', FONTS)


def _with_style(drawing: str, css: str) -> str:
    head, end, body = drawing.partition(">")
    named = head if "xmlns=" in head else head.replace("<svg", f"<svg {SPACE}", 1)
    return f"{named}{end}<style>{css}</style>{body}"


def _renderer() -> Any:
    """Import the renderer of PNG files; an error where it is not installed."""
    try:
        import resvg_py
    except ModuleNotFoundError as error:
        what = "a PNG needs a package that is not installed"
        raise ConfigurationError(
            Problem("MSEL-289", what, "save", "pip install 'modelsel[png]', or save it as .svg")
        ) from error
    return resvg_py


# A study as a notebook shows it: verdict, the head of the leaderboard, fold scores of the best; light and dark.

HEAD = 8  # rows


def card(folder: RunFolder) -> str:
    """HTML to be shown among other things: its style touches nothing else."""
    view = View(folder)
    rows = leaderboard.section(view)["rows"][:HEAD]
    drawn = scores.strips(view)["svg"] if view.ranked else ""
    return environment().get_template("card.html").render(
        verdict=folder.redactor.text(verdict(folder)), rows=rows, more=len(view.rows) - HEAD, measure=view.outcome.measure,
        drawing=drawn, style=_scope_rules(style()),
    )  # fmt: skip


def _scope_rules(css: str) -> str:
    """The drawings' rules, for drawings in a card alone."""
    return re.sub(r"(^|[},\s])svg(?=[ .{,])", r"\1.modelsel-card svg", css)
