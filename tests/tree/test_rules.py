"""Rules: merged conditions, coverage and confidence, and that they say what the tree does."""

import numpy as np
import pytest

from modelsel.core.types import Feature
from modelsel.estimator import classifier
from modelsel.tree.conditions import Condition
from modelsel.tree.rules import _rule, missing_words, rules_text, to_rules


def test_each_leaf_is_a_rule_with_each_feature_named_once(mixed):
    rules = to_rules(mixed)
    assert [rule.leaf for rule in rules] == [3, 4, 5, 7, 9, 10]
    for rule in rules:
        features = [condition.feature for condition in rule.conditions]
        assert len(features) == len(set(features))


def test_conditions_on_one_feature_are_merged_to_the_narrowest(mixed):
    text = rules_text(mixed).splitlines()
    assert text[0] == "if age <= 10 and size <= small then a   [covers 3 (24.0 %), right 100.0 %]"
    assert text[2] == "if 10 < age <= 30.25 then a   [covers 2 (16.0 %), right 100.0 %]"
    assert text[3] == "if age > 30.25 and sky & <sea> in {blue, grey} then c   [covers 4.5 (36.0 %), right 66.7 %]"
    assert text[4] == "if age > 30.25 and sky & <sea> = red then b   [no training rows]"
    assert text[5] == 'if age > 30.25 and sky & <sea> = the "black" one then b   [covers 2 (16.0 %), right 100.0 %]'


def test_coverage_sums_to_one_and_confidence_weighs_to_the_training_accuracy(weather, mixed):
    for cut in (weather, mixed):
        rules = to_rules(cut)
        assert sum(rule.coverage for rule in rules) == pytest.approx(1)
        right = sum(rule.weight * (rule.confidence or 0) for rule in rules)
        assert right == pytest.approx(sum(cut.tree.counts[r.leaf, r.prediction] for r in rules))


def test_where_no_row_has_weight_a_rule_covers_nothing(mixed):
    rule = _rule(mixed, np.zeros_like(mixed.tree.counts), 3, ())
    assert (rule.weight, rule.coverage, rule.confidence) == (0.0, 0.0, None)


def test_a_row_satisfies_exactly_the_rule_of_its_leaf(mixed):
    def holds(condition, value):
        if condition.levels is not None:
            return value in condition.levels
        return condition.low < value <= condition.high

    for age in (5, 10, 20, 30.25, 31):
        for size in range(3):
            for sky in range(4):
                row = (age, size, sky)
                fired = [r.leaf for r in to_rules(mixed) if all(holds(c, row[c.feature]) for c in r.conditions)]
                assert fired == [_walk(row)]


def _walk(row):
    age, size, sky = row
    if age <= 30.25:
        return 5 if age > 10 else 3 if size == 0 else 4
    return 7 if sky in (0, 1) else 9 if sky == 3 else 10


def test_of_too_many_rules_those_that_cover_most_are_told_and_how_many_are_left_out(mixed):
    rules = sorted(to_rules(mixed), key=lambda rule: -rule.weight)
    lines = rules_text(mixed, most=2).splitlines()
    assert len(lines) == 3
    assert lines[-1] == f"and 4 more, which cover {100 * sum(rule.coverage for rule in rules[2:]):.1f} %"
    assert rules_text(mixed, most=6) == rules_text(mixed)


def test_a_set_of_levels_is_told_by_the_shorter_list():
    feature = Feature("sky", "nominal", ("a", "b", "c", "d", "e"))
    assert Condition(0, levels=frozenset({0, 1, 4})).words(feature) == "sky not in {c, d}"
    assert Condition(0, levels=frozenset({0, 1})).words(feature) == "sky in {a, b}"


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("node_mode", "takes the branch of most training rows"),
        ("branch", "takes the branch that was learned for it"),
        ("fractional", "goes down every branch"),
        ("surrogate", "is decided by surrogate tests"),
    ],
)
def test_what_becomes_of_a_missing_value_is_said(missing, said):
    """Missing values are a as the fewer known ones are: `branch` finds it, and the second column tells it."""
    X = np.array([[np.nan, 0.0]] * 4 + [[0.0, 0.0]] * 5 + [[1.0, 1.0]] * 30 + [[1.0, 0.0]] * 3)
    fitted = classifier("cart", missing=missing).fit(X, ["a"] * 9 + ["b"] * 33)
    assert missing_words(fitted._cut()).startswith(f"a missing value {said}")
    if missing != "node_mode":
        assert fitted.predict([[np.nan, 0.0]]) == ["a"]


def test_of_a_single_leaf_nothing_is_said_about_missing_values():
    assert missing_words(classifier("cart").fit([[0.0], [1.0]], ["a", "a"])._cut()) == ""
