"""A tree as a drawing for the report: root at the left, class shares in the nodes, the test along the branch.

In a tree of numbers a bar tells where a node's number lies between the least and the largest; a model stands beside its leaf.

The SVG is whole without a script. With one, subtrees fold (click, or Enter on a focused node) and the view zooms. A tree of
more than 24 leaves opens with its lightest subtrees folded, and a wide one at three quarters of its size. Ink is the page's
own colour, so that light and dark need no word here; nothing is fetched.
"""

import colorsys
import re
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from html import escape
from importlib.resources import files

import numpy as np

from modelsel.core.types import Floats
from modelsel.tree.conditions import branch_words
from modelsel.tree.cutting import reached
from modelsel.tree.node import PrunedView
from modelsel.tree.rules import amount, model_words, number_words, off, own_counts
from modelsel.tree.softening import Widths

ROW, BOX, HEIGHT, AFTER = 40, 116, 30, 76  # pixels: a leaf's line, a node, and what a folded one says behind it
SHOWN = 10  # classes of a node, and of the key: of more the heaviest
MODEL = 60  # letters of a leaf's model beside its box; its title has the whole
BEND, LETTER = 38, 7.5  # pixels: from a node to where the label of its branch starts, and a letter of it
LETTERS, LEAST, NAME = 25, 9, 6  # of a label at most and at least, and of the feature's name in it; its title has the whole
OKABE_ITO = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8ab00", "#8a8a8a")  # told apart by all
BUTTONS = (("smaller", "−"), ("larger", "+"), ("fit", "fit"), ("fold", "fold"), ("unfold", "unfold all"))


def to_html(cut: PrunedView, caption: str = "", widths: Widths | None = None, most: int = 500) -> str:
    """A figure with key, buttons, drawing, style and script: to be pasted into a page as it is.

    Of more than `most` leaves the top is drawn, down to where rows are many; the caption says so.
    """
    drawn, leaves = top(cut, most), int(np.count_nonzero(reached(cut) & cut.leaf))
    if drawn is not cut:
        shown = int(np.count_nonzero(reached(drawn) & drawn.leaf))
        caption = f"{caption} The top of the tree: {leaves} leaves in all, {shown} ends drawn.".strip()
    bar = "".join(f'<button type="button" data-act="{act}" hidden>{label}</button>' for act, label in BUTTONS)
    words = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return (
        f'<figure class="tree-drawing"><style>{_resource("drawing.css")}</style>'
        f'<div class="tree-bar">{bar}{_key(cut)}</div><div class="tree-view">{to_svg(drawn, widths)}</div>{words}'
        f"<script>{_resource('drawing.js')}</script></figure>"
    )


def to_svg(cut: PrunedView, widths: Widths | None = None) -> str:
    """The drawing alone, everything unfolded; with `widths` each softened test shows its ramp under the node."""
    layout = _Layout(cut, widths or Widths.none(cut.tree))
    width, height = layout.depth * layout.step + BOX + layout.after, layout.leaves * ROW
    nodes = "".join(_node(layout, int(node)) for node in layout.nodes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 0 {width} {height}" width="{width}" height="{height}" '
        f'data-row="{ROW}" data-step="{layout.step}" data-box="{BOX}" data-after="{layout.after}" role="img" '
        f'aria-label="decision tree, {layout.leaves} leaves" font-family="system-ui, sans-serif" font-size="13">{nodes}</svg>'
    )


def rules() -> str:
    """The style of `to_svg` as a file of its own needs it; the page's style has its colours."""
    needed = re.compile(r"\.tree-drawing (text|\.(branch|amount|box|leaf|edge|ramp|more))\b")
    lines = (line for line in _resource("drawing.css").splitlines() if needed.match(line))
    return "\n".join(["svg { color: var(--ink); }", *(line.replace(".tree-drawing", "svg") for line in lines)])


def top(cut: PrunedView, most: int) -> PrunedView:
    """The tree cut back to at most `most` leaves, or its root: the heaviest nodes keep their tests."""
    if np.count_nonzero(reached(cut) & cut.leaf) <= most:
        return cut
    leaf, ends = np.ones(len(cut.tree), bool), 1
    waiting = [(-float(cut.tree.weight[0]), 0)]
    while waiting:
        node = heappop(waiting)[1]
        children = cut.tree.children(node).tolist()
        if cut.leaf[node] or ends + len(children) - 1 > most:
            continue
        leaf[node], ends = False, ends + len(children) - 1
        for child in children:
            heappush(waiting, (-float(cut.tree.weight[child]), child))
    return replace(cut, leaf=leaf)


