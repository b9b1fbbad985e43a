"""Trees as other tools grow them: C4.5 release 8, Weka's Id3, rpart and scikit-learn, where their rules coincide with ours."""

import re
from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Task, positions
from modelsel.learner.tree import Splits, Tree
from tests.reference.single_precision import C45 as C45Twin
from tests.reference.single_precision import nodes

C45 = {
    "splits": Splits(nominal="multiway", threshold="observed"),
    "missing": "fractional",
    "min_leaf_rule": "c45",
    "collapse": True,
}
# Release 8 computes in single precision, and then: glass and waveform5000: a midpoint that rounds to a value sends it left.
# labor, hepatitis: divided rows of weight 2 that sum to less. mushroom, soybean: the last bit decides between equal ratios.
SINGLE_PRECISION = {
    "glass m2": False, "waveform5000 m2": False, "labor m2": False, "labor m1": False, "hepatitis m1": False,
    "mushroom m2": False, "mushroom m1": False, "mushroom m5": False, "soybean m2": False, "soybean m5": False,
    "soybean m1": True,  # there even the order in which rows are added decides: 251 to 256 nodes
}  # fmt: skip


def path(learner: Tree, task: Task):
    return learner.fit_path(task, positions(task), np.random.default_rng(0))


def wrong(learner: Tree, task: Task, answer) -> int:
    return round(float(answer.training_error([learner])[0]) * len(task))


def release_8_runs(answers):
    """Data set, least weight of a branch, and the size and errors that release 8 reports before pruning."""
    for name, reference in answers("c45r8/*").items():
        for run, theirs in reference["runs"].items():
            found = re.fullmatch(r"m(\d+)_c25", run)
            if found and theirs.get("train"):
                yield name, int(found[1]), (theirs["train"]["size_before"], theirs["train"]["errors_before"])


def test_release_8_grows_the_same_trees_but_for_its_rounding(answers, reference_task) -> None:
    same = 0
    for name, least, theirs in release_8_runs(answers):
        task, learner = reference_task(name), Tree(criterion=make("criterion", "gain_ratio"), min_leaf=least, **C45)
        grown = path(learner, task)
        ours = grown.model(learner).n_nodes, wrong(learner, task, grown)
        assert (ours == theirs) != (f"{name} m{least}" in SINGLE_PRECISION), f"{name} m{least}: {ours}, theirs {theirs}"
        same += ours == theirs
    assert same > 60


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({case.split()[0] for case in SINGLE_PRECISION}))
def test_where_it_differs_the_same_rules_in_single_precision_give_its_trees(answers, reference_task, name) -> None:
    """And in double precision ours."""
    task = reference_task(name)
    for _, least, theirs in (run for run in release_8_runs(answers) if run[0] == name):
        learner = Tree(criterion=make("criterion", "gain_ratio"), min_leaf=least, **C45)
        grown = path(learner, task)
        single, double = (C45Twin(task, least, real) for real in (np.float32, np.float64))
        rounded, exact = single.grown(), double.grown()
        assert (nodes(exact), double.errors(exact)) == (grown.model(learner).n_nodes, wrong(learner, task, grown))
        if SINGLE_PRECISION.get(f"{name} m{least}"):
            orders = [np.random.default_rng(seed).permutation(len(task)) for seed in range(6)]
            sizes = {nodes(C45Twin(task.take(order), least, np.float32).grown()) for order in orders}
            assert len(sizes) > 1
            assert abs(nodes(rounded) - theirs[0]) <= 5
        else:
            assert (nodes(rounded), single.errors(rounded)) == theirs


def test_id3_grows_the_same_trees_where_nothing_ties(answers, reference_task) -> None:
    compared = 0
    for name, theirs in answers("id3/*").items():
        task = reference_task(name)
        learner = Tree(min_gain=1e-9)  # Weka's Id3 stops at no gain
        grown = path(learner, task)
        assert wrong(learner, task, grown) == theirs["train_errors"], name
        if theirs["tie_free"]:
            assert grown.complexity([learner])[0] == theirs["leaves"], name
            assert _same(grown.model(learner).cut.tree, 0, theirs["tree"]), name
            compared += 1
    assert compared >= 3


def test_monk_1_needs_tests_of_no_gain(reference_task) -> None:
    """124 training rows: learnt without error; two are misclassified where a test of no gain ends a path, as by Weka's Id3."""
    task = reference_task("monks1_train")
    learners = Tree(), Tree(min_gain=1e-9)
    grown = path(learners[0], task)
    assert [wrong(learner, task, grown) for learner in learners] == [0, 2]


