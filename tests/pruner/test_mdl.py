"""Description length against exact combinatorics and the best of all prunings."""

import json
from math import comb, factorial, log2, prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.core.types import Feature
from modelsel.pruner.mdl import Mdl, _value_bits, class_bits, structure_bits
from modelsel.tree.cutting import PruningData, leaves
from modelsel.tree.node import THRESHOLD


def test_class_bits_count_the_arrangements_and_the_compositions():
    rng = np.random.default_rng(0)
    for classes in (1, 2, 3, 7):
        counts = rng.integers(0, 9, (20, classes))
        exact = [
            log2(factorial(sum(row)) // prod(map(factorial, row))) + log2(comb(sum(row) + classes - 1, classes - 1))
            for row in counts.tolist()
        ]
        assert class_bits(counts.astype(float)) == pytest.approx(exact, abs=1e-9)


def test_class_bits_are_those_of_the_reference(reference):
    codes = json.loads((reference / "stats/mdl_codes.json").read_text())
    for case in codes["leaf_codes"]:
        counts = np.array([case["counts"]], float)
        assert class_bits(counts)[0] == pytest.approx(case["kononenko_prior_bits"], abs=1e-9)
    for case in codes["quinlan_rivest_L_n_k_b"]:
        two = class_bits(np.array([[case["n"] - case["k"], case["k"]]], float))[0]
        ours_bounded = two - log2(case["n"] + 1) + log2(case["b"] + 1)
        assert ours_bounded == pytest.approx(case["bits"], abs=1e-9)


def test_the_tree_kept_is_the_shortest_message_of_all_prunings(grow, prunings, leaf_set):
    rng = np.random.default_rng(8)
    for _ in range(200):
        cut = grow(rng, inner=int(rng.integers(0, 7)))
        bits, price = class_bits(cut.tree.counts), structure_bits(cut.tree)
        path = Mdl().path(cut, PruningData(1.0))
        for weight in (0.0, 0.2, 1.0, 3.0):
            kept = leaf_set(path.cut(Mdl(weight)))
            best = min(_message(cut, ends, bits, weight * price) for ends in prunings(cut))
            assert _message(cut, kept, bits, weight * price) == pytest.approx(best, abs=1e-9)


def _message(cut, ends, bits, price):
    return sum(bits[leaf] for leaf in ends) + sum(price[node] for node in _tests(cut, ends))


def _tests(cut, ends):
    above = set()
    for leaf in ends:
        node = int(cut.tree.parent[leaf])
        while node >= 0:
            above.add(node)
            node = int(cut.tree.parent[node])
    return above


def test_leaves_never_rise_with_the_weight(grow):
    rng = np.random.default_rng(1)
    for _ in range(100):
        path = Mdl().path(grow(rng, inner=9, amounts="fractions"), PruningData(1.0))
        sizes = [leaves(path.cut(Mdl(w))) for w in np.linspace(0, 4, 30)]
        assert sizes == sorted(sizes, reverse=True)


def test_every_kind_of_test_has_its_price(grow):
    cut = grow(np.random.default_rng(3), inner=6)
    price = structure_bits(cut.tree)
    for node in np.flatnonzero(~cut.leaf):
        branches = len(cut.tree.children(int(node)))
        value = log2(max(cut.tree.counts[node].sum() - 1, 1)) if branches == 2 else 0
        assert price[node] == pytest.approx(log2(3) + branches + value)


@pytest.mark.parametrize(
    ("kind", "rows", "cuts", "parted"), [("numeric", 9, 8, 9), ("ordered", 9, 4, 5), ("ordered", 3, 2, 3), ("numeric", 1, 1, 1)]
)
def test_a_threshold_is_one_of_the_cuts_between_rows_or_ranks_or_parts_known_from_missing(
    kind: str, rows: int, cuts: int, parted: int
) -> None:
    feature = Feature("a", kind, ("1", "2", "3", "4", "5") if kind == "ordered" else ())
    tree: Any = SimpleNamespace(features=(feature,), feature=[0], test=[THRESHOLD], weight=[rows])
    assert _value_bits(tree, 0, more=False) == log2(cuts)
    assert _value_bits(tree, 0, more=True) == log2(parted)
