"""Runs that were made before there was a reading predict, export and report as they did then."""

import json
import re
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import modelsel

KEPT = Path(__file__).parent.parent / "figures" / "runs_before_readings"
ANSWERS = json.loads((KEPT / "answers.json").read_text("utf-8"))


@pytest.fixture(params=sorted(ANSWERS))
def old(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, object]]:
    """A run of then, and what it answered."""
    with zipfile.ZipFile(KEPT / f"{request.param}.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path, ANSWERS[request.param]


@pytest.mark.filterwarnings("ignore:levels that the model has not seen")
def test_it_predicts_as_then(old: tuple[Path, dict[str, object]]) -> None:
    run, said = old
    assert modelsel.predict(run, run / "new.csv").to_dict("list") == said["by_file"]
    outcome = modelsel.open_run(run)
    assert outcome.classes.tolist() == said["classes"]
    if "by_frame" in said:
        frame = pd.read_csv(run / "new.csv")
        assert modelsel.predict(outcome, frame).to_dict("list") == said["by_frame"]
        assert outcome.model.predict(frame).tolist() == said["model"]


@pytest.mark.parametrize("to", ["sql", "rules", "json", "dot"])
def test_it_is_exported_as_then(old: tuple[Path, dict[str, object]], to: str) -> None:
    run, said = old
    told = re.sub(
        r"^a missing value .*\n", "", str(modelsel.export(run, to)), flags=re.MULTILINE
    )  # a line that rules have since
    assert told == said[to]


def test_it_is_reported(old: tuple[Path, dict[str, object]]) -> None:
    run, _ = old
    outcome = modelsel.open_run(run)
    page = outcome.report().read_text("utf-8")
    assert outcome.winner["id"][:8] in page
