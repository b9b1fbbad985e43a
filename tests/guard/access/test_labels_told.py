"""What is told of labels without predictions, at its price by counting; and anchors that cannot be reached."""

from collections.abc import Mapping
from dataclasses import replace
from math import comb, log
from pathlib import Path

import numpy as np
import pytest

from tests.guard.studies import Study, numbers


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ones", [0, 60])
def test_class_counts_cost_one_of_all_ways_to_share_the_rows_out_or_more(home: Path, classes: int, ones: int) -> None:
    """120 test rows; what the intent states is the most that any counts could cost."""
    target = np.zeros(400, np.int32)
    study = Study(numbers(), home)
    tested = np.sort(np.random.default_rng(0).permutation(400)[:120])
    target[tested[:ones]] = 1
    study = study.but(task=replace(numbers(), classes=("no", "yes", "perhaps")[:classes], target=target))
    gate = study.gate()
    names, counts, price = gate.class_counts(study.sealing())
    assert counts == ((120 - ones, ones) if classes == 2 else (120 - ones, ones, 0))
    assert len(names) == classes
    ways = log(comb(120 + classes - 1, classes - 1))
    assert price == pytest.approx(max(ways, log(121 - ones) + log(ones + 1)))
    (intent,) = [entry.facts for entry in gate.session.ledger.entries() if entry.kind == "intent"]
    assert intent["worst"] == pytest.approx(max(ways, classes * log(120 / classes + 1)))


class Unreached:
    name = "mlflow"

    def witness(self, facts: Mapping[str, str]) -> None:
        raise OSError("no route")

    def recall(self, testset: str) -> list[Mapping[str, str]]:
        return []


@pytest.mark.parametrize("policy", ["off", "warn"])
def test_an_anchor_that_cannot_be_told_is_named_under_every_policy(home: Path, policy: str) -> None:
    _, gate = Study(numbers(), home, policy=policy, anchors=(Unreached(),)).run()
    assert any("mlflow" in one.message and "no route" in one.message for one in gate.findings)


def test_an_anchor_that_cannot_be_asked_is_named_when_rows_are_sealed(home: Path) -> None:
    class Deaf(Unreached):
        def recall(self, testset: str) -> list[Mapping[str, str]]:
            raise OSError("no answer")

    study = Study(numbers(), home, anchors=(Deaf(),))
    gate = study.gate()
    gate.seal(study.sealing())
    assert any("no answer" in one.message for one in gate.findings)
    assert len(set(gate.findings)) == len(gate.findings)
