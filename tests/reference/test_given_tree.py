"""Pruning of given trees: exact answers of other programs, independent of how a tree is grown."""

import json
from fractions import Fraction

import numpy as np
import pytest

from modelsel.core.types import Feature
from modelsel.pruner.cost_complexity import CostComplexity
from modelsel.pruner.error_based import ErrorBased
from modelsel.pruner.minimum_error import MinimumError
from modelsel.pruner.reduced_error import ReducedError
from modelsel.tree.cutting import PruningData, leaves, reached
from modelsel.tree.node import LEAF, MULTIWAY, DecisionTree, PrunedView


def given(case):
    """The tree of a reference file: its counts and shape (tests are of no concern to pruning), and names of its nodes."""
    flat, parents = [], []
    waiting = [(case["tree"], -1)]
    while waiting:
        node, parent = waiting.pop()
        waiting.extend((child, len(flat)) for child in reversed(node.get("children", [])))
        flat.append(node)
        parents.append(parent)
    counts = np.array([node["counts"] for node in flat], float)
    above = np.array(parents, np.int32)
    branches = np.bincount(above[1:], minlength=len(flat))
    inner = branches > 0
    tree = DecisionTree(
        features=(Feature("any", "nominal", tuple("abcdefgh")),),
        classes=tuple(case["class_values"]),
        parent=above,
        test=np.where(inner, MULTIWAY, LEAF).astype(np.int8),
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.full(len(flat), np.nan),
        first=np.append(0, np.cumsum(branches)).astype(np.int32),
        child=(1 + np.argsort(above[1:], kind="stable")).astype(np.int32),
        counts=counts,
        goodness=np.where(inner, 0.5, np.nan),
        subset={},
    )
    prediction = counts.argmax(axis=1).astype(np.int32)
    for node in np.flatnonzero(counts.sum(axis=1) == 0):
        prediction[node] = prediction[above[node]]
    return PrunedView(tree, ~inner, prediction, counts), flat


def cases(reference, pattern):
    files = sorted((reference / "given_tree").glob(pattern))
    if not files:
        pytest.skip(f"no {pattern} in the reference")
    for file in files:
        yield file.stem, json.loads(file.read_text())


def made_leaves(cut, pruned, flat):
    """Names of the nodes that the pruning turned into leaves."""
    return sorted(flat[node]["id"] for node in np.flatnonzero(reached(pruned) & pruned.leaf & ~cut.leaf))


def test_cost_complexity_gives_the_weakest_link_sequence(reference):
    for name, case in cases(reference, "ccp_*.json"):
        cut, _ = given(case)
        total = float(cut.counts[0].sum())
        path = CostComplexity().path(cut, PruningData(total))
        expected = case["expected"]["steps"]
        assert path.steps()[path.steps() > 0] == pytest.approx([float(Fraction(s["alpha"])) for s in expected[1:]]), name
        for step in expected:
            pruned = path.cut(CostComplexity(float(Fraction(step["alpha"]))))
            ends = reached(pruned) & pruned.leaf
            errors = (cut.counts.sum(axis=1) - cut.counts.max(axis=1))[ends].sum()
            assert leaves(pruned) == step["leaves"], name
            assert errors == Fraction(step["risk"]) * int(total), name


def test_reduced_error_gives_the_smallest_of_the_best_prunings(reference):
    for name, case in cases(reference, "rep_*.json"):
        cut, flat = given(case)
        counts = np.array([node["prune_counts"] for node in flat], float)
        pruner = ReducedError(relabel=False)
        pruned = pruner.path(cut, PruningData(float(cut.counts[0].sum()), counts)).cut(pruner)
        ends = np.flatnonzero(reached(pruned) & pruned.leaf)
        errors = sum(counts[node].sum() - counts[node, pruned.prediction[node]] for node in ends)
        assert errors == case["expected"]["best_prune_errors"], name
        assert len(ends) == case["expected"]["leaves"], name
        assert made_leaves(cut, pruned, flat) == sorted(case["expected"]["nodes_made_leaves"]), name


def test_minimum_error_gives_the_exact_rational_prunings(reference):
    for name, case in cases(reference, "minerr_*.json"):
        cut, flat = given(case)
        evidence = PruningData(float(cut.counts[0].sum()))
        for key, expected in case["expected"].items():
            m = "laplace" if key.startswith("laplace") else float(Fraction(key.partition("m=")[2]))
            pruned = MinimumError(m).path(cut, evidence).cut(MinimumError(m))
            assert leaves(pruned) == expected["leaves"], (name, key)
            assert made_leaves(cut, pruned, flat) == sorted(expected["nodes_made_leaves"]), (name, key)


