"""The tree learner: recipes, refusals, leaf classes, unseen levels, pruning rows, and models read back without trust."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from modelsel.core.spec import make
from modelsel.core.types import NUMBER_TASKS, Description, Feature, NumberTask, Task, positions
from modelsel.learner.tree import Splits, Tree
from modelsel.learner.trees.leaf import Leaf
from modelsel.learner.trees.path import held_back

CONF = Path(__file__).parents[2] / "conf/learner"
RECIPES = sorted(path.stem for path in CONF.glob("*.yaml") if (yaml.safe_load(path.read_text()) or {}).get("kind") == "tree")


def recipe(name: str) -> Tree:
    """A learner from its yaml, as the config room builds it."""
    values = yaml.safe_load((CONF / f"{name}.yaml").read_text())
    assert values.pop("kind") == "tree"
    for group in ("criterion", "pruner", "softener"):
        if group in values:
            part = values[group] if isinstance(values[group], dict) else {"kind": values[group]}
            values[group] = make(group, part.pop("kind"), **part)
    for field, kind in (("splits", Splits), ("leaf", Leaf)):
        if field in values:
            values[field] = kind(**values[field])
    return Tree(**values)


def mixed(rows: int = 120, classes: int = 2, seed: int = 0) -> Task:
    rng = np.random.default_rng(seed)
    features = (
        Feature("x", "numeric"),
        Feature("sky", "nominal", ("blue", "grey", "red", "black")),
        Feature("size", "ordered", ("s", "m")),
    )
    values = np.column_stack([rng.normal(size=rows), rng.integers(0, 3, rows), rng.integers(0, 2, rows)]).astype(float)
    signal = values[:, 0] + (values[:, 1] == 1) + 0.5 * rng.normal(size=rows)
    target = np.searchsorted(np.quantile(signal, np.arange(1, classes) / classes), signal).astype(np.int32)
    values[rng.random(values.shape) < 0.1] = np.nan
    names = tuple("ABCD"[:classes])
    return Task(name="mixed", features=features, values=values, rows=np.arange(rows), classes=names, target=target)


def in_numbers(task: Task) -> NumberTask:
    """The same rows with a number as target, which follows the first and the second column."""
    target = np.nan_to_num(task.values[:, 0]) + 2.0 * (task.values[:, 1] == 1)
    return NumberTask(name="mixed", features=task.features, values=task.values, rows=task.rows, target=target)


def fitted(learner: Tree, task: Task):
    return learner.fit(task, positions(task), np.random.default_rng(0))


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_is_valid_and_learns(name: str) -> None:
    task, learner = mixed(), recipe(name)
    if learner.criterion.reads == NUMBER_TASKS:
        task = in_numbers(task)
        assert not list(learner.problems(task))
        assert np.mean((fitted(learner, task).predict(task) - task.target) ** 2) < 0.8 * np.var(task.target)
        return
    assert not list(learner.problems(task))
    wrong = (fitted(learner, task).predict(task) != task.target).mean()
    assert wrong < 0.5


def test_the_default_of_every_knob_stands_in_the_yaml() -> None:
    assert recipe("tree") == Tree()


def test_combinations_that_mean_nothing_are_refused_with_a_reason() -> None:
    twoing, surrogate = Tree(criterion=make("criterion", "twoing")), Tree(missing="surrogate")
    for learner in (twoing, surrogate, Tree(leaf=Leaf(prior="none")), Tree(costs=((0, 1), (1,)))):
        assert list(learner.problems())
    for learner in (twoing, surrogate):
        assert not list(replace(learner, splits=Splits(nominal="subset")).problems())
    assert list(Tree(costs=((0, 1), (1, 0))).problems(mixed(classes=3)))
    assert list(Tree(leaf=Leaf(prior=(0.5, 0.5))).problems(mixed(classes=3)))
    assert list(Tree(costs=((0, 1), (1, 0)), pruner=make("pruner", "error_based")).problems())


PATH = (
    {"max_depth": 1}, {"min_split": 9.0}, {"min_gain": 0.1}, {"purity": 0.8}, {"significance": 0.1}, {"collapse": True},
    {"pruner": make("pruner", "pessimistic")}, {"leaf": Leaf("laplace")}, {"costs": ((0, 2), (1, 0))},
)  # fmt: skip
GROWING = (
    {"criterion": make("criterion", "gini")}, {"min_leaf": 2}, {"missing": "branch"}, {"splits": Splits(nominal="subset")},
    {"pruner": make("pruner", "reduced_error")}, {"min_leaf_rule": "c45"},
)  # fmt: skip


def test_path_parameters_are_no_part_of_growing() -> None:
    assert all(replace(Tree(), **changes).fit_key() == Tree().fit_key() for changes in PATH)
    assert not any(replace(Tree(), **changes).fit_key() == Tree().fit_key() for changes in GROWING)


def test_costs_choose_the_class_of_least_expected_cost() -> None:
    task = mixed()
    careful = fitted(Tree(max_depth=0, costs=((0, 1), (50, 0))), task)
    assert set(careful.predict(task)) == {1}
    assert set(fitted(Tree(max_depth=0, costs=((0, 50), (1, 0))), task).predict(task)) == {0}


def test_a_level_that_was_not_declared_goes_with_the_majority_and_is_counted() -> None:
    task = mixed()
    for nominal in ("multiway", "equality", "subset"):
        model = fitted(Tree(splits=Splits(nominal=nominal), criterion=make("criterion", "gini"), min_leaf=5), task)
        strange = task.values.copy()
        strange[:7, 1] = len(task.features[1].levels)
        other = task.with_features(task.features, strange)
        assert 0 < model.unseen(other) <= 7
        assert model.unseen(task) == 0
        assert len(model.predict(other)) == len(task)


def test_scores_are_shares_that_sum_to_one() -> None:
    task = mixed(classes=3)
    for leaf in (
        Leaf(),
        Leaf("laplace", l=0.3),
        Leaf("m_estimate", m=5, prior="parent"),
        Leaf("m_estimate", prior=(1.0, 2.0, 1.0)),
    ):
        for missing in ("fractional", "branch"):
            scores = fitted(Tree(leaf=leaf, missing=missing), task).scores(task)
            np.testing.assert_allclose(scores.sum(axis=1), 1.0, atol=1e-12)
            assert (scores > 0).all() or leaf.score != "laplace"


def test_pruning_rows_never_grow_and_repeats_stay_together() -> None:
    task = mixed()
    rows = np.random.default_rng(1).integers(0, len(task), len(task))
    growing, pruning = held_back(task, rows, 0.3, np.random.default_rng(0))
    assert pruning is not None
    assert not set(growing) & set(pruning)
    assert sorted([*growing, *pruning]) == sorted(rows)
    assert 0.2 < len(set(pruning)) / len(set(rows)) < 0.4


def test_an_open_strength_names_its_members() -> None:
    task = mixed()
    family = Tree(pruner=make("pruner", "cost_complexity", alpha="path"), splits=Splits(nominal="subset"))
    assert family.is_family
    path = family.fit_path(task, positions(task), np.random.default_rng(0))
    members = path.members(family)
    sizes = path.complexity(members)
    assert len(members) > 2
    assert (np.diff(sizes) < 0).all()
    assert sizes[-1] == 1


def test_no_weight_is_refused() -> None:
    task = replace(mixed(), weights=np.zeros(120))
    assert Tree().refusal(task, positions(task))
    assert Tree().refusal(mixed(), positions(task)) is None


def test_a_tree_of_limits_grown_alone_is_the_truncated_one() -> None:
    task = mixed(200, 3)
    learner = Tree(max_depth=3, min_split=20.0, splits=Splits(nominal="equality"))
    alone = fitted(learner, task)
    of_path = learner.fit_path(task, positions(task), np.random.default_rng(0)).model(learner)
    for name in ("parent", "test", "feature", "threshold", "counts"):
        np.testing.assert_array_equal(getattr(alone.cut.tree, name), getattr(of_path.cut.tree, name))


# Reading back


def described() -> Description:
    learner = Tree(missing="surrogate", splits=Splits(nominal="subset"), softener=make("softener", "range_fraction"))
    return fitted(learner, mixed()).describe()


def test_any_number_changed_is_a_whole_model_or_a_value_error() -> None:
    """Indices out of range are found before anything walks along them."""
    description, task = described(), mixed()
    rng = np.random.default_rng(0)
    refused = 0
    for name, array in description.arrays.items():
        for bad in (-7, 99, 2**30):
            changed = dict(description.arrays)
            changed[name] = array.copy()
            if array.dtype != bool and array.size:
                changed[name].flat[int(rng.integers(array.size))] = bad if array.dtype != np.int8 else np.int8(bad % 100)
            try:
                Tree.restore(Description("tree", description.facts, changed)).predict(task)
            except ValueError:
                refused += 1
    assert refused > 20


@pytest.mark.parametrize("name", ["parent", "test", "prediction", "scores", "weights"])
def test_an_array_that_is_short_or_gone_is_a_value_error(name: str) -> None:
    description = described()
    for arrays in (
        {k: v for k, v in description.arrays.items() if k != name},
        {**description.arrays, name: description.arrays[name][:-1]},
    ):
        with pytest.raises(ValueError, match="not a whole tree"):
            Tree.restore(Description("tree", description.facts, arrays))


def test_a_model_read_back_says_the_same() -> None:
    task = mixed()
    learner: Any = Tree(missing="surrogate", splits=Splits(nominal="subset"), softener=make("softener", "range_fraction"))
    model = fitted(learner, task)
    again = Tree.restore(model.describe())
    assert (again.predict(task) == model.predict(task)).all()
    np.testing.assert_array_equal(again.scores(task), model.scores(task))
