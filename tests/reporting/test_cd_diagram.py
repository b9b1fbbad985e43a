"""The critical-difference diagram: where ranks stand, which bars join, and that it is a picture by itself."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.reporting.charts import FILE, SIDE, WIDTH, Plot, diagram
from modelsel.reporting.picture import Picture, style
from modelsel.statistics.ranks import cliques, critical_difference
from tests.extras import needs

SPACE = "{http://www.w3.org/2000/svg}"
DEMSAR = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")


def drawn(plot: Plot) -> ElementTree.Element:
    return ElementTree.fromstring(plot.svg(FILE))


def names(tree: ElementTree.Element) -> list[str]:
    return [str(word.text) for word in tree.iter(f"{SPACE}text") if word.get("class") == "name"]


def test_demsar_s_four_learners_hang_on_one_bar() -> None:
    ranks, difference = np.array([3.143, 2.0, 2.893, 1.964]), critical_difference(4, 14)
    tree = drawn(diagram(DEMSAR, ranks, difference, cliques(ranks, difference), 14))
    assert names(tree) == ["C4.5+m+cf  1.96", "C4.5+m  2.00", "3.14  C4.5", "2.89  C4.5+cf"]
    assert len([line for line in tree.iter(f"{SPACE}line") if line.get("class") == "clique"]) == 1
    assert "critical difference 1.25" in "".join(tree.itertext())


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.integers(2, 40))
def test_the_axis_holds_every_rank_best_to_the_right(shares: list[float], sets: int) -> None:
    k = len(shares)
    ranks = 1 + np.array(shares) * (k - 1)
    difference = critical_difference(k, sets)
    tree = drawn(diagram([f"l{i}" for i in range(k)], ranks, difference, cliques(ranks, difference), sets))
    leads = [str(path.get("d")) for path in tree.iter(f"{SPACE}path") if path.get("class") == "lead"]
    starts = [float(re.match(r"M([\d.]+)", lead).group(1)) for lead in leads]  # type: ignore[union-attr]
    assert len(leads) == k
    assert all(SIDE - 0.1 <= x <= WIDTH - SIDE + 0.1 for x in starts)
    assert sorted(starts, reverse=True) == pytest.approx(
        [WIDTH - SIDE - (rank - 1) / (k - 1) * (WIDTH - 2 * SIDE) for rank in sorted(ranks)], abs=0.06
    )


def test_the_file_needs_nothing_else_and_knows_both_lights() -> None:
    svg = diagram(("a", "<b>"), np.array([1.2, 1.8]), 0.5, (), 9).svg(FILE)
    assert svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert "prefers-color-scheme:dark" in svg
    assert "&lt;b&gt;" in svg
    assert "href" not in svg


def test_a_difference_longer_than_the_axis_ends_with_it() -> None:
    tree = drawn(diagram(("a", "b"), np.array([1.2, 1.8]), 3.0, ((0, 1),), 3))
    assert "longer than the axis" in "".join(tree.itertext())
    assert max(float(line.get("x2", 0)) for line in tree.iter(f"{SPACE}line")) <= WIDTH - SIDE + 10


def test_a_picture_by_itself_brings_the_rules_of_what_is_drawn() -> None:
    svg = Picture("ranks", diagram(("a", "b"), np.array([1.2, 1.8]), 0.5, ((0, 1),), 9).svg()).svg
    used = {name for words in re.findall(r'class="([^"]+)"', svg) for name in words.split()}
    assert {name for name in used if f".{name}" not in style()} == set()


def test_a_tree_by_itself_has_the_style_of_its_boxes() -> None:
    assert all(rule in style() for rule in ("svg .box {", "svg .edge {", "svg .more {", "svg { color: var(--ink); }"))


def test_a_png_has_words() -> None:
    needs("resvg_py")
    drawing = diagram(("one", "two"), np.array([1.2, 1.8]), 0.5, ((0, 1),), 9).svg()
    silent = re.sub(r"<text.*?</text>", "", drawing)
    assert len(Picture("ranks", drawing)._png()) > len(Picture("ranks", silent)._png()) + 500
