"""The bounds of the page: the numbers of the formulas, the reasons where there is none, what the tree's counts say."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from modelsel.core.types import Feature, positions
from modelsel.learner.tree import Tree
from modelsel.pruner.mdl import description_length
from modelsel.reporting.page import render
from modelsel.reporting.sections.bounds import NOTHING, Errors, TreeCode, of_candidates, of_trees, section, tree_code
from modelsel.reporting.sections.view import View
from tests import doubles

NOMINAL = (Feature("sky", "nominal", ("clear", "grey", "rain")), Feature("wind", "nominal", ("no", "yes")))
NUMERIC = (*NOMINAL, Feature("heat", "numeric"))


def named(rows):
    return {row["name"]: row for row in rows}


def tree(features=NOMINAL, bits=20.0, share=0.0, prepared=False):
    return TreeCode(features, bits, Errors(share, 400), prepared)


def test_the_agnostic_bound_is_that_of_the_lecture():
    rows = named(of_candidates(Errors(0.1, 200), 1000))
    assert rows["agnostic"]["bound"] == f"≤ {0.1 + 0.15735:.4f}"
    assert rows["consistent"]["bound"] == "none"
    assert "without an error" in rows["consistent"]["words"]


def test_folds_share_the_chance_of_failing():
    one, ten = (named(of_candidates(Errors(0.0, 200, folds), 100)) for folds in (1, 10))
    assert one["consistent"]["bound"] == f"≤ {(math.log(100) + math.log(20)) / 200:.4f}"
    assert ten["consistent"]["bound"] == f"≤ {(math.log(100) + math.log(200)) / 200:.4f}"


def test_the_exact_limit_is_the_rate_under_which_so_few_errors_have_the_chance():
    for errors in (0, 3, 17):
        assert binom.cdf(errors, 60, Errors(errors / 60, 60, 5).exact) == pytest.approx(0.01)
    assert Errors(1.0, 60).exact == 1.0


def test_what_is_1_or_more_says_nothing():
    assert named(of_candidates(Errors(0.4, 3), 10**6))["agnostic"]["bound"] == NOTHING


def test_trees_of_nominal_features_have_a_dimension():
    found = named(of_trees(Errors(0.1, 10_000), tree(), 2))
    excess = math.sqrt((6 * (math.log(2 * 10_000 / 6) + 1) + math.log(80)) / 10_000)
    assert found["VC, agnostic"]["bound"] == f"≤ {0.1 + excess:.4f}"
    assert "VC dimension 6" in found["VC, agnostic"]["words"]
    assert "VC, consistent" in named(of_trees(Errors(0.0, 10_000), tree(), 2))


@pytest.mark.parametrize(
    ("training", "code", "classes", "why"),
    [
        (Errors(0.1, 99), None, 2, "not a tree"),
        (Errors(0.1, 99), tree(NUMERIC), 2, "heat is numeric"),
        (Errors(0.1, 99), tree(), 3, "two classes"),
        (None, tree(), 2, "bootstrap"),
        (Errors(0.1, 99), tree(prepared=True), 2, "steps choose too"),
    ],
)
def test_where_there_is_no_dimension_the_reason_is_said(training, code, classes, why):
    row = named(of_trees(training, code, classes))["Vapnik–Chervonenkis"]
    assert (row["bound"], why in row["words"]) == ("none", True)


def test_occams_bound_counts_the_bits():
    right, wrong = (named(of_trees(None, tree(share=share), 2))["Occam"] for share in (0.0, 0.1))
    assert right["bound"] == f"≤ {(20 * math.log(2) + math.log(20)) / 400:.4f}"
    assert wrong["bound"] == f"≤ {0.1 + math.sqrt((20 * math.log(2) + math.log(20)) / 800):.4f}"
    assert right["needed"] == str(math.ceil((20 * math.log(2) + math.log(20)) / 0.05))
    assert "approximate" not in right["words"]
    assert "approximate" in named(of_trees(None, tree(NUMERIC), 2))["Occam"]["words"]


def test_errors_of_a_tree_are_those_of_predicting_its_rows():
    task = doubles.task(200, classes=3)
    for learner in (Tree(max_depth=2), Tree(min_leaf=4), Tree(max_depth=0)):
        model = learner.fit(task, positions(task), np.random.default_rng(0))
        found = tree_code(model.cut.tree.features, *description_length(model.cut), prepared=False)
        assert found.errors.rows == 200
        assert found.errors.share == pytest.approx((model.predict(task) != task.target).mean())
        leaves = int((model.cut.leaf).sum())
        assert found.bits >= 1 + leaves * math.log2(3)


def test_the_page_has_the_section_and_says_why_where_it_is_empty(small, recorded):
    folder = recorded(small.finished())
    view = View(folder)
    assert [row["name"] for row in section(view)["rows"]][:2] == ["agnostic", "consistent"]
    assert "What the numbers may claim" in render(folder)
    vars(view)["details"] = view.details.but(data=view.details.data.but(weighted=True))
    assert "weighted" in section(view)["why"]
    assert section(view)["rows"] == []
