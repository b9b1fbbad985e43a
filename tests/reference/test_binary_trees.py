"""Trees of two branches as rpart and scikit-learn grow them, followed node by node on every data set with answers.

At each node the classes and the impurity decrease of the test made are the same. Where the decrease is the same but the rows
are parted otherwise, two tests tie, and which comes first is each tool's own: nothing is compared beneath. rpart's tests of no
gain are left out (it makes none).
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Task, positions
from modelsel.learner.tree import Splits, Tree
from modelsel.learner.trees.path import TreePath
from modelsel.tree.node import DecisionTree as Grown


@dataclass(frozen=True)
class Node:
    """A node of the other tool: class counts, decrease per row (NaN at leaves), children, and its test."""

    counts: tuple[float, ...]
    decrease: float = math.nan
    children: tuple["Node", ...] = ()
    feature: str = ""
    threshold: float = math.nan
    levels: frozenset[str] = frozenset()  # of one side


@dataclass
class Found:
    """Nodes that are the same, and those where another test of equal decrease was made."""

    same: int = 0
    ties: int = 0


def follow(tree: Grown, node: int, theirs: Node, found: Found) -> Found:
    assert present(tree, node) == theirs.counts
    children = tree.children(node).tolist()
    assert len(children) == len(theirs.children), (node, theirs)
    if not children:
        found.same += 1
        return found
    assert tree.goodness[node] == pytest.approx(theirs.decrease, abs=1e-9)
    if not same_test(tree, node, theirs):
        found.ties += 1
        return found
    found.same += 1
    straight = present(tree, children[0]) == theirs.children[0].counts
    for child, below in zip(children, theirs.children if straight else theirs.children[::-1], strict=True):
        follow(tree, child, below, found)
    return found


def present(tree: Grown, node: int) -> tuple[float, ...]:
    """Counts of the classes that have rows."""
    return tuple(tree.counts[node][tree.counts[0] > 0])


def same_test(tree: Grown, node: int, theirs: Node) -> bool:
    feature = tree.features[tree.feature[node]]
    if feature.name != theirs.feature:
        return False
    if not theirs.levels:
        return bool(np.isclose(tree.threshold[node], theirs.threshold, rtol=1e-6, atol=1e-12))
    inside = {level for level, marked in zip(feature.levels, tree.subset[node], strict=True) if marked}
    return theirs.levels <= inside or not theirs.levels & inside


def path(learner: Tree, task: Task) -> TreePath:
    return learner.fit_path(task, positions(task), np.random.default_rng(0))


def size(answer: TreePath, learner: Tree, task: Task) -> tuple[float, int]:
    """Leaves and training errors."""
    return answer.complexity([learner])[0], round(float(answer.training_error([learner])[0]) * len(task))


# rpart


def of_rpart(reference: dict[str, Any], task: Task) -> Task:
    """The complete rows and the features that rpart was given."""
    kept = [i for i, feature in enumerate(task.features) if feature.name not in reference["features_dropped"]]
    task = task.with_features(tuple(task.features[i] for i in kept), task.values[:, kept])
    return task if reference["rows_used"] == "all" else task.take(np.array(reference["rows_used"]))


def rpart_runs(reference: dict[str, Any]) -> Iterator[tuple[str, Tree, dict[str, Any]]]:
    """Those without a complexity limit, grown to purity or to a depth (30 at most). It makes no test of no gain."""
    for run, theirs in reference["runs"].items():
        asked = re.fullmatch(r"(gini|information)_(?:depth(\d+)|full)_cpneg", run)
        if asked:
            criterion = make("criterion", "gini" if asked[1] == "gini" else "entropy")
            depth = int(asked[2]) if asked[2] else 30
            yield run, Tree(criterion=criterion, splits=Splits(nominal="subset"), max_depth=depth, min_gain=1e-9), theirs


def rpart_cut_back(reference: dict[str, Any], task: Task) -> Iterator[tuple[str, Tree, dict[str, Any]]]:
    """Those with a complexity limit (0, 0 with five rows in a branch, the default .01): α in units of the root's error rate."""
    root_error = 1 - np.bincount(task.target).max() / len(task)
    for run, theirs in reference["runs"].items():
        if not run.endswith("cpneg"):
            limits, criterion = theirs["control"], make("criterion", "gini" if run.startswith("gini") else "entropy")
            yield (
                run,
                Tree(
                    criterion=criterion,
                    splits=Splits(nominal="subset"),
                    max_depth=30,
                    min_gain=1e-9,
                    min_split=limits["minsplit"],
                    min_leaf=limits["minbucket"],
                    pruner=make("pruner", "cost_complexity", alpha=limits["cp"] * root_error),
                ),
                theirs,
            )


def rpart_node(nodes: dict[int, Any], at: int, scale: float) -> Node:
    own = nodes[at]
    counts = of_classes(own["class_counts"], nodes[1]["class_counts"])
    if "improve" not in own:
        return Node(counts)
    children = tuple(rpart_node(nodes, below, scale) for below in (2 * at, 2 * at + 1))
    decrease, levels = own["improve"] / own["n"] / scale, frozenset(own.get("left_values", ()))
    return Node(counts, decrease, children, own["feature"], own.get("threshold", math.nan), levels)