@dataclass(frozen=True)
class _Layout:
    """Positions of the nodes that stand: leaves on lines of their own, a parent midway between its outer children."""

    cut: PrunedView
    widths: Widths

    @cached_property
    def counts(self) -> Floats:
        return own_counts(self.cut)

    @cached_property
    def nodes(self) -> list[int]:
        return [int(node) for node in np.flatnonzero(reached(self.cut))]

    @cached_property
    def number(self) -> dict[int, int]:
        return {node: number for number, node in enumerate(self.nodes)}

    @cached_property
    def leaves(self) -> int:
        return int(np.count_nonzero(self.cut.leaf[self.nodes]))

    @cached_property
    def depth(self) -> int:
        return int(self.cut.tree.depth[self.nodes].max())

    @cached_property
    def words(self) -> dict[int, tuple[str, str]]:
        """The test on the way to each node: in full, and as a label."""
        tree, asked = self.cut.tree, {}
        for node in self.nodes[1:]:
            parent = int(tree.parent[node])
            words = branch_words(tree, parent, int(np.flatnonzero(tree.children(parent) == node)[0]))
            asked[node] = words, _label(words, tree.features[tree.feature[parent]].name)
        return asked

    @cached_property
    def room(self) -> int:
        """The width of the longest label."""
        return round(LETTER * max([LEAST, *(len(label) for _, label in self.words.values())]))

    @property
    def step(self) -> int:
        """The horizontal distance from one level of the drawing to the next."""
        return BOX + BEND + self.room + 4

    @property
    def after(self) -> int:
        """Room behind a leaf for its model, or for a folded node's words."""
        models = self.cut.models
        return AFTER if models is None or not models.coefficients[self.nodes].any() else round(6 * MODEL)

    @cached_property
    def leaves_below(self) -> dict[int, int]:
        """Count the leaves below each node."""
        below = dict.fromkeys(self.nodes, 0)
        for node in reversed(self.nodes):
            below[node] = 1 if self.cut.leaf[node] else sum(below[int(c)] for c in self.cut.tree.children(node))
        return below

    @cached_property
    def y(self) -> dict[int, float]:
        """Place leaves on lines, and parents midway between their outer children."""
        lines = iter(range(self.leaves))
        y = {node: (next(lines) + 0.5) * ROW for node in self.nodes if self.cut.leaf[node]}
        for node in reversed(self.nodes):
            if node not in y:
                children = self.cut.tree.children(node)
                y[node] = (y[int(children[0])] + y[int(children[-1])]) / 2
        return y


def _node(layout: _Layout, node: int) -> str:
    """A group that carries the branch leading to it, so that hiding one hides both."""
    cut, tree = layout.cut, layout.cut.tree
    is_leaf, parent = bool(cut.leaf[node]), int(tree.parent[node])
    role = "leaf" if is_leaf else 'inner" tabindex="0" role="button" aria-expanded="true'
    name = tree.classes[cut.prediction[node]] if tree.numbers is None else f"{cut.prediction[node]:.4g}"
    counts = layout.counts[node]
    weight = float(counts.sum())
    more = "" if is_leaf else f'<text class="more" x="{BOX + 6}" y="4">+ {layout.leaves_below[node]} leaves</text>'
    return (
        f'<g class="node {role}" data-parent="{layout.number.get(parent, -1)}" data-depth="{tree.depth[node]}" '
        f'data-weight="{weight:.6g}" transform="translate({tree.depth[node] * layout.step},{layout.y[node]:g})">'
        f"{_branch(layout, node, parent) if parent >= 0 else ''}"
        f'<rect class="box" y="{-HEIGHT / 2:g}" width="{BOX}" height="{HEIGHT}" rx="4"/>'
        f'<text x="6" y="-1">{_short(name, 10)}</text>'
        f'<text class="amount" x="{BOX - 6}" y="-1" text-anchor="end">{amount(weight)}</text>'
        f"{_shares(counts) if tree.numbers is None else _among(layout, node)}"
        f"{_model(layout, node) if is_leaf else _ramp(layout, node)}{more}"
        f"<title>{escape(_node_words(cut, node, counts))}</title></g>"
    )


def _branch(layout: _Layout, node: int, parent: int) -> str:
    """Draw a branch with its test."""
    words, label = layout.words[node]
    rise, start = layout.y[parent] - layout.y[node], BOX - layout.step
    return (
        f'<path class="edge" fill="none" stroke="currentColor" d="M{start},{rise:g} h12 L{start + BEND - 2},0 H0"/>'
        f'<svg x="{start + BEND}" y="-18" width="{layout.room}" height="18"><text class="branch" y="14">'
        f"<title>{escape(words)}</title>{escape(label)}</text></svg>"
    )


