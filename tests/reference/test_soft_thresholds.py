"""C4.5's soft thresholds: the limits that release 8 prints for its pruned trees."""

import re

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.learner.tree import Splits, Tree
from modelsel.softener.c45 import C45
from modelsel.tree.softening import ramps

OTHER_TREE = {"glass", "hepatitis"}  # grown or raised apart, see test_error_based.py
PRINTED = re.compile(r"Test (\S+) <> \S+\n\s+Lower = (\S+), Upper = (\S+)")


def limits_of(task):
    """(feature, lower, upper) of every numeric test. The cut itself may be one observed value off: single precision there."""
    learner = Tree(
        make("criterion", "gain_ratio", average_gain=True, numeric_penalty=True),
        Splits(nominal="multiway", threshold="observed"),
        "fractional",
        min_leaf=2,
        min_leaf_rule="c45",
        collapse=True,
        pruner=make("pruner", "error_based", confidence=0.25, bound="c45_table"),
    )
    cut = learner.fit(task, np.arange(len(task)), np.random.default_rng(0)).cut
    widths = C45().widths(cut, task, np.arange(len(task)))
    for node in np.flatnonzero(ramps(cut.tree)):
        c = float(cut.tree.threshold[node])
        yield task.features[cut.tree.feature[node]].name, c - widths.below[node], c + widths.above[node]


def test_limits_are_those_that_release_8_prints(enough, answers, reference_task):
    compared = 0
    for name, reference in answers("c45r8/*").items():
        printed = PRINTED.findall(reference["runs"].get("soft_m2_c25", {}).get("printed_output", ""))
        if not printed or name in OTHER_TREE:
            continue
        expected = sorted((feature, float(low), float(high)) for feature, low, high in printed)
        found = sorted(limits_of(reference_task(name)))
        assert [feature for feature, *_ in found] == [feature for feature, *_ in expected], name
        for ours, theirs in zip(found, expected, strict=True):
            assert ours[1:] == pytest.approx(theirs[1:], rel=2e-5, abs=2e-5), (name, ours, theirs)
            compared += 1
    if not compared:
        pytest.skip("no soft thresholds in the reference")
    assert enough(compared, 90)
