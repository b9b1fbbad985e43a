"""CART of numbers as a learner: one grown tree answers every candidate, its sequence is scikit-learn's and rpart's, and what
speaks of classes is refused by name."""

from dataclasses import replace
from itertools import chain, combinations, product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

import modelsel
from modelsel.config.build import build
from modelsel.core.types import positions
from modelsel.learner.tree import Tree
from modelsel.learner.trees.model import NumberTreeModel
from modelsel.learner.trees.path import held_back
from modelsel.tree.growing.grow_numbers import grow_numbers
from modelsel.tree.growing.growth import GrowthParams
from modelsel.tree.nested import from_dict, to_dict
from modelsel.tree.node import LEAF, PrunedView
from modelsel.tree.pruning import compact
from tests.tree.number_tables import drawn, friedman, number_task

# R 4.2.2, rpart 4.1.19: rpart(y ~ ., friedman(200), method = "anova", control = rpart.control(cp = 0, minsplit = 10,
# minbucket = 5, maxsurrogate = 0, xval = 0)), printed with 17 digits: leaves and relative error of each subtree
RPART_SPLITS = (0, 1, *range(3, 19), *range(20, 33))
RPART_ERRORS = (
    1, 0.75034409465507756, 0.4855494273528082, 0.42979873871139407, 0.39192096639897178, 0.35644822986300839,
    0.32602869070048401, 0.30619288435752029, 0.28826084945294228, 0.27198568133858625, 0.25596861799366227,
    0.24152832859489307, 0.22968901522032131, 0.21892783249827868, 0.21025646064208248, 0.2027650315288419,
    0.19578496665118758, 0.1890622166433536, 0.17601820769400003, 0.17169861321378754, 0.16798894407440854,
    0.16458676394627897, 0.16119898346913289, 0.15865290970590165, 0.15612742504673344, 0.15415126327733619,
    0.15224310604022154, 0.15049744510526961, 0.14943458298370407, 0.14877200609157662, 0.14865561809836067,
)  # fmt: skip
RNG = np.random.default_rng(0)


def cart(**settings: object) -> Tree:
    spec, _ = build("cart", settings)
    return spec


def test_the_sequence_of_subtrees_is_that_of_rpart() -> None:
    X, y = friedman(200)
    task = number_task(X, y)
    family = cart(min_leaf=5, min_split=10, **{"pruner.alpha": "path"})
    path = family.fit_path(task, positions(task), RNG)
    members = path.members(family)
    error = np.square(path.training_error(members)) / np.var(y)
    assert path.complexity(members)[::-1].tolist() == [splits + 1 for splits in RPART_SPLITS]
    np.testing.assert_allclose(error[::-1], RPART_ERRORS, rtol=1e-10)


