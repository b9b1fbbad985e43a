"""The drawing: whole, well-formed, safe to paste, and of the right shape."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np

from modelsel.tree.cutting import reached
from modelsel.tree.draw import to_html, to_svg, top
from modelsel.tree.softening import Widths

NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}


def nodes(cut):
    return ElementTree.fromstring(to_svg(cut)).findall("svg:g", NAMESPACE)


def test_every_node_that_stands_is_drawn_once_with_its_branch(mixed, weather):
    for cut, many in ((mixed, 11), (weather, 8)):
        groups = nodes(cut)
        assert len(groups) == many
        assert sum(group.find("svg:path", NAMESPACE) is not None for group in groups) == many - 1


def test_a_cut_tree_is_drawn_without_what_lies_beneath(weather):
    leaf = weather.leaf.copy()
    leaf[1] = True
    groups = nodes(replace(weather, leaf=leaf))
    assert len(groups) == 6
    assert [group.get("data-parent") for group in groups] == ["-1", "0", "0", "0", "3", "3"]


def test_leaves_stand_on_lines_of_their_own_in_the_order_of_the_text(mixed):
    places = [group.get("transform") for group in nodes(mixed) if "leaf" in group.get("class")]
    heights = [float(re.search(r",([\d.]+)\)", place).group(1)) for place in places]
    assert heights == [20.0 + 40 * line for line in range(6)]


def test_bars_show_the_class_shares(mixed):
    bars = [float(r.get("width")) for r in nodes(mixed)[0].findall("svg:rect", NAMESPACE) if r.get("fill")]
    assert [round(bar / 104, 3) for bar in bars] == [0.4, 0.36, 0.24]


def test_of_many_classes_the_heaviest_are_shown_and_the_others_counted(mixed, monkeypatch):
    whole = len(to_html(mixed))
    monkeypatch.setattr("modelsel.tree.draw.SHOWN", 2)
    root = nodes(mixed)[0]
    bars = [float(r.get("width")) for r in root.findall("svg:rect", NAMESPACE) if r.get("fill")]
    assert [round(bar / 104, 3) for bar in bars] == [0.4, 0.36]
    assert root.find("svg:title", NAMESPACE).text.splitlines()[-1] == "1 more class: 3"
    assert '<span class="tree-key">and 1 more class</span>' in to_html(mixed)
    assert len(to_html(mixed)) < whole


def test_a_softened_test_shows_its_ramp(mixed):
    below, above = np.zeros(len(mixed.tree)), np.zeros(len(mixed.tree))
    below[0], above[0], above[1] = 0.5, 1.5, 2.0
    drawing = ElementTree.fromstring(to_svg(mixed, Widths(below, above)))
    ramps = drawing.findall(".//svg:polyline", NAMESPACE)
    titles = [ramp.find("svg:title", NAMESPACE).text for ramp in ramps]
    assert titles == ["softened from 29.75 to 31.75", "softened from 10 to 12"]
    assert ramps[0].get("points") == "6.0,17 20.0,17 39.0,21 39.0,21 96.0,25 110.0,25"
    assert ramps[1].get("points") == "6.0,17 20.0,17 20.0,17 20.0,21 96.0,25 110.0,25"


def test_an_empty_branch_says_so(mixed):
    assert nodes(mixed)[9].find("svg:title", NAMESPACE).text == "b\nno training rows"


def test_names_are_escaped_and_long_ones_shortened_with_the_whole_in_the_title(mixed):
    page = to_html(mixed, caption="<script>alert(1)</script>")
    assert "<script>alert" not in page
    assert "sky &amp; &lt;s… in {blue, grey}" in page
    assert "sky &amp; &lt;sea&gt; in {blue, grey}" in page


def test_a_label_keeps_what_is_asked_and_has_room_of_its_own_beside_the_box(mixed):
    name = "mean of the worst three concave points"
    features = tuple(replace(f, name=name) if f.kind == "numeric" else f for f in mixed.tree.features)
    groups = nodes(replace(mixed, tree=replace(mixed.tree, features=features)))
    labels = [group.find("svg:svg", NAMESPACE) for group in groups[1:]]
    assert all(-344 + 116 < int(label.get("x")) < 0 and int(label.get("x")) + int(label.get("width")) < 0 for label in labels)
    texts = [(label[0].find("svg:title", NAMESPACE).text, label[0].find("svg:title", NAMESPACE).tail) for label in labels]
    for whole, shown in texts:
        assert len(shown) <= 25
        if whole.startswith(name):
            assert shown.endswith(whole.removeprefix(name))
            assert "…" in shown


def test_nothing_is_fetched(mixed):
    page = to_html(mixed).replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|url\(|@import|src=|href=", page)


def test_a_single_leaf_is_a_drawing_too(weather):
    leaf = weather.leaf.copy()
    leaf[0] = True
    assert len(nodes(replace(weather, leaf=leaf))) == 1


def test_levels_stand_as_far_apart_as_the_longest_label_needs(weather, mixed):
    def step(cut):
        drawing = ElementTree.fromstring(to_svg(cut))
        longest = max(
            len(text.find("svg:title", NAMESPACE).tail) for text in drawing.iterfind(".//svg:svg/svg:text", NAMESPACE)
        )
        return int(drawing.get("data-step")), longest

    (narrow, few), (wide, many) = step(weather), step(mixed)
    assert few < many
    assert wide - narrow == round(7.5 * many) - round(7.5 * few)


def test_a_folded_node_can_say_how_many_leaves_it_hides(weather):
    told = [text.text for text in ElementTree.fromstring(to_svg(weather)).findall(".//svg:text[@class='more']", NAMESPACE)]
    assert told == ["+ 5 leaves", "+ 2 leaves", "+ 2 leaves"]


def test_of_a_tree_too_large_to_draw_the_heaviest_part_is_drawn_and_the_caption_says_so(mixed):
    whole = to_html(mixed)
    assert "The top of the tree" not in whole
    page = to_html(mixed, most=4)
    drawn = top(mixed, 4)
    assert 1 < np.count_nonzero(reached(drawn) & drawn.leaf) <= 4
    assert page.count('class="node leaf"') == np.count_nonzero(reached(drawn) & drawn.leaf)
    assert "The top of the tree: 6 leaves in all" in page
    kept = mixed.tree.weight[reached(drawn) & ~drawn.leaf]
    folded = mixed.tree.weight[reached(drawn) & drawn.leaf & ~mixed.leaf]
    assert kept.min() >= folded.max(initial=0)
    assert np.flatnonzero(reached(top(mixed, 1))).tolist() == [0]
