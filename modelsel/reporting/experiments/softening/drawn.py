"""Pictures of softened trees: best hard against best softened tree, and area against size."""

from collections.abc import Mapping, Sequence
from typing import Any

from modelsel.reporting.charts.svg import Plot, Scale

SIDE, LEFT, TOP, BOTTOM = 420, 52, 14, 360
WIDTH, HEIGHT, RIGHT, FOOT = 940, 330, 20, 290


def scatter(kinds: Mapping[str, Any]) -> str:
    """A mark per training set and kind of tree: best hard tree across, best tree softened by AUC (or by range) up."""
    plot = Plot(SIDE + 60, BOTTOM + 44, "best hard tree against best softened tree, 100 AUC")
    points = {name: [(one["hard"], one["soft"]) for one in kind["best"]] for name, kind in kinds.items()}
    reach = [value for each in points.values() for point in each for value in point]
    across, up = Scale.of(reach, LEFT, SIDE + 40, log=False), Scale.of(reach, BOTTOM, TOP, log=False)
    plot.axis_left(up, LEFT, SIDE + 40)
    plot.axis_below(across, TOP, BOTTOM, "best hard tree, 100 AUC")
    plot.line(across(across.low), up(across.low), across(across.high), up(across.high), "guide")
    for series, each in enumerate(points.values()):
        plot.marks([(across(x), up(y)) for x, y in each], series)
    return plot.svg()


def sizes(trees: Sequence[Mapping[str, Any]]) -> str:
    """A mark per tree: hard, softened by range, softened by search for AUC."""
    plot = Plot(WIDTH, HEIGHT, "area against size, hard and softened, 100 AUC")
    methods = [name for name in ("hard", "DR(1)", "auc") if all(tree[name] is not None for tree in trees)]
    across = Scale.of([tree["splits"] for tree in trees], LEFT + 10, WIDTH - RIGHT, log=False)
    up = Scale.of([tree[name] for tree in trees for name in methods], FOOT, TOP, log=False)
    plot.axis_left(up, LEFT, WIDTH - RIGHT)
    plot.axis_below(across, TOP, FOOT, "splits", 10)
    for series, name in enumerate(methods):
        plot.marks([(across(tree["splits"]), up(tree[name])) for tree in trees], series)
    return plot.svg()


def key(series: int, words: str) -> str:
    """A mark with what it stands for, above a picture."""
    plot = Plot(12, 12, words)
    plot.marks([(6, 6)], series)
    return f"<span class='key'>{plot.svg()}{words}</span>"
