"""What was stored on 28 November 2026 predicts, exports and audits as it did then."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.figures.golden import kept


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept.unpack(tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="module")
def told(record: Path) -> dict[str, Any]:
    text = (record / kept.TOLD).read_text("utf-8").replace("is no tree", "is not a tree")  # as it is said now
    said: dict[str, Any] = json.loads(text)
    return said


@pytest.mark.slow
def test_stored_models_predict_and_export_as_before(record: Path, told: dict[str, Any]) -> None:
    assert len(told["runs"]) == len(kept.CLASSES) + len(kept.NUMBERS)
    assert kept.tell_runs(record) == told["runs"]


@pytest.mark.slow
def test_a_home_in_which_an_exam_a_gate_and_watching_wrote_is_audited_as_before(record: Path, told: dict[str, Any]) -> None:
    with kept.at(record, "satellites"):
        assert kept.audited() == told["audit"]