def _same(tree, node: int, theirs: dict) -> bool:
    if tree.counts[node].tolist() != theirs["counts"]:
        return False
    children = theirs.get("children", [])
    if not children:
        return not len(tree.children(node))
    return (
        tree.features[tree.feature[node]].name == theirs["attribute"]
        and tree.goodness[node] == pytest.approx(theirs["gain"], abs=1e-12)
        and all(_same(tree, int(own), child) for own, child in zip(tree.children(node), children, strict=True))
    )


def test_rpart_grows_the_same_trees_where_nothing_ties(answers, reference_task) -> None:
    compared = 0
    for name, reference in answers("rpart/*").items():
        task = _without(reference_task(name), reference["features_dropped"])
        task = task if reference["rows_used"] == "all" else task.take(np.array(reference["rows_used"]))
        for criterion, kind in (("gini", "gini"), ("information", "entropy")):
            growing = Tree(criterion=make("criterion", kind), splits=Splits(nominal="subset"))
            grown = None
            for run, theirs in reference["runs"].items():
                depth = re.fullmatch(rf"{criterion}_(?:depth(\d+)|full)_cpneg", run)
                if not depth or not theirs.get("verification", {}).get("tie_free"):
                    continue
                grown = grown or path(growing, task)
                deep = int(depth[1]) if depth[1] else 30
                learner = replace(growing, max_depth=deep, min_gain=1e-9)  # rpart makes no test of no gain
                ours = grown.complexity([learner])[0], wrong(learner, task, grown)
                assert ours == (theirs["leaves"], theirs["train_errors"]), f"{name} {run}"
                compared += 1
    assert compared > 50


def _without(task: Task, dropped: list[str]) -> Task:
    kept = [i for i, feature in enumerate(task.features) if feature.name not in dropped]
    return task.with_features(tuple(task.features[i] for i in kept), task.values[:, kept])


def test_scikit_learn_grows_the_same_trees_where_nothing_ties(answers, reference_task) -> None:
    compared = 0
    for name, reference in answers("sklearn/*").items():
        task = reference_task(name)
        task = task.with_features(task.features, task.values.astype(np.float32).astype(np.float64))  # as it computes
        for case, theirs in reference["trees"].items():
            asked = re.fullmatch(r"(gini|entropy)_(?:full|max_depth=(\d+))", case)
            if not asked or not reference["verification"].get(case, {}).get("tie_free"):
                continue
            depth = int(asked[2]) if asked[2] else None
            learner = Tree(criterion=make("criterion", asked[1]), max_depth=depth)
            grown, first = path(learner, task), theirs["per_seed"][0]
            ours = grown.complexity([learner])[0], len(task) - wrong(learner, task, grown), grown.model(learner).depth
            assert ours == (first["leaves"], first["train_correct"], first["depth"]), f"{name} {case}"
            compared += 1
    assert compared > 40


def test_the_best_tests_at_the_root_are_those_of_the_tables(answers, reference_task) -> None:
    """Gains of nominal features and best cuts of numeric ones, by the criteria themselves."""
    from modelsel.tree.columns import columns
    from modelsel.tree.growth import Growth
    from modelsel.tree.node import MULTIWAY, THRESHOLD
    from modelsel.tree.numpy_tests import Column, best_test

    compared = 0
    for name, reference in answers("scores/*").items():
        task = reference_task(name)
        ranked, ones = columns(task), np.ones(len(task))
        for index, feature in enumerate(task.features):
            theirs = reference["attributes"].get(feature.name)
            if theirs is None or theirs["n_missing"]:
                continue
            column = Column(ranked.codes[index], task.target, ones, len(ranked.values[index]), len(task.classes))
            if feature.kind == "nominal":
                test = best_test(column, MULTIWAY, make("criterion", "entropy"), Growth())
                assert (test.value if test else 0.0) == pytest.approx(theirs["gain_known_rows"], abs=1e-10), feature.name
                compared += 1
                continue
            for kind, best in theirs["best_binary"].items():
                test = best_test(column, THRESHOLD, make("criterion", kind), Growth())
                if test is not None and best is not None:
                    assert test.value == pytest.approx(best["decrease"], abs=1e-10), f"{name} {feature.name} {kind}"
                    compared += 1
    assert compared > 200