def _ramp(layout: _Layout, node: int) -> str:
    """Share of the weight that goes to the first branch, over the values around the threshold; nothing at a hard test."""
    below, above = float(layout.widths.below[node]), float(layout.widths.above[node])
    if below + above == 0:
        return ""
    scale, top, low = (BOX - 40) / (below + above), HEIGHT / 2 + 2, HEIGHT / 2 + 10
    start, middle, end = 20.0, 20 + below * scale, BOX - 20.0
    half = (top + low) / 2
    points = [
        (6, top),
        (start, top),
        (middle, half if below else top),
        (middle, half if above else low),
        (end, low),
        (BOX - 6, low),
    ]
    drawn = " ".join(f"{x:.1f},{y:g}" for x, y in points)
    tree = layout.cut.tree
    threshold, feature = float(tree.threshold[node]), tree.features[tree.feature[node]]
    words = f"softened from {feature.number(threshold - below, 6)} to {feature.number(threshold + above, 6)}"
    return f'<polyline class="ramp" fill="none" stroke="currentColor" points="{drawn}"><title>{words}</title></polyline>'


def _shares(counts: Floats) -> str:
    """The bar of class shares, of many classes those that are heaviest; nothing for an empty branch."""
    total, left, bars = float(counts.sum()), 6.0, ""
    for index in _heaviest(counts):
        width = (BOX - 12) * float(counts[index]) / total
        bars += f'<rect x="{left:.2f}" y="5" width="{width:.2f}" height="6" fill="{_colour(index)}"/>'
        left += width
    return bars


def _heaviest(counts: Floats) -> list[int]:
    """The classes that are there, in their order: of more than `SHOWN` those with the most weight."""
    there = np.flatnonzero(counts > 0)
    kept = there if len(there) <= SHOWN else np.sort(there[np.argsort(-counts[there], kind="stable")[:SHOWN]])
    return [int(index) for index in kept]


def _count_others(counts: Floats) -> str:
    """Say how many classes a leaf has beside those that are shown; empty where it has none."""
    many = max(int(np.count_nonzero(counts > 0)) - SHOWN, 0)
    return f"{many} more class{'es' * (many > 1)}" if many else ""


def _among(layout: _Layout, node: int) -> str:
    """A bar for a number: from the least that a node answers to the largest."""
    said = layout.cut.prediction[layout.nodes]
    low, high = float(said.min()), float(said.max())
    share = (float(layout.cut.prediction[node]) - low) / (high - low) if high > low else 1.0
    return f'<rect x="6" y="5" width="{max((BOX - 12) * share, 1.0):.2f}" height="6" fill="{_colour(0)}"/>'


def _model(layout: _Layout, node: int) -> str:
    """The model of a leaf beside its box, cut to some letters."""
    models = layout.cut.models
    if models is None or not models.coefficients[node].any():
        return ""
    words = model_words(models, node, layout.cut.tree.features, 3)
    return f'<text class="amount" x="{BOX + 6}" y="4">{_short(words, MODEL)}</text>'


def _node_words(cut: PrunedView, node: int, counts: Floats) -> str:
    """Class, then the weight of each class that is there; of numbers what the node answers, and how far off it is."""
    if cut.tree.numbers is not None:
        said, wrong = number_words(cut, node) if cut.leaf[node] else f"{cut.prediction[node]:.6g}", off(cut, node)
        told = f", off by {wrong:.3g}" if wrong is not None and cut.leaf[node] else ""
        return f"{said}\n{amount(float(counts.sum()))} rows{told}"
    classes, shown = cut.tree.classes, _heaviest(counts)
    parts = [f"{classes[index]}: {amount(float(counts[index]))}" for index in shown]
    if more := _count_others(counts):
        parts.append(f"{more}: {amount(float(counts.sum() - counts[shown].sum()))}")
    return f"{classes[cut.prediction[node]]}\n" + ("\n".join(parts) or "no training rows")


def _key(cut: PrunedView) -> str:
    """Write the key of class colours, as the root's bar has them; of numbers there is none."""
    if cut.tree.numbers is not None:
        return ""
    shown = _heaviest(cut.counts[0])
    more = _count_others(cut.counts[0])
    names = [
        f'<span class="tree-key"><i style="background:{_colour(index)}"></i>{escape(cut.tree.classes[index])}</span>'
        for index in shown
    ]
    return "".join([*names, *[f'<span class="tree-key">and {more}</span>'] * bool(more)])


def _colour(index: int) -> str:
    """Eight colours that most eyes tell apart, then hues by the golden angle; the class also stands in words."""
    if index < len(OKABE_ITO):
        return OKABE_ITO[index]
    red, green, blue = colorsys.hls_to_rgb(index * 0.618034 % 1, 0.5, 0.5)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def _label(words: str, name: str) -> str:
    """The branch in few letters: what is asked matters more than the end of a feature's long name."""
    asked = words.removeprefix(name)
    return _cut_off(_cut_off(name, max(LETTERS - len(asked), NAME)) + asked, LETTERS)


def _short(text: str, letters: int) -> str:
    return escape(_cut_off(text, letters))


def _cut_off(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1] + "…"


def _resource(name: str) -> str:
    return files("modelsel.tree").joinpath(name).read_text(encoding="utf-8")
