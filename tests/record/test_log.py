"""study.log has what a study did; warnings are heard as well; nothing is written twice or left attached."""

import logging
from pathlib import Path

import pytest

from modelsel.record.folder import LOGGER, STUDY, RunFolder, log_study


def test_what_is_logged_stands_in_the_file_and_warnings_are_heard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = RunFolder.create(tmp_path, "study")
    with log_study(folder) as log:
        log.info("begun")
        LOGGER.warning("a store is slow")
    text = folder.log.read_text()
    assert "INFO begun" in text
    assert text.count("a store is slow") == 1
    assert "begun" not in capsys.readouterr().err


def test_an_error_that_ends_a_study_is_its_last_line_and_handlers_go(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "study")
    before = [*LOGGER.handlers], [*STUDY.handlers]
    with pytest.raises(RuntimeError), log_study(folder):
        raise RuntimeError("no more")
    assert "ended by RuntimeError: no more" in folder.log.read_text()
    assert ([*LOGGER.handlers], [*STUDY.handlers]) == before


def test_a_person_without_logging_of_their_own_hears_warnings_on_stderr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    with log_study(RunFolder.create(tmp_path, "study")):
        LOGGER.warning("a store is slow")
    assert capsys.readouterr().err == "a store is slow\n"
