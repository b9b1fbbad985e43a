"""What the guard costs: nothing where nothing is remembered, and no more for a long memory than it must."""

from dataclasses import replace
from pathlib import Path

import pytest

from modelsel.guard import fingerprints, gate
from tests.guard.studies import Study, numbers


def test_nothing_is_fingerprinted_where_nothing_is_remembered(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("a fingerprint was made")

    monkeypatch.setattr(gate, "subject_of", asked)
    study = Study(numbers(), home, policy="off", settings={"remember": False})
    assert study.look().score is not None
    with pytest.raises(AssertionError, match="fingerprint"):
        replace(study, settings={}).look()


def test_no_portrait_is_drawn_of_a_table_of_which_nothing_is_sealed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(fingerprints, "variables", lambda *_: drawn.append(1))
    study = Study(numbers(), home, test=0.0)
    study.gate().select(study.sealing(), study.request(study.sealing()).selected)
    assert not drawn
    Study(numbers(), home).choose_only()
    assert drawn
