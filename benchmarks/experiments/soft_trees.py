"""Softened trees: the published tables beside what came out, the findings judged, an honest choice beside the paper's.

Of the study `experiment=soft_trees` and what is made like it: training sets side by side (scheme=predefined), trees of
`deviance_sequence` (CART) or `error_based` (C4.5), each hard and softened, measure=auc. Dvořák 2019, *Softening splits in
classification trees*.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from textwrap import fill
from typing import TypedDict

import numpy as np

from benchmarks.experiments.softening_grid import (
    METHODS,
    PUBLISHED,
    ChosenTree,
    HardTreeFigures,
    JudgedFinding,
    SetChoices,
    SofteningGrid,
    choices,
    grids,
    judge_findings,
)
from modelsel.core.types import Floats, Integers
from modelsel.reporting.charts import Plot, Scale
from modelsel.reporting.show import SectionContext

# On the page.


class BestOfSet(TypedDict):
    """The best hard tree of a training set, the best softened one, and the smallest softened tree that is not worse."""

    hard: float
    splits: int
    soft: float | None
    smallest: int


class MethodFacts(TypedDict):
    """A softening: mean area over the best trees and over all, what it gains, and on how many trees."""

    best: float
    mean: float
    gain: float
    better: float
    laplace: float | None


class KindFacts(TypedDict):
    """Sizes and areas of one kind of tree; `each` has splits and areas of each tree."""

    trees: int
    splits: list[float]
    area: list[float]
    softened_by: str
    best: list[BestOfSet]
    methods: dict[str, MethodFacts]
    each: list[dict[str, float | None]]


class SofteningFacts(TypedDict):
    """The study's facts about softened trees, beside what was published."""

    data: str
    published: str | None
    sets: int
    rows: int
    assessed: int
    scores: int
    kinds: dict[str, KindFacts]
    findings: list[JudgedFinding]
    choices: list[SetChoices]


TAGS = {"reproduced": "winner-tag", "in part": "medium", "not reproduced": "high"}


def html(one: SofteningFacts) -> str:
    """Write the section for the page."""
    return "".join(_parts(one))


def _parts(one: SofteningFacts) -> Iterator[str]:
    """Yield its parts: findings, tables, charts, choices."""
    yield f"<p>{escape(' '.join(notes(one)))}</p>"
    yield f"<h3>Fourteen published findings</h3>{''.join(map(_finding_html, one['findings']))}"
    yield f"<h3>Sizes and areas of the hard trees</h3>{_table(overview(one))}"
    for kind in one["kinds"]:
        yield f"<h3>{escape(NAMES[kind])}: per training set</h3>{_table(per_set(one, kind))}"
        yield f"<h3>{escape(NAMES[kind])}: what each softening does</h3>{_table(methods(one, kind))}"
        yield f"<h3>{escape(NAMES[kind])}: area against size</h3>{_sizes(one['kinds'][kind])}"
    yield f"<h3>Best hard tree against best softened tree, per training set</h3>{_scatter(one['kinds'])}"
    if one["choices"]:
        yield f"<h3>The paper’s choice beside an honest one</h3><p>{escape(price_of_peeking(one))}</p>"
        yield _table(choices_table(one))


def _finding_html(each: JudgedFinding) -> str:
    """Write a finding with its verdict."""
    tag = TAGS.get(each["verdict"], "info")
    return (
        f"<div class='finding'><div><span class='tag {tag}'>{escape(each['verdict'])}</span></div><div><p>({each['number']}) "
        f"{escape(each['sentence'])}</p><p class='soft'>{escape(each['figures'])}</p></div></div>"
    )