def of_classes(counts: Sequence[float], of_root: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(count) for count, at_all in zip(counts, of_root, strict=True) if at_all > 0)


@pytest.mark.slow
def test_rpart_makes_tests_as_good_at_every_node(answers, reference_task) -> None:
    """Every tree that is written out, of every data set. Its information is in nats."""
    sets: dict[str, Found] = {}
    for name, reference in answers("rpart/*").items():
        task = of_rpart(reference, reference_task(name))
        for run, learner, theirs in rpart_runs(reference):
            if "tree" in theirs:
                nodes = {node["node"]: node for node in theirs["tree"]}
                scale = math.log(2) if run.startswith("information") else 1.0
                tree = path(learner, task).model(learner).cut.tree
                follow(tree, 0, rpart_node(nodes, 1, scale), sets.setdefault(name, Found()))
    if not sets:
        pytest.skip("no rpart in the reference")
    assert set(sets) == set(answers("rpart/*"))
    assert sum(found.ties for found in sets.values()) < sum(found.same for found in sets.values()) / 4


@pytest.mark.slow
def test_rpart_has_the_same_leaves_and_errors_where_nothing_ties(enough, answers, reference_task) -> None:
    compared = 0
    for name, reference in answers("rpart/*").items():
        task = of_rpart(reference, reference_task(name))
        for run, learner, theirs in (*rpart_runs(reference), *rpart_cut_back(reference, task)):
            if theirs.get("verification", {}).get("tie_free"):
                grown = path(learner, task)
                assert size(grown, learner, task) == (theirs["leaves"], theirs["train_errors"]), f"{name} {run}"
                compared += 1
    if not compared:
        pytest.skip("no rpart in the reference")
    assert enough(compared, 120)


# scikit-learn


SETTINGS = {"max_depth": "max_depth", "min_samples_leaf": "min_leaf", "min_samples_split": "min_split"}


def of_sklearn(task: Task) -> Task:
    """It computes with values in single precision."""
    return task.with_features(task.features, task.values.astype(np.float32).astype(np.float64))


def cases(reference: dict[str, Any]) -> Iterator[tuple[str, Tree, dict[str, Any]]]:
    """All but `min_impurity_decrease`: a limit weighted by the node's share of the rows, which is none of ours."""
    for case, theirs in reference["trees"].items():
        asked = dict(theirs["params"])
        if "min_impurity_decrease" not in asked:
            criterion = make("criterion", asked.pop("criterion"))
            yield case, Tree(criterion=criterion, **{SETTINGS[key]: value for key, value in asked.items()}), theirs


def sklearn_node(arrays: dict[str, Any], at: int, names: tuple[str, ...]) -> Node:
    counts, left = of_classes(arrays["class_counts"][at], arrays["class_counts"][0]), arrays["children_left"][at]
    if left < 0:
        return Node(counts)
    below = (left, arrays["children_right"][at])
    n, impurity = arrays["n_node_samples"], arrays["impurity"]
    decrease = impurity[at] - sum(n[child] * impurity[child] for child in below) / n[at]
    children = tuple(sklearn_node(arrays, child, names) for child in below)
    return Node(counts, decrease, children, names[arrays["feature"][at]], arrays["threshold"][at])


def test_scikit_learn_makes_tests_as_good_at_every_node(answers, reference_task) -> None:
    """Every case whose tree is written out, of every data set."""
    sets: dict[str, Found] = {}
    for name, reference in answers("sklearn/*").items():
        task = of_sklearn(reference_task(name))
        names = tuple(feature.name for feature in task.features)
        for _, learner, theirs in cases(reference):
            if theirs.get("tree_seed0"):
                tree = path(learner, task).model(learner).cut.tree
                follow(tree, 0, sklearn_node(theirs["tree_seed0"], 0, names), sets.setdefault(name, Found()))
    if not sets:
        pytest.skip("no scikit-learn in the reference")
    assert set(sets) == set(answers("sklearn/*"))
    assert sum(found.ties for found in sets.values()) < sum(found.same for found in sets.values()) / 4


def test_scikit_learn_has_the_same_leaves_errors_and_depth_where_nothing_ties(enough, answers, reference_task) -> None:
    compared = 0
    for name, reference in answers("sklearn/*").items():
        task = of_sklearn(reference_task(name))
        for case, learner, theirs in cases(reference):
            if not reference["verification"].get(case, {}).get("tie_free"):
                continue
            grown, first = path(learner, task), theirs["per_seed"][0]
            ours = *size(grown, learner, task), grown.model(learner).depth
            assert ours == (first["leaves"], len(task) - first["train_correct"], first["depth"]), f"{name} {case}"
            compared += 1
    if not compared:
        pytest.skip("no scikit-learn in the reference")
    assert enough(compared, 50)
