"""Plain data and back, and Graphviz."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from modelsel.tree.nested import from_dict, to_dict, to_dot
from modelsel.tree.rules import to_rules
from modelsel.tree.softening import Widths

FIELDS = {"id", "parent", "depth", "weights", "prediction", "test", "children"}


def test_the_shape_is_the_documented_one(mixed):
    data = json.loads(json.dumps(to_dict(mixed), allow_nan=False))
    assert set(data) == {"classes", "features", "nodes"}
    assert all(set(node) >= FIELDS for node in data["nodes"])
    assert {node["test"]["kind"] for node in data["nodes"] if node["test"]} == {"threshold", "subset", "equality"}
    subset = data["nodes"][6]["test"]
    assert subset == {
        "feature": "sky & <sea>", "kind": "subset", "threshold": None, "level": None, "levels": ["blue", "grey"],
    }  # fmt: skip
    assert data["nodes"][8]["test"]["level"] == "red"


def test_reading_back_gives_the_same_tree(weather, mixed):
    for cut in (weather, mixed):
        data = to_dict(cut)
        assert to_dict(from_dict(json.loads(json.dumps(data)))) == data


def test_only_nodes_that_stand_are_told_and_numbered_in_preorder(weather):
    leaf = weather.leaf.copy()
    leaf[1] = True
    nodes = to_dict(replace(weather, leaf=leaf))["nodes"]
    assert [node["id"] for node in nodes] == list(range(6))
    assert nodes[0]["children"] == [1, 2, 3]
    assert nodes[1]["test"] is None
    assert nodes[1]["children"] == []


def test_scores_of_other_rows_stand_beside_the_training_weights(weather):
    counts = weather.counts.copy()
    counts[4] = [2, 1]
    data = to_dict(replace(weather, counts=counts))
    assert data["nodes"][4]["weights"] == [0, 4]
    assert data["nodes"][4]["scores"] == [2, 1]
    assert "scores" not in data["nodes"][3]
    assert (from_dict(data).counts == counts).all()


def test_rules_and_the_drawing_tell_the_same_weights(weather):
    """Of the rows that class scores come from: those held back, where a pruner has set them."""
    counts = weather.counts.copy()
    counts[4] = [2, 1]
    cut = replace(weather, counts=counts)
    told = {f"{rule.weight:.6g}" for rule in to_rules(cut)}
    drawn = {f"{sum(map(float, label.split(' · '))):.6g}" for label in re.findall(r'\\n([^"]*)", style=bold', to_dot(cut))}
    assert told == drawn
    assert "3" in told


@pytest.mark.parametrize(
    ("node", "field", "value"),
    [(1, "parent", 5), (0, "children", [1, 4]), (2, "prediction", 7), (2, "weights", [1]), (3, "id", 9), (4, "test", {})],
)
def test_a_tree_that_does_not_fit_together_is_refused(weather, node, field, value):
    data = to_dict(weather)
    data["nodes"][node][field] = value
    with pytest.raises(ValueError, match="does not fit"):
        from_dict(data)


def test_an_unknown_feature_is_refused(weather):
    data = to_dict(weather)
    data["nodes"][0]["test"]["feature"] = "sunshine"
    with pytest.raises(ValueError, match="sunshine"):
        from_dict(data)


def test_graphviz_names_classes_weights_and_branches(mixed):
    dot = to_dot(mixed)
    assert dot.count("->") == 10
    assert dot.count("[label=") - dot.count("->") == 11
    assert 'n0 -> n1 [label="age <= 30.25"];' in dot
    assert 'in {the \\"black\\" one, red}' in dot
    assert 'n7 [label="c\\n0 · 1.5 · 3", style=bold];' in dot


def test_a_softened_threshold_says_from_where_to_where(mixed):
    below, above = np.zeros(len(mixed.tree)), np.zeros(len(mixed.tree))
    below[0], above[0] = 0.25, 1.75
    nodes = to_dict(mixed, Widths(below, above))["nodes"]
    assert nodes[0]["test"]["softened"] == [30.0, 32.0]
    assert not any("softened" in node["test"] for node in nodes[1:] if node["test"])


def test_goodness_survives(weather):
    assert np.nanmax(from_dict(to_dict(weather)).tree.goodness) == 0.5
