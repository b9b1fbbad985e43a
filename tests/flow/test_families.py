"""`alpha: path` as typed: what it stands for is on record in every run that used it; a second run takes it from the first."""

import pytest

from modelsel.record.folder import RunFolder
from modelsel.runner.journal import RecordHeader, raw, scan

STUDY = ("run", "dataset=wine", "learner=cart", "learner.pruner={kind: cost_complexity, alpha: path}", "final_test=false")


def families() -> list[bytes | None]:
    """Records of families in the newest run, as bytes."""
    segments = RunFolder.open("latest").journal.glob("*.segment")
    found = [entry for segment in segments for entry in scan(segment) if isinstance(entry, RecordHeader)]
    return [raw(entry.place) for entry in found if entry.facts["kind"] == "family"]


@pytest.mark.slow
def test_a_family_is_written_down_and_taken_from_the_run_before(modelsel):
    assert modelsel(*STUDY).code == 0
    first, winner = families(), RunFolder.open("latest").outcome().winner
    assert len(first) == 1
    again = modelsel(*STUDY)
    assert again.code == 0
    assert families() == first, "copied byte for byte"
    assert "10 of 10 cells were found in a journal" in again.err
    assert again.outcome.winner == winner
    assert modelsel(*STUDY, "seed=1").code == 0
    assert families() != first, "another seed is another fit"


@pytest.mark.slow
def test_inside_outer_folds_each_analysis_part_has_a_family_of_its_own(modelsel):
    words = (*STUDY, "outer=kfold", "outer.folds=3", "scheme.folds=3")
    done = modelsel(*words)
    assert done.code == 0, done.err
    first = families()
    assert len(first) == len(set(first)) == 4
    assert modelsel(*words).code == 0
    assert sorted(families(), key=str) == sorted(first, key=str)
