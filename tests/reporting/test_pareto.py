"""Score against size and time: the front by brute force, and figures that hold it."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.reporting import page
from modelsel.reporting.sections import scores, slices
from modelsel.reporting.sections.view import View


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_front_is_those_that_nobody_beats(points: list[tuple[int, int]]) -> None:
    cost, size = np.array(points, float).T
    beaten = [
        any((a <= c and b <= s) and (a < c or b < s) for a, b in zip(cost, size)) for c, s in zip(cost, size)
    ]  # fmt: skip
    assert slices.front(cost, size).tolist() == [not one for one in beaten]


@pytest.mark.slow
def test_a_figure_per_unit_and_one_of_times(recorded, finished, monkeypatch: pytest.MonkeyPatch) -> None:
    view = View(recorded(finished))
    drawn = slices.pareto(view)
    assert [one["title"] for one in drawn] == ["error against leaves"]
    times = {row.id: 10.0 ** (place - 4) for place, row in enumerate(view.best_of_each)}
    monkeypatch.setitem(vars(view), "details", view.details.but(predict_1000_rows=times))
    drawn = slices.pareto(view)
    assert [one["title"] for one in drawn] == ["error against leaves", "error against time to predict 1,000 rows"]
    assert drawn[1]["svg"].count('class="mark') == len(times)
    assert f"{view.best_of_each[0].label}, 100 µs" in drawn[1]["svg"]
    assert all('class="trend"' in one["svg"] for one in drawn)


def test_marks_stand_within_the_axes(recorded, finished) -> None:
    view = View(recorded(finished))
    sizes = [float(place + 1) for place in range(len(view.ranked))]
    svg = slices._figure(view, view.ranked, sizes, "leaves", "leaves", few=True)["svg"]
    assert f"{view.ranked[0].label}, 1 ms" in svg  # the best and the quickest is on the front
    for drawn, left, width in (
        (svg, slices.FRONT_LEFT, slices.FRONT_WIDTH),
        (slices._so_far(view), slices.LEFT, slices.WIDTH),
    ):
        paths = re.findall(r'<path class="mark[^"]*" d="([^"]*)"', drawn)
        marks = [(float(x), float(y)) for path in paths for x, y in re.findall(r"M([\d.]+) ([\d.]+)", path)]
        assert len(marks) == len(sizes)
        assert all(left < x < width - slices.RIGHT and slices.TOP < y < slices.BOTTOM for x, y in marks)


@pytest.mark.slow
def test_the_winners_strip_alone_has_its_name_in_bold(recorded, finished) -> None:
    view = View(recorded(finished))
    bold = re.findall(r'class="name strong"[^>]*>([^<]*)', scores.strips(view)["svg"])
    assert bold == [view.name_of(view.winner.id)]


def test_they_stand_below_the_leaderboard(recorded, finished) -> None:
    sections = re.findall(r'<section id="(\w+)"', page.render(recorded(finished)))
    assert sections[sections.index("leaderboard") + 1] == "pareto"
