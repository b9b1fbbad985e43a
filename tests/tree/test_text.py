"""The indented text, character by character."""

from dataclasses import replace

from modelsel.tree.rules import to_text

WEATHER = """\
outlook = sunny
|   humidity = high: no (3)
|   humidity = normal: yes (2)
outlook = overcast: yes (4)
outlook = rain
|   wind = weak: yes (3)
|   wind = strong: no (2)
"""

MIXED = """\
age <= 30.25
|   age <= 10
|   |   size <= small: a (3)
|   |   size > small: b (1)
|   age > 10: a (2)
age > 30.25
|   sky & <sea> in {blue, grey}: c (4.50/1.50)
|   sky & <sea> in {the "black" one, red}
|   |   sky & <sea> = red: b (0)
|   |   sky & <sea> != red: b (2)
"""


def test_the_textbook_tree_reads_like_the_textbook(weather):
    assert to_text(weather) == WEATHER


def test_every_kind_of_test_has_words(mixed):
    assert to_text(mixed) == MIXED


def test_a_cut_tree_ends_at_its_leaves(weather):
    leaf = weather.leaf.copy()
    leaf[1] = True
    assert to_text(replace(weather, leaf=leaf)).splitlines()[0] == "outlook = sunny: no (5/2)"


def test_a_single_leaf_is_one_line(weather):
    leaf = weather.leaf.copy()
    leaf[0] = True
    assert to_text(replace(weather, leaf=leaf)) == "yes (14/5)\n"
