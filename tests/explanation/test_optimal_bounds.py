"""Trees beside the best of their size: against brute force, against scikit-learn's trees, and what is said of them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from modelsel.config.settings import OptimalSettings
from modelsel.core.fingerprint import generator
from modelsel.core.spec import make
from modelsel.core.types import Candidate
from modelsel.explanation.explain import forecast_lines
from modelsel.explanation.optimal_bounds import (
    DIVIDED,
    INNER,
    NOT_BINARY,
    FoldErrors,
    fit_size,
    front,
    is_single_tree,
    mean_over_folds,
    optimal,
    out_of_fold,
    prices,
    summary,
)
from modelsel.kernels.compiler import load
from modelsel.learner.inner import inner_folds
from modelsel.learner.majority import Majority
from modelsel.learner.tree import Splits
from modelsel.record.documents import GrownAndBestFacts, OptimalFacts
from modelsel.reporting.verdict import deeper, size_sentences
from tests.learner.test_optimal_tree import brute, drawn

pytestmark = pytest.mark.skipif(load("optimal") is None, reason="the kernel is not compiled here")
ENOUGH = 100_000


def cart(**settings) -> Candidate:
    return Candidate(make("learner", "tree", **{"criterion": make("criterion", "gini"), **settings}), entry="cart")


def wrong(task, learner, seen, unseen) -> int:
    model = learner.fit(task, seen, np.random.default_rng(0))
    return int((model.predict(task.take(unseen)) != task.target[unseen]).sum())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("missing", ["node_mode", "class_mode", "branch"])
@pytest.mark.parametrize("nominal", ["equality", "subset"])
def test_no_grown_tree_lies_below_the_bound_of_its_size(missing, nominal):
    better = 0
    for seed in range(40):
        task = drawn(seed, gaps=True, weighted=seed % 2 == 0, named=True)
        size = fit_size(cart(max_depth=2, missing=missing, splits=Splits(nominal=nominal)), task, 0)
        if size.unlike:
            assert nominal == "subset", size.unlike
            continue
        found = front((), task, 0, size.depth, ENOUGH)
        truth = brute(task, size.depth, "branch")
        assert np.allclose(found[0], truth[: len(found[0])]), seed
        assert found[1] == found[0]
        assert size.errors >= found[1][size.leaves - 1] - 1e-9, seed
        better += size.errors > found[0][size.leaves - 1] + 1e-9
    assert better > 3  # greedy is not always best, so that the bound can be missed


def test_the_grown_trees_errors_are_those_of_scikit_learns(tables):
    task = tables["cancer"]
    size = fit_size(cart(max_depth=2), task, 0)
    other = DecisionTreeClassifier(max_depth=2, random_state=0).fit(task.values, task.target)
    assert (size.depth, size.leaves) == (2, other.get_n_leaves())
    assert size.errors == (other.predict(task.values) != task.target).sum()
    found = front((), task, 0, 2, ENOUGH)
    told = summary(size, found, len(task))
    assert told["training"] == {"grown": size.errors / 569, "optimal": 22 / 569, "bound": 22 / 569}  # 22: others' proof
    assert told["proven"]


def test_trees_of_other_tests_are_named_and_not_bounded():
    task = drawn(4, gaps=True, named=True)
    divided = fit_size(cart(missing="fractional", max_depth=2), task, 0)
    assert divided.unlike == DIVIDED
    many = fit_size(cart(splits=Splits(nominal="multiway"), criterion=make("criterion", "entropy")), drawn(6, named=True), 0)
    assert many.unlike == NOT_BINARY


@pytest.mark.slow
def test_prices_answer_every_number_of_leaves_that_some_price_asks_for():
    rng = np.random.default_rng(0)
    for _ in range(200):
        errors = np.minimum.accumulate(rng.random(8))
        leaves = np.arange(1, 9)
        wanted = {int(np.argmin(np.round(errors + price * leaves, 12))) for price in np.linspace(0, 1.5, 3001)}
        got = {int(np.argmin(np.round(errors + price * leaves, 12))) for price in prices(errors)}
        # a range of prices narrower than the grid may be missed by the grid, none by the means
        assert wanted <= got


def test_the_price_is_chosen_within_the_analysis_rows(tables, folded):
    """The rows of a fold that are judged may say anything: what was chosen does not move."""
    task = tables["wine"]
    fold = folded(task).folds[0]
    first = out_of_fold([cart(max_depth=2)], task, fold, 0, 2, ENOUGH)
    labels = task.target.copy()
    labels[fold.assessment] = (labels[fold.assessment] + 1) % 3
    again = out_of_fold([cart(max_depth=2)], replace(task, target=labels), fold, 0, 2, ENOUGH)
    assert (again.price, again.leaves, again.ended) == (first.price, first.leaves, True)
    assert again.optimal + first.optimal >= len(fold.assessment)  # the same answers, other labels


def test_out_of_fold_errors_are_those_of_a_loop_by_hand(tables, folded):
    task = tables["wine"]
    for fold in folded(task, folds=3).folds:
        found = out_of_fold([cart(max_depth=2)], task, fold, 7, 2, ENOUGH)
        own = DecisionTreeClassifier(max_depth=2, random_state=0).fit(task.values[fold.analysis], task.target[fold.analysis])
        assert abs(found.grown[0] - (own.predict(task.values[fold.assessment]) != task.target[fold.assessment]).sum()) <= 2
        rng = np.random.default_rng(0)
        tried = prices(optimal(2, ENOUGH).fit_path(task, fold.analysis, rng).front(2)[0])
        parts = inner_folds(task, fold.analysis, INNER, generator(7, fold.fingerprint, "optimal"))
        lost = [
            sum(wrong(task, optimal(2, ENOUGH, price), fold.analysis[seen], fold.analysis[held]) for seen, held in parts)
            for price in tried
        ]
        price = max(one for one, own_lost in zip(tried, lost, strict=True) if own_lost == min(lost))
        assert found.price == price
        assert found.optimal == wrong(task, optimal(2, ENOUGH, price), fold.analysis, fold.assessment)


def test_both_halves_are_said_together():
    half = FoldErrors((3.0,), 2.0, 50.0, 3.0, 0.01, True)
    told = mean_over_folds(0, [half, replace(half, grown=(4.0,), ended=False)], 0.5)
    assert (told["grown"], told["optimal"], told["ended"]) == (0.07, 0.04, 1)
    one = OptimalFacts(
        candidate="a", entry="cart", depth=2, leaves=3, proven=True,
        training=GrownAndBestFacts(grown=0.05, optimal=0.04, bound=0.04), out_of_fold=told,
    )  # fmt: skip
    (said,) = size_sentences(one, "cart")
    assert "0.0500 wrong in training, 0.0400 of the best of this size; out of fold 0.0700 against 0.0400" in said
    short = one.but(proven=False, training=GrownAndBestFacts(grown=0.05, optimal=0.06, bound=0.01))
    assert "none better was found; no tree of this size has less than 0.0100; out of fold" in size_sentences(short, "cart")[0]
    assert "not a bound for it" in size_sentences(one.but(unlike=NOT_BINARY), "cart")[0]
    whole = {"depth": 8, "leaves": 15, "training": 0.0, "out_of_fold": 0.07}
    assert deeper(one.but(whole=whole)).startswith("The tree itself has 15 leaves of depth 8")
    assert "a fit failed (skipped, few rows)" in size_sentences(one.but(failed="skipped, few rows"), "cart")[0]


def test_what_is_no_single_tree_has_no_size():
    assert not is_single_tree(Candidate(Majority(), entry="majority"))
    assert forecast_lines(OptimalSettings("bounds"), 10, [Candidate(Majority(), entry="majority")]) == []
    assert forecast_lines(OptimalSettings(), 10, [cart()]) == []
