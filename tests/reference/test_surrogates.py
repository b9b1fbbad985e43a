"""Surrogates as rpart 4.1.19 lists them (R 4.2.2), written down here because the other answers of rpart use complete rows.

    rpart(…, method = "class", control = rpart.control(cp = -1, minsplit = 2, minbucket = 1, maxdepth = 2, xval = 0,
          maxcompete = 0, maxsurrogate = 5, usesurrogate = 2, surrogatestyle = 1))

`surrogatestyle = 1` counts agreement as Breiman et al. (1984) do, over the rows known in both features. The thresholds at the
root of stagec are also printed in Therneau and Atkinson's introduction. Named differences: rpart asks for two rows on each side
of a surrogate, and leaves out one on a nominal feature that is wrong about fewer than two rows.
"""

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Task, positions
from modelsel.learner.tree import Splits, Tree
from modelsel.tree.node import DecisionTree as Grown
from modelsel.tree.routing import position
from tests.conftest import about

# Rows of the node, feature tested, surrogates with threshold and agreement.
RPART = {
    "stagec": [
        (146, "grade", [("gleason", 5.5, 0.88112), ("g2", 9.945, 0.66187), ("ploidy", None, 0.64384), ("age", 66.5, 0.58904)]),
        (85, "grade", [("gleason", 9.5, 0.95294)]),
    ],
    "breast_w": [
        (699, "Cell_Size_Uniformity", [
            ("Cell_Shape_Uniformity", 3.5, 0.91559), ("Single_Epi_Cell_Size", 2.5, 0.897), ("Bare_Nuclei", 2.5, 0.87994),
            ("Normal_Nucleoli", 2.5, 0.87983), ("Bland_Chromatin", 3.5, 0.87697),
        ]),
        (429, "Bare_Nuclei", [("Clump_Thickness", 8.5, 0.98804), ("Normal_Nucleoli", 3.5, 0.98325)]),
        (270, "Cell_Shape_Uniformity", [("Bland_Chromatin", 1.5, 0.93333)]),
    ],
    "credit_a": [
        (690, "A9", [
            ("A10", None, 0.71014), ("A11", 0.5, 0.71014), ("A8", 0.5625, 0.7), ("A15", 146.5, 0.63333), ("A6", None, 0.63289),
        ]),
        (329, "A3", [("A13", None, 0.91793)]),
        (361, "A10", [
            ("A11", 0.5, 1.0), ("A15", 2.0, 0.72853), ("A13", None, 0.68421), ("A8", 0.27, 0.67036), ("A6", None, 0.65556),
        ]),
    ],
    "heart_c": [
        (303, "thal", [
            ("thalach", 150.5, 0.68439), ("cp", None, 0.67774), ("exang", None, 0.6711), ("oldpeak", 1.55, 0.66113),
            ("sex", None, 0.65781),
        ]),
        (167, "ca", [("age", 64.5, 0.7378), ("thalach", 134.0, 0.72561), ("cp", None, 0.70732), ("oldpeak", 1.7, 0.70732)]),
        (136, "cp", [
            ("thalach", 172.0, 0.71324), ("exang", None, 0.69853), ("age", 66.5, 0.67647), ("trestbps", 106.5, 0.67647),
        ]),
    ],
    "cu_summary": [
        (117, "Price", [("Mileage", 27.5, 0.93333), ("Country", None, 0.87179)]),
        (97, "Price", [("Country", None, 0.75258), ("Mileage", 22.5, 0.73469), ("Reliability", None, 0.68116)]),
        (20, "Country", [("Price", 8796.5, 0.85), ("Reliability", None, 0.75)]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", about(RPART))
def test_surrogates_are_those_of_rpart_in_its_order(reference_task, name: str) -> None:
    task = reference_task(name)
    gini = make("criterion", "gini")
    learner = Tree(criterion=gini, splits=Splits(nominal="subset"), missing="surrogate", max_depth=2)
    tree = learner.fit(task, positions(task), np.random.default_rng(0)).cut.tree
    places = {int(tree.weight[node]): node for node in [0, *tree.children(0).tolist()]}
    for rows, feature, theirs in RPART[name]:
        node = places[rows]
        assert tree.features[tree.feature[node]].name == feature
        assert kept(tree, node, task) == theirs, (name, rows)


def kept(tree: Grown, node: int, task: Task) -> list[tuple[str, float | None, float]]:
    """The surrogates of the root or of one of its children that rpart would list."""
    rows = positions(task) if node == 0 else np.flatnonzero(at_root(tree, task) == node)
    found, told = tree.surrogates, []
    assert found is not None
    own = task.values[rows, tree.feature[node]]
    known = ~np.isnan(own)
    primary = position(tree, node, own[known])
    for each in range(found.first[node], found.first[node + 1]):
        side = sides(tree, each, task.values[rows[known], found.feature[each]])
        few = np.bincount(side[side >= 0], minlength=2).min() < 2
        wrong = int(((side >= 0) & (side != primary)).sum())
        if few or (each in found.sides and wrong < 2):
            continue
        threshold = None if each in found.sides else round(float(found.threshold[each]), 5)
        told.append((tree.features[found.feature[each]].name, threshold, round(float(found.agreement[each]), 5)))
    return told


def at_root(tree: Grown, task: Task) -> np.ndarray:
    """The child of the root that each row goes to: by its test, the first surrogate that is known, or the larger side."""
    own = task.values[:, tree.feature[0]]
    branch = np.where(np.isnan(own), -1, position(tree, 0, np.nan_to_num(own)))
    found = tree.surrogates
    assert found is not None
    for each in range(found.first[0], found.first[1]):
        branch = np.where(branch < 0, sides(tree, each, task.values[:, found.feature[each]]), branch)
    return tree.children(0)[np.where(branch < 0, tree.majority[0], branch)]


def sides(tree: Grown, each: int, values: np.ndarray) -> np.ndarray:
    """Branch by a surrogate, −1 where it says nothing."""
    found = tree.surrogates
    assert found is not None
    if each in found.sides:
        return np.array([-1 if np.isnan(value) else found.sides[each][int(value)] for value in values])
    left = np.where(found.flipped[each], 1, 0)
    return np.where(np.isnan(values), -1, np.where(values <= found.threshold[each], left, 1 - left))
