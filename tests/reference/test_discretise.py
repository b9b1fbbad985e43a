"""Fayyad–Irani cuts against Weka, Orange and an exact reference; rankings against Weka's.

Named differences: a feature of one level has gain ratio 0 here and none there; where several cuts of an interval gain
equally (`tie_between_cuts`), the lowest is taken here. Weka's rankers cut numbers with its "better encoding" (option -E), these
with Fayyad and Irani's criterion: scores are compared on Weka's cuts.
"""

import numpy as np
import pytest

from modelsel.core.types import Feature, positions
from modelsel.preparer.binning import Binned
from modelsel.preparer.discretise_mdl import DiscretiseMdl
from modelsel.preparer.select_top import merits

NOTHING = np.random.default_rng(0)


def test_cuts_are_those_of_weka_and_orange(enough, answers, reference_task):
    compared = 0
    for answer in answers("discretize/*").values():
        task = reference_task(answer["dataset"])
        step = DiscretiseMdl().fit(task, positions(task), NOTHING)
        for column, feature in enumerate(task.features):
            expected = answer["attributes"].get(feature.name)
            if expected is not None and not expected["tie_between_cuts"] and not expected["borderline_accept"]:
                assert step.cuts[column] == pytest.approx(np.array(expected["cut_points"]), abs=1e-9), feature.name
                compared += 1
    assert enough(compared, 100)


def test_scores_of_nominal_features_are_the_references(enough, answers, reference_task):
    compared = 0
    for answer in answers("scores/*").values():
        task = reference_task(answer["dataset"])
        found = {score: merits(task, positions(task), score) for score in ("gain", "gain_ratio", "symmetric_uncertainty")}
        for column, feature in enumerate(task.features):
            expected = answer["attributes"].get(feature.name)
            if expected is None or expected["type"] != "nominal" or not expected["n_known"]:
                continue
            known = expected["n_known"] / (expected["n_known"] + expected["n_missing"])
            assert found["gain"][column] == pytest.approx(expected["gain_c45"], abs=1e-11)
            assert found["gain_ratio"][column] == pytest.approx(expected["gain_ratio_c45"] or 0.0, abs=1e-11)
            uncertainty = known * expected["symmetrical_uncertainty_known"]
            assert found["symmetric_uncertainty"][column] == pytest.approx(uncertainty, abs=1e-11)
            compared += 1
    assert enough(compared, 50)


@pytest.mark.parametrize(
    ("job", "score"),
    [("rank_InfoGain", "gain"), ("rank_GainRatio", "gain_ratio"), ("rank_SymmetricalUncert", "symmetric_uncertainty")],
)
def test_scores_are_those_of_wekas_rankers_where_nothing_is_missing(enough, answers, reference_task, job, score):
    cuts, compared = answers("discretize/*"), 0
    for name, answer in answers("weka/*").items():
        task = reference_task(name)
        if job not in answer["jobs"] or np.isnan(task.values).any():
            continue
        theirs = cuts.get(name, {}).get("weka_variants", {}).get("discretize_MDL_better_encoding_E", {})
        own = [np.array(theirs[f.name]) if f.name in theirs else None for f in task.features]
        expected = answer["jobs"][job]["result"]["scores"]
        found = merits(Binned("discretise_mdl", tuple(own), "nominal").apply(task), positions(task), score)
        for column, feature in enumerate(task.features):
            if feature.kind == "nominal" or own[column] is not None:
                assert found[column] == pytest.approx(expected[feature.name], abs=1e-9), (name, feature.name)
                compared += 1
    assert enough(compared, 100)


@pytest.mark.about("vote")  # no table that comes along has gaps
@pytest.mark.parametrize(
    ("job", "score"),
    [("rank_InfoGain_M", "gain"), ("rank_GainRatio_M", "gain_ratio"), ("rank_SymmetricalUncert_M", "symmetric_uncertainty")],
)
def test_scores_are_wekas_where_a_missing_value_is_a_level_of_its_own(enough, answers, reference_task, job, score):
    """Weka's option -M. Otherwise Weka shares a missing value out among the levels, and here only known rows count."""
    compared = 0
    for name, answer in answers("weka/*").items():
        if f"{job}_missing_as_value" not in answer["jobs"]:
            continue
        task, expected = reference_task(name), answer["jobs"][f"{job}_missing_as_value"]["result"]["scores"]
        features = tuple(Feature(f.name, f.kind, (*f.levels, "?") if f.kind == "nominal" else ()) for f in task.features)
        levels = np.array([len(f.levels) for f in task.features], float)
        found = merits(
            task.with_features(features, np.where(np.isnan(task.values), levels, task.values)), positions(task), score
        )
        for column, feature in enumerate(features):
            if feature.kind == "nominal":
                assert found[column] == pytest.approx(expected[feature.name], abs=1e-9), (name, feature.name)
                compared += 1
    assert enough(compared, 50)
