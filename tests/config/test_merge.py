"""Configuration over configuration."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.config.merge import merge, nest
from modelsel.config.suggest import SHOWN, near

names = st.text("abc", min_size=1, max_size=2)
trees = st.recursive(st.integers(), lambda inner: st.dictionaries(names, inner, max_size=3), max_leaves=8)
mappings = st.dictionaries(names, trees, max_size=4)


@given(mappings)
def test_nothing_over_something_changes_nothing(tree: dict[str, object]) -> None:
    assert merge(tree, {}) == tree
    assert merge({}, tree) == tree
    assert merge(tree, tree) == tree


@given(mappings, mappings)
def test_every_leaf_put_over_is_there_and_neither_side_is_changed(base: dict[str, object], over: dict[str, object]) -> None:
    before = (repr(base), repr(over))
    merged = merge(base, over)
    assert merge(merged, over) == merged
    assert (repr(base), repr(over)) == before


def test_a_kind_of_another_name_drops_the_settings_of_the_old_one() -> None:
    base = {"pruner": {"kind": "error_based", "confidence": 0.1}}
    assert merge(base, {"pruner": {"kind": "unpruned"}}) == {"pruner": {"kind": "unpruned"}}
    assert merge(base, {"pruner": "unpruned"}) == {"pruner": {"kind": "unpruned"}}
    assert merge(base, {"pruner": "error_based"}) == base


def test_settings_beneath_a_bare_name_stay_beside_it_in_any_order() -> None:
    expected = {"pruner": {"kind": "error_based", "confidence": 0.1}}
    assert nest({"pruner": "error_based", "pruner.confidence": 0.1}) == expected
    assert nest({"pruner.confidence": 0.1, "pruner": "error_based"}) == expected
    assert nest({"pruner": {"kind": "error_based"}, "pruner.confidence": 0.1}) == expected
    assert nest({"pruner.confidence": 0.1, "pruner": {"kind": "error_based"}}) == expected


# Did you mean.


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("ginni", "gini"), ("GINI", "gini"), ("entrpy", "entropy"), ("max_dept", "max_depth"), ("stratify", "stratify")],
)
def test_the_nearest_name_is_suggested(typed: str, meant: str) -> None:
    assert near(typed, ["gini", "entropy", "max_depth", "stratify"]) == f"did you mean {meant!r}?"


def test_without_a_near_one_all_are_listed_and_many_are_counted() -> None:
    assert near("xyz", ["b", "a"]) == "one of: a, b"
    many = [f"name{index:02d}" for index in range(SHOWN + 5)]
    assert near("xyz", many).endswith(f"… ({SHOWN + 5} in all)")
    assert near("xyz", []) == "nothing can be set here"
