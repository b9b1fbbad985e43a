"""Gains that textbooks print, computed elsewhere: play_tennis and its branches, balloons, contact lenses, the MONK's problems.

Named difference: none. The example of Quinlan (1993, 3.3), in which one Outlook is unknown, scales the gain by the known share
and counts the unknown rows as one more outcome of the split; so do these scores.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.types import positions
from modelsel.preparer.select_top import merits
from modelsel.statistics.information import entropy

SETS = (
    "play_tennis", "balloons_adult_and_stretch", "balloons_adult_or_stretch", "balloons_yellow_small",
    "balloons_yellow_small_or_adult_and_stretch", "contact_lenses", "monks1_train", "monks2_train", "monks3_train",
)  # fmt: skip


@pytest.fixture(scope="module")
def seeds(reference) -> dict:
    return json.loads((reference / "seeds.json").read_text())


def scored(task, score, rows=None) -> dict[str, float]:
    found = merits(task, positions(task) if rows is None else np.array(rows), score)
    return {feature.name: value for feature, value in zip(task.features, found, strict=True)}


@pytest.mark.parametrize("name", SETS)
def test_entropy_and_gains_of_the_whole_set(seeds, reference_task, name):
    task = reference_task(name)
    assert entropy(np.bincount(task.target)) == pytest.approx(seeds[name]["entropy"], abs=1e-12)
    assert scored(task, "gain") == pytest.approx(seeds[name]["gains"], abs=1e-12)


def test_gains_inside_the_branches_of_outlook_and_gain_ratios_at_the_root(seeds, reference_task):
    task = reference_task("play_tennis")
    for branch in ("sunny", "rain"):
        expected = seeds[f"play_tennis_{branch}"]
        found = scored(task, "gain", expected["rows"])
        assert {name: found[name] for name in expected["gains"]} == pytest.approx(expected["gains"], abs=1e-12)
    assert scored(task, "gain_ratio") == pytest.approx(seeds["play_tennis_gain_ratio_root"], abs=1e-12)


def test_quinlans_example_of_an_unknown_outlook(seeds, reference_task):
    task, example = reference_task("play_tennis"), seeds["play_tennis_D12_outlook_missing"]
    values = task.values.copy()
    values[example["row_index"], 0] = np.nan
    unknown, expected = replace(task, values=values), example["scores"]
    assert scored(unknown, "gain")["Outlook"] == pytest.approx(expected["gain_c45"], abs=1e-12)
    assert scored(unknown, "gain_ratio")["Outlook"] == pytest.approx(expected["gain_ratio_c45"], abs=1e-12)
    known = 13 / 14 * expected["symmetrical_uncertainty_known"]
    assert scored(unknown, "symmetric_uncertainty")["Outlook"] == pytest.approx(known, abs=1e-12)
