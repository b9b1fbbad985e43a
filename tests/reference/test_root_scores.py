"""What each feature gains at the root, and by which cut, as tabulated for every data set (Weka and scikit-learn agree)."""

from collections.abc import Iterator

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Task
from modelsel.tree.growing.assemble import midpoint
from modelsel.tree.growing.columns import columns
from modelsel.tree.growing.growth import GrowthParams
from modelsel.tree.growing.numpy_tests import NodeColumn, best_test
from modelsel.tree.node import MULTIWAY, THRESHOLD

GROWTH = GrowthParams("fractional")  # gains over the known rows; the missing ones count in split information


def at_root(task: Task, scores: dict) -> Iterator[tuple[str, NodeColumn, np.ndarray, dict]]:
    ranked, ones = columns(task), np.ones(len(task))
    for index, feature in enumerate(task.features):
        if feature.name in scores["attributes"]:
            values = ranked.values[index]
            column = NodeColumn(ranked.codes[index], task.target, ones, len(values), len(task.classes))
            yield feature.name, column, values, scores["attributes"][feature.name]


def test_what_nominal_features_score_is_what_the_tables_say(enough, answers, reference_task) -> None:
    compared = 0
    for name, reference in answers("scores/*").items():
        for feature, column, _, theirs in at_root(reference_task(name), reference):
            if theirs["type"] != "nominal":
                continue
            for criterion, key in (
                ("entropy", "gain_known_rows"),
                ("gini", "gini_decrease_multiway_known"),
                ("misclassification", "misclassification_decrease_multiway_known"),
                ("symmetric_uncertainty", "symmetrical_uncertainty_known"),
            ):
                test = best_test(column, MULTIWAY, make("criterion", criterion), GROWTH)
                assert (test.value if test else 0.0) == pytest.approx(theirs[key], abs=1e-10), (name, feature, criterion)
                compared += 1
            test = best_test(column, MULTIWAY, make("criterion", "gain_ratio"), GROWTH)
            if test:
                gain = test.value * column.known.mean()
                assert gain == pytest.approx(theirs["gain_c45"], abs=1e-10), (name, feature)
                assert test.information == pytest.approx(theirs["split_info_c45"], abs=1e-10), (name, feature)
                assert gain / test.information == pytest.approx(theirs["gain_ratio_c45"], abs=1e-10), (name, feature)
    if not compared:
        pytest.skip("no scores in the reference")
    assert enough(compared, 400)


def test_the_best_cut_of_numeric_features_is_the_first_that_the_tables_list(enough, answers, reference_task) -> None:
    compared = 0
    for name, reference in answers("scores/*").items():
        for feature, column, values, theirs in at_root(reference_task(name), reference):
            for criterion, best in theirs.get("best_binary", {}).items():
                test = best_test(column, THRESHOLD, make("criterion", criterion), GROWTH)
                assert (test is None) == (best is None), (name, feature)
                if test is not None:
                    assert test.value == pytest.approx(best["decrease"], abs=1e-10), (name, feature, criterion)
                    cut = midpoint(values[test.code], values[test.next])
                    assert cut == pytest.approx(best["thresholds_midpoint"][0], rel=1e-12), (name, feature, criterion)
                    compared += 1
    if not compared:
        pytest.skip("no scores in the reference")
    assert enough(compared, 400)