def test_every_strength_leaves_the_tree_that_scikit_learn_prunes_to() -> None:
    X, y = load_diabetes(return_X_y=True)
    task = number_task(X, y)
    family = cart(min_leaf=5, **{"pruner.alpha": "path"})
    path = family.fit_path(task, positions(task), RNG)
    members = path.members(family)
    assert len(members) == len(DecisionTreeRegressor(min_samples_leaf=5).cost_complexity_pruning_path(X, y).ccp_alphas)
    for member in members[::6]:
        theirs = DecisionTreeRegressor(min_samples_leaf=5, random_state=0, ccp_alpha=member.pruner.alpha).fit(X, y)
        assert path.model(member).n_leaves == theirs.get_n_leaves()
        np.testing.assert_allclose(path.model(member).predict(task), theirs.predict(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("missing", ["node_mode", "fractional", "branch", "surrogate", "surrogate_count"])
def test_each_candidate_of_a_grid_equals_itself_alone_bit_for_bit(missing: str) -> None:
    for seed in range(6):
        task = drawn(seed).task
        base = cart(missing=missing)
        grid = [
            replace(base, max_depth=depth, min_split=split, pruner=replace(base.pruner, alpha=alpha))
            for depth, split, alpha in product((None, 0, 2, 4), (2, 10), (0.0, 0.01, 0.3))
        ]
        path = base.fit_path(task, positions(task), RNG)
        together = path.outputs(grid, task, positions(task), scores=False).predicted
        for candidate, said, size, off in zip(grid, together, path.complexity(grid), path.training_error(grid), strict=True):
            alone = candidate.fit(task, positions(task), RNG)
            assert np.array_equal(alone.predict(task), said)
            assert alone.n_leaves == size
            error = np.sqrt(np.average(np.square(said - task.target), weights=task.row_weights))
            assert off == pytest.approx(error, rel=1e-6, abs=1e-6 * np.ptp(task.target))


def test_reduced_error_pruning_leaves_the_least_squared_error_on_rows_held_back() -> None:
    X, y = friedman(300)
    task = number_task(X, y)
    spec = build("tree", {"criterion": "variance", "pruner": "reduced_error", "pruner.relabel": False, "max_depth": 3})[0]
    path = spec.fit_path(task, positions(task), np.random.default_rng(1))
    growing, pruning = held_back(task, positions(task), 0.3, np.random.default_rng(1))
    assert len(pruning) == 90
    assert not set(growing) & set(pruning)
    whole = grow_numbers(task, growing, GrowthParams(min_split=2.0, max_depth=3))
    model = path.model(spec)
    error = np.square(model.predict(task)[pruning] - y[pruning]).sum()
    rows = [node for node in range(len(whole)) if whole.test[node] != LEAF]
    for cut in chain.from_iterable(combinations(rows, k) for k in range(len(rows) + 1)):
        view = PrunedView(whole, whole.terminal | np.isin(np.arange(len(whole)), cut), whole.numbers.mean, whole.counts)
        other = NumberTreeModel(compact(view)).predict(task)[pruning]
        assert error <= np.square(other - y[pruning]).sum() + 1e-9
    assert 1 < model.n_leaves < len(rows) + 1


def test_what_speaks_of_classes_is_refused_by_name() -> None:
    task = number_task(*friedman(20))
    for name, settings in {
        "criterion=entropy": {"criterion": "entropy"}, "pruner=error_based": {"pruner": "error_based"},
        "pruner=pessimistic": {"pruner": "pessimistic"}, "missing=class_mode": {"missing": "class_mode"},
        "softener=range_fraction": {"softener": "range_fraction"}, "purity": {"purity": 0.9},
        "significance": {"significance": 0.05},
        "leaf": {"leaf.score": "laplace"}, "pruner.impurity=entropy": {"pruner.impurity": "entropy"},
    }.items():  # fmt: skip
        said = list(cart(**settings).problems(task))
        assert any(one.startswith(name) for one in said), (name, said)
    assert list(cart().problems(task)) == []


def test_a_model_is_written_down_and_read_back() -> None:
    for seed in range(8):
        task = drawn(seed).task
        model = cart(missing="branch", min_leaf=2).fit(task, positions(task), RNG)
        assert np.array_equal(Tree.restore(model.describe()).predict(task), model.predict(task))
        again = from_dict(to_dict(model.cut))
        assert np.array_equal(again.prediction, model.cut.prediction)
    broken = model.describe()
    broken.arrays["prediction"][0] = np.nan
    with pytest.raises(ValueError, match="prediction are finite"):
        Tree.restore(broken)


def test_the_regressor_is_an_estimator_among_others() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = modelsel.regressor("cart", min_leaf=5)
    search = GridSearchCV(clone(model), {"max_depth": [1, 3], "pruner.alpha": [0.0, 20.0]}, cv=3).fit(X, y)
    assert search.best_params_["max_depth"] == 3
    fitted = model.fit(X, y)
    assert fitted.score(X, y) == DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X, y).score(X, y)
    assert fitted.to_text().count("off by") == fitted.n_leaves_
    assert fitted.to_rules().count("covers") == fitted.n_leaves_
    with pytest.raises(ValueError, match="predicts classes and no numbers"):
        modelsel.regressor("naive_bayes").fit(X, y)
