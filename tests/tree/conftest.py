"""Trees to read: the textbook's weather tree, and one with every kind of test."""

from dataclasses import replace
from typing import Any

import pytest

from modelsel.tree.nested import from_dict
from modelsel.tree.node import PrunedView


def _leaf(id: int, parent: int, depth: int, weights: list[float], prediction: int | None = None) -> dict[str, Any]:
    best = weights.index(max(weights)) if prediction is None else prediction
    return {
        "id": id, "parent": parent, "depth": depth, "weights": weights, "prediction": best, "test": None, "children": [],
    }  # fmt: skip


def _inner(id, parent, depth, weights, children, feature, kind, **more) -> dict[str, Any]:
    test = {"feature": feature, "kind": kind, "threshold": None, "level": None, "levels": None, **more}
    return {**_leaf(id, parent, depth, weights), "test": test, "children": children, "goodness": 0.5}


@pytest.fixture
def weather() -> PrunedView:
    """Outlook; humidity under sunny; wind under rain (Mitchell 1997, figure 3.1)."""
    features = [
        {"name": "outlook", "kind": "nominal", "levels": ["sunny", "overcast", "rain"]},
        {"name": "humidity", "kind": "nominal", "levels": ["high", "normal"]},
        {"name": "wind", "kind": "nominal", "levels": ["weak", "strong"]},
    ]
    nodes = [
        _inner(0, None, 0, [5, 9], [1, 4, 5], "outlook", "multiway", levels=["sunny", "overcast", "rain"]),
        _inner(1, 0, 1, [3, 2], [2, 3], "humidity", "multiway", levels=["high", "normal"]),
        _leaf(2, 1, 2, [3, 0]),
        _leaf(3, 1, 2, [0, 2]),
        _leaf(4, 0, 1, [0, 4]),
        _inner(5, 0, 1, [2, 3], [6, 7], "wind", "multiway", levels=["weak", "strong"]),
        _leaf(6, 5, 2, [0, 3]),
        _leaf(7, 5, 2, [2, 0]),
    ]
    return from_dict({"classes": ["no", "yes"], "features": features, "nodes": nodes})


@pytest.fixture
def mixed() -> PrunedView:
    """Thresholds on one path twice, an ordered feature, equality, a subset, divided rows, an empty branch."""
    features = [
        {"name": "age", "kind": "numeric", "levels": []},
        {"name": "size", "kind": "ordered", "levels": ["small", "medium", "large"]},
        {"name": "sky & <sea>", "kind": "nominal", "levels": ["blue", "grey", 'the "black" one', "red"]},
    ]
    nodes = [
        _inner(0, None, 0, [5, 4.5, 3], [1, 6], "age", "threshold", threshold=30.25),
        _inner(1, 0, 1, [5, 1, 0], [2, 5], "age", "threshold", threshold=10),
        _inner(2, 1, 2, [3, 1, 0], [3, 4], "size", "threshold", threshold=0.5),
        _leaf(3, 2, 3, [3, 0, 0]),
        _leaf(4, 2, 3, [0, 1, 0]),
        _leaf(5, 1, 2, [2, 0, 0]),
        _inner(6, 0, 1, [0, 3.5, 3], [7, 8], "sky & <sea>", "subset", levels=["blue", "grey"]),
        _leaf(7, 6, 2, [0, 1.5, 3]),
        _inner(8, 6, 2, [0, 2, 0], [9, 10], "sky & <sea>", "equality", level="red"),
        _leaf(9, 8, 3, [0, 0, 0], prediction=1),
        _leaf(10, 8, 3, [0, 2, 0]),
    ]
    cut = from_dict({"classes": ["a", "b", "c"], "features": features, "nodes": nodes})
    return replace(cut, counts=cut.tree.filled)  # as the learner does