def _table(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th{' class=n' if j else ''}>{escape(cell)}</th>" for j, cell in enumerate(rows[0]))
    body = "".join(_row(row) for row in rows[1:])
    return f"<div class='scroll' tabindex='0'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _row(row: Sequence[str]) -> str:
    soft = " class='soft'" if row[0] == "published" else ""
    cells = "".join(f"<td{' class=n' if j else ''}>{escape(cell)}</td>" for j, cell in enumerate(row))
    return f"<tr{soft}>{cells}</tr>"


def _scatter(kinds: Mapping[str, KindFacts]) -> str:
    """Draw best hard against best softened trees."""
    drawn = {name: kind for name, kind in kinds.items() if all(each["soft"] is not None for each in kind["best"])}
    if not drawn:
        return "<p class='soft'>No softening was asked for.</p>"
    keys = "".join(
        key(series, escape(f"{NAMES[name]}, softened by {kind['softened_by']}"))
        for series, (name, kind) in enumerate(drawn.items())
    )
    return f"<div class='keys'>{keys}</div><figure class='panel' style='max-width:34rem'>{scatter(drawn)}</figure>"


def _sizes(kind: KindFacts) -> str:
    names = [name for name in ("hard", "DR(1)", "auc") if all(tree[name] is not None for tree in kind["each"])]
    keys = "".join(key(series, escape(name)) for series, name in enumerate(names))
    return f"<div class='keys'>{keys}</div><figure class='wide' tabindex='0'>{sizes(kind['each'])}</figure>"


# Pictures of softened trees: best hard against best softened tree, and area against size.

SIDE, LEFT, TOP, BOTTOM = 420, 52, 14, 360
WIDTH, HEIGHT, RIGHT, FOOT = 940, 330, 20, 290


def scatter(kinds: Mapping[str, KindFacts]) -> str:
    """A mark per training set and kind of tree: best hard tree across, best tree softened by AUC (or by range) up."""
    plot = Plot(SIDE + 60, BOTTOM + 44, "best hard tree against best softened tree, 100 AUC")
    points = {
        name: [(one["hard"], one["soft"]) for one in kind["best"] if one["soft"] is not None] for name, kind in kinds.items()
    }
    reach = [value for each in points.values() for point in each for value in point]
    across, up = Scale.of(reach, LEFT, SIDE + 40, log=False), Scale.of(reach, BOTTOM, TOP, log=False)
    plot.axis_left(up, LEFT, SIDE + 40)
    plot.axis_below(across, TOP, BOTTOM, "best hard tree, 100 AUC")
    plot.line(across(across.low), up(across.low), across(across.high), up(across.high), "guide")
    for series, each in enumerate(points.values()):
        plot.marks([(across(x), up(y)) for x, y in each], series)
    return plot.svg()


def sizes(trees: Sequence[Mapping[str, float | None]]) -> str:
    """A mark per tree: hard, softened by range, softened by search for AUC."""
    plot = Plot(WIDTH, HEIGHT, "area against size, hard and softened, 100 AUC")
    splits = _known(trees, "splits")
    areas = [found for name in ("hard", "DR(1)", "auc") if len(found := _known(trees, name)) == len(trees)]
    across = Scale.of(splits, LEFT + 10, WIDTH - RIGHT, log=False)
    up = Scale.of([area for found in areas for area in found], FOOT, TOP, log=False)
    plot.axis_left(up, LEFT, WIDTH - RIGHT)
    plot.axis_below(across, TOP, FOOT, "splits", 10)
    for series, found in enumerate(areas):
        plot.marks([(across(x), up(y)) for x, y in zip(splits, found, strict=True)], series)
    return plot.svg()


def _known(trees: Sequence[Mapping[str, float | None]], name: str) -> list[float]:
    return [value for tree in trees if (value := tree[name]) is not None]


def key(series: int, words: str) -> str:
    """A mark with what it stands for, above a picture."""
    plot = Plot(12, 12, words)
    plot.marks([(6, 6)], series)
    return f"<span class='key'>{plot.svg()}{words}</span>"


# The tables of softened trees as plain rows of words, which the terminal and the page put each in their way.

NAMES = {"cart": "CART (deviance sequence)", "c45": "C4.5 (paper: C5.0)"}
Rows = list[list[str]]


def notes(one: SofteningFacts) -> Iterator[str]:
    """Yield the notes to be read before the numbers."""
    yield (
        f"{one['data']}: {one['sets']} training sets of {one['rows']:,} rows, {one['assessed']:,} assessment rows; areas are "
        f"100 AUC. Nothing is sealed: the paper picks its best trees by these very rows, so that its “best” is the best of "
        f"many scores ({one['scores']:,} per training set here) and no estimate."
    )
    published = PUBLISHED.get(one["data"])
    if published is None:
        yield "Nothing was published about this data set."
    elif one["rows"] != published.rows:
        yield f"The paper’s training sets have {published.rows:,} rows: these are smaller, and so are trees and areas."


def overview(one: SofteningFacts) -> Rows:
    """Sizes and hard areas, ours above the paper's."""
    published = PUBLISHED.get(one["data"])
    rows = [["", "trees", "splits min / med / max", "100 AUC hard min / med / max"]]
    for name, kind in one["kinds"].items():
        rows.append([f"{NAMES[name]}, here", f"{kind['trees']}", _three_html(kind["splits"], 4), _three_html(kind["area"], 4)])
        if published is not None:
            paper: HardTreeFigures = {"cart": published.cart, "c45": published.c50}[name]
            rows.append(["published", f"{paper.trees}", _three_html(paper.splits, 4), _three_html(paper.area, 4)])
    return rows


def per_set(one: SofteningFacts, kind: str) -> Rows:
    """A column per training set. The paper's sets are others: its columns stand in its own order."""
    found, published = one["kinds"][kind]["best"], PUBLISHED.get(one["data"])
    by = one["kinds"][kind]["softened_by"]
    rows = [["training set", *(str(k + 1) for k in range(len(found)))]]
    rows.append(["best hard tree, 100 AUC", *(f"{each['hard']:.2f}" for each in found)])
    rows.append([f"best softened by {by}", *(_area(each["soft"]) for each in found)])
    rows.append(["splits of the best hard tree", *(str(each["splits"]) for each in found)])
    if published is not None and kind == "cart":
        rows.append(["published", *_cut(published.best, len(found))])
    rows.append([f"smallest softened by {by}, not worse", *(_size(each["smallest"]) for each in found)])
    if published is not None and kind == "cart":
        rows.append(["published", *_cut(published.smallest, len(found))])
    return rows


def methods(one: SofteningFacts, kind: str) -> Rows:
    """Make the rows of the table of softenings."""
    rows = [["softening", "best tree, mean over sets", "mean over trees", "less hard", "better on", "Laplace adds"]]
    for name, each in one["kinds"][kind]["methods"].items():
        laplace = "–" if each["laplace"] is None else f"{each['laplace']:+.3f}"
        gains = ["", ""] if name == "hard" else [f"{each['gain']:+.2f}", f"{100 * each['better']:.0f} %"]
        rows.append([name, f"{each['best']:.2f}", f"{each['mean']:.2f}", *gains, laplace])
    return rows


def choices_table(one: SofteningFacts) -> Rows:
    """The paper's choice and the honest one, per training set."""
    rows = [["set", "by assessment rows", "100 AUC", "without them", "held back", "100 AUC", "95 % of one look"]]
    for each in one["choices"]:
        paper, honest = each["paper"], each["honest"]
        low, high = honest["interval"]
        rows.append([
            str(each["set"] + 1), _choice(paper), f"{paper['area']:.2f}", _choice(honest), f"{honest['held_back']:.2f}",
            f"{honest['area']:.2f}", f"{low:.2f} – {high:.2f}",
        ])  # fmt: skip
    return rows


def price_of_peeking(one: SofteningFacts) -> str:
    """Say how much better the paper's way of choosing looks."""
    paper, honest = ([each[by]["area"] for each in one["choices"]] for by in ("paper", "honest"))
    gaps = [peeked - looked for peeked, looked in zip(paper, honest, strict=True)]
    inside = sum(
        each["honest"]["interval"][0] <= each["paper"]["area"] <= each["honest"]["interval"][1] for each in one["choices"]
    )
    return (
        f"Chosen by the assessment rows the mean area is {sum(paper) / len(paper):.2f}, chosen without them "
        f"{sum(honest) / len(honest):.2f}: better by {sum(gaps) / len(gaps):.2f} on average, {max(gaps):.2f} at most. The "
        f"honest choice has the largest area on the third of the training set that neither grew nor softened the tree; it "
        f"looks at the assessment rows once, so that DeLong’s interval holds for each set. The peeked score lies inside it "
        f"on {inside} of {len(gaps)} sets, and has no interval of its own."
    )


def findings(one: SofteningFacts) -> Rows:
    """Make the rows of the table of findings."""
    rows = [["", "published finding", "here", "figures"]]
    rows += [[f"({each['number']})", each["sentence"], each["verdict"], each["figures"]] for each in one["findings"]]
    return rows


def _choice(chosen: ChosenTree) -> str:
    leaf = ", Laplace" if chosen["leaf"] == "laplace" else ""
    return f"{chosen['method']}, {chosen['splits']} splits{leaf}"


def _cut(values: Sequence[int], many: int) -> list[str]:
    return [str(value) for value in values[:many]] + [""] * max(0, many - len(values))


def _size(splits: int) -> str:
    return "none" if splits < 0 else str(splits)


def _area(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _three_html(values: Sequence[float], digits: int) -> str:
    return " / ".join(f"{value:.{digits}g}" for value in values)


# What is shown: facts that are kept, and their text.

TITLE = "Softened trees beside the published ones"


def facts(studied: SectionContext) -> Mapping[str, object]:
    """Judge the published findings on this study's cells."""
    if studied.measure != "auc":
        return {"reason": f"areas need measure=auc, not {studied.measure}"}
    found = {name: grid for name, grid in grids(studied.results).items() if grid.asked("hard")}
    if not found:
        return {"reason": "no trees that are both hard and softened: ask for experiment=soft_trees"}
    data = studied.task.name
    folds = studied.results.book.work.resampling.folds
    return {
        "data": data,
        "published": PUBLISHED[data].name if data in PUBLISHED else None,
        "sets": len(folds),
        "rows": len(folds[0].analysis),
        "assessed": len(folds[0].assessment),
        "scores": sum(int(np.isfinite(grid.area[..., 0]).sum()) for grid in found.values()),
        "kinds": {name: _kind(grid) for name, grid in found.items()},
        "findings": list(judge_findings(found, data)),
        "choices": choices(studied.results, found["cart"]) if "cart" in found else [],
    }


def text(one: SofteningFacts) -> str:
    """Write the section for the terminal."""
    return "\n\n".join(_blocks(one)) + "\n"


def _kind(grid: SofteningGrid) -> KindFacts:
    """Sizes and areas of one kind of tree, per training set and over all trees."""
    every, hard, searched = np.arange(grid.sets), grid.best("hard"), "auc" if grid.asked("auc") else "DR(1)"
    soft = grid.best_area(searched) if grid.asked(searched) else np.full(grid.sets, np.nan)
    small = grid.smallest_not_worse(searched) if grid.asked(searched) else np.full(grid.sets, -1)
    return {
        "trees": int(grid.distinct.sum()),
        "splits": _three(grid.splits[grid.distinct]),
        "area": _three(grid.pooled("hard")),
        "softened_by": searched,
        "best": [
            {"hard": float(h), "splits": int(s), "soft": _number(a), "smallest": int(n)}
            for h, s, a, n in zip(grid.best_area("hard"), grid.splits[hard, every], soft, small, strict=True)
        ],
        "methods": {method: _method(grid, method) for method in METHODS if grid.asked(method)},
        "each": _trees(grid),
    }


def _method(grid: SofteningGrid, method: str) -> MethodFacts:
    """Sum up one softening: mean area over the best trees and over all, and on how many trees it is better than hard."""
    gain = grid.pooled(method) - grid.pooled("hard")
    laplace = grid.pooled(method, "laplace") - grid.pooled(method)
    return {
        "best": float(grid.best_area(method).mean()),
        "mean": float(grid.pooled(method).mean()),
        "gain": float(gain.mean()),
        "better": float((gain > 0).mean()),
        "laplace": _number(float(laplace.mean())),
    }


def _trees(grid: SofteningGrid) -> list[dict[str, float | None]]:
    names = ("hard", "DR(1)", "auc")
    columns = [grid.splits[grid.distinct], *(grid.pooled(name) for name in names)]
    return [{"splits": int(row[0]), **dict(zip(names, map(_number, row[1:])))} for row in zip(*columns, strict=True)]


def _three(values: Floats | Integers) -> list[float]:
    return [float(values.min()), float(np.median(values)), float(values.max())]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


COLUMNS = 108


def _blocks(one: SofteningFacts) -> Iterator[str]:
    """Yield its blocks: tables, then findings."""
    yield fill(" ".join(notes(one)), COLUMNS)
    yield columns(overview(one))
    for kind in one["kinds"]:
        yield f"{NAMES[kind]}\n{columns(per_set(one, kind))}"
        yield columns(methods(one, kind))
    if one["choices"]:
        yield f"{columns(choices_table(one))}\n{fill(price_of_peeking(one), COLUMNS)}"
    yield "\n".join(_finding(*row) for row in findings(one)[1:])


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Words under one another, the first column to the left, the others to the right.

    >>> print(columns([["a", "bb"], ["ccc", "d"]]))
    a    bb
    ccc   d
    """
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = ("  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _finding(number: str, sentence: str, verdict: str, figures: str) -> str:
    return fill(f"{number} {sentence}: {verdict.upper()}; {figures}", COLUMNS, subsequent_indent="     ")