def test_error_based_gives_what_j48_leaves_without_raising(reference):
    for name, case in cases(reference, "pessimistic_*.json"):
        cut, flat = given(case)
        evidence = PruningData(float(cut.counts[0].sum()))
        weight = cut.counts.sum(axis=1)
        errors = weight - cut.counts.max(axis=1)
        for confidence, expected in case["expected_by_CF"].items():
            pruner = ErrorBased(float(confidence), raising=False)
            pruned = pruner.path(cut, evidence).cut(pruner)
            estimates = pruner.estimate(weight, errors)
            for node, record in enumerate(flat):
                stored = case["leaf_estimates_by_node"][str(record["id"])][confidence]
                assert estimates[node] == pytest.approx(stored, rel=1e-6, abs=1e-9), (name, confidence)
            ends = np.flatnonzero(reached(pruned) & pruned.leaf)
            assert len(ends) == expected["leaves"], (name, confidence)
            assert estimates[ends].sum() == pytest.approx(expected["estimated_errors"], rel=1e-6), (name, confidence)
            assert made_leaves(cut, pruned, flat) == sorted(expected["nodes_made_leaves"]), (name, confidence)


@pytest.mark.parametrize(
    ("bound", "column"),
    [("normal", "weka"), ("c45_table", "c45_published_scheme"), ("exact", "exact_binomial")],
)
def test_upper_limits_are_those_of_the_tools(reference, bound, column):
    rows = json.loads((reference / "stats/c45_add_errs.json").read_text())["rows"]
    compared = 0
    for row in rows:
        expected = row[f"{column}_extra_errors"]
        if expected is None:
            continue
        n, e = np.array([row["N"]]), np.array([row["e"]])
        extra = ErrorBased(row["CF"], bound=bound).estimate(n, e) - e
        assert extra[0] == pytest.approx(expected, rel=1e-6, abs=1e-7), row
        compared += 1
    assert compared > 300


def test_cost_complexity_by_impurity_gives_scikit_learns_path(answers):
    """Its path lists tied links one by one: equal strengths are one step here, with the impurity after the last of them."""
    compared = 0
    for name, reference in answers("sklearn/*").items():
        for run, record in reference.get("trees", {}).items():
            if not {"ccp_path_seed0", "tree_seed0"} <= set(record):
                continue
            impurity = record["params"]["criterion"]
            cut = binary(record["tree_seed0"], reference["class_values"])
            total = float(cut.counts[0].sum())
            path = CostComplexity(impurity=impurity).path(cut, PruningData(total))
            alphas = np.array(record["ccp_path_seed0"]["ccp_alphas"])
            last = np.append(np.diff(alphas) > 1e-9, True) & (alphas > 1e-9)
            assert path.steps()[path.steps() > 1e-9] == pytest.approx(alphas[last], rel=1e-6, abs=1e-9), (name, run)
            for alpha, left in zip(alphas[last], np.array(record["ccp_path_seed0"]["impurities"])[last]):
                pruned = path.cut(CostComplexity(float(alpha) + 1e-10, impurity))
                counts = cut.counts[reached(pruned) & pruned.leaf]
                assert sum(_impurity(row, impurity) for row in counts) / total == pytest.approx(left, abs=1e-9), (name, run)
            compared += 1
    if not compared:
        pytest.skip("no paths of scikit-learn in the reference")


def binary(arrays, classes):
    """scikit-learn's arrays (preorder) as a cut tree."""
    left, right = np.array(arrays["children_left"]), np.array(arrays["children_right"])
    inner = left >= 0
    parent = np.full(len(left), -1, np.int32)
    parent[left[inner]] = parent[right[inner]] = np.flatnonzero(inner)
    counts = np.array(arrays["class_counts"], float)
    tree = DecisionTree(
        features=(Feature("any", "numeric"),),
        classes=tuple(classes),
        parent=parent,
        test=inner.astype(np.int8),
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.where(inner, 0.5, np.nan),
        first=np.append(0, np.cumsum(2 * inner)).astype(np.int32),
        child=np.column_stack([left[inner], right[inner]]).ravel().astype(np.int32),
        counts=counts,
        goodness=np.where(inner, 0.5, np.nan),
        subset={},
    )
    return PrunedView(tree, ~inner, counts.argmax(axis=1).astype(np.int32), counts)


def _impurity(counts, kind):
    n = counts.sum()
    share = counts[counts > 0] / n
    return n * (1 - (share**2).sum()) if kind == "gini" else -n * (share * np.log2(share)).sum()
