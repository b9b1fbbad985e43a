"""Softened trees on the page."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TypedDict

from modelsel.reporting.charts.svg import Plot, Scale
from modelsel.reporting.experiments.softening.findings import PUBLISHED, HardTreeFigures, JudgedFinding
from modelsel.reporting.experiments.softening.grid import ChosenTree, SetChoices


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
    """What the study found about softened trees, beside what was published."""

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
    yield f"<h3>Fourteen published findings</h3>{''.join(map(_finding, one['findings']))}"
    yield f"<h3>Sizes and areas of the hard trees</h3>{_table(overview(one))}"
    for kind in one["kinds"]:
        yield f"<h3>{escape(NAMES[kind])}: per training set</h3>{_table(per_set(one, kind))}"
        yield f"<h3>{escape(NAMES[kind])}: what each softening does</h3>{_table(methods(one, kind))}"
        yield f"<h3>{escape(NAMES[kind])}: area against size</h3>{_sizes(one['kinds'][kind])}"
    yield f"<h3>Best hard tree against best softened tree, per training set</h3>{_scatter(one['kinds'])}"
    if one["choices"]:
        yield f"<h3>The paper’s choice beside an honest one</h3><p>{escape(price_of_peeking(one))}</p>"
        yield _table(choices(one))


def _finding(each: JudgedFinding) -> str:
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
        rows.append([f"{NAMES[name]}, here", f"{kind['trees']}", _three(kind["splits"], 4), _three(kind["area"], 4)])
        if published is not None:
            paper: HardTreeFigures = {"cart": published.cart, "c45": published.c50}[name]
            rows.append(["published", f"{paper.trees}", _three(paper.splits, 4), _three(paper.area, 4)])
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


def choices(one: SofteningFacts) -> Rows:
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


def _three(values: Sequence[float], digits: int) -> str:
    return " / ".join(f"{value:.{digits}g}" for value in values)
