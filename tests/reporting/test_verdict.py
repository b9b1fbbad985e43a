"""The closing words, as golden files: rewrite them with MODELSEL_GOLDEN=write, and read what changed."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from modelsel.core.outcome import CountedRows, FloorFacts, TestResult
from modelsel.record.folder import RunFolder
from modelsel.record.sweep import JobResult
from modelsel.reporting import page
from modelsel.reporting.screen import COLUMNS, LINES
from modelsel.reporting.sweep import SweepJob, text_table
from modelsel.reporting.verdict import BaselineLine, alike, brief, cross_validated, say_score, verdict

GOLDEN = Path(__file__).with_name("golden")


def compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("MODELSEL_GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("state", ["tested", "untested", "refused", "replayed"])
def test_the_verdict_reads_as_agreed(state, small, recorded):
    study = small.finished() if state == "tested" else getattr(small, state)(small.finished())
    folder = recorded(study)
    text = verdict(folder, here=folder.root.parent)
    compare(f"verdict_{state}.txt", re.sub(r"\d{8}-\d{6}-\w{8}", "RUN", text))


@pytest.mark.parametrize("state", ["tested", "untested", "refused", "replayed"])
def test_the_terminal_shows_one_screen(state, small, recorded):
    study = small.finished() if state == "tested" else getattr(small, state)(small.finished())
    folder = recorded(study)
    text = brief(folder, here=folder.root.parent)
    assert len(text.splitlines()) <= LINES
    assert all(len(line) <= COLUMNS for line in text.splitlines())
    compare(f"brief_{state}.txt", re.sub(r"\d{8}-\d{6}-\w{8}", "RUN", text))


@pytest.mark.parametrize(("folds", "said"), [(3, "3 folds are too few to tell 1 other"), (10, "the data cannot tell 1 other")])
def test_where_folds_are_too_few_it_is_not_the_data(small, folds: int, said: str) -> None:
    outcome = small.finished().outcome
    assert alike(outcome.but(scheme={**outcome.scheme, "folds": folds})).startswith(said)


def test_a_long_finding_is_wrapped_above_the_winner_and_not_cut(small, recorded):
    study = small.finished()
    long = {"code": "LONG", "severity": "critical", "message": "word " * 60 + "end", "do": ""}
    folder = recorded(replace(study, outcome=study.outcome.but(findings=(*study.outcome.findings, long))))
    said = " ".join(brief(folder).split())
    assert f"LONG (critical): {long['message']} OVERLAP" in said
    assert said.index("LONG") < said.index("winner")
    assert said.endswith("`modelsel explain LONG` tells of the gravest finding")


def test_a_run_elsewhere_is_named_by_its_whole_path(small, recorded):
    folder = recorded(small.finished())
    assert str(folder.report) in verdict(folder, here=Path("/somewhere/else"))


def test_without_tracking_no_ui_is_offered(small, recorded, monkeypatch):
    folder = recorded(small.finished())
    monkeypatch.setattr(RunFolder, "config", lambda self: {"tracking": {"kind": "off"}})
    assert "modelsel ui" not in verdict(RunFolder(folder.path))


def test_a_sweep_ends_in_one_table(small):
    outcome = small.untested(small.finished()).outcome
    jobs = [
        SweepJob("dataset=iris", JobResult(0, ("dataset=iris",)), outcome),
        SweepJob("dataset=breast_cancer seed=1", JobResult(1, ("dataset=breast_cancer", "seed=1"), 3), None),
    ]
    compare("sweep.txt", text_table(jobs))


def test_a_sweep_shows_no_test_score(small):
    assert "0.2000" not in text_table([SweepJob("a", JobResult(0, ("a=1",)), small.finished().outcome)])


def test_units_are_named_with_the_claim_and_a_cap_with_what_is_above_it() -> None:
    shown = TestResult(0.1, 17, 171, 1, False, 4.0, 0.0, (0.02, 0.3), 0.95, "warn", "full", unit="patient_id", units=23)
    assert say_score(shown).endswith(" over 171 rows in 23 patients; for patients of these sizes")
    capped = replace(shown, errors=None, cap=2.5, above=CountedRows(rows=3, interval=(0.0, 0.1)))
    assert "a row counts at most 2.5, and 3 of 171 rows lost more, [0.0000, 0.1000] of all" in say_score(capped)


@pytest.mark.parametrize("said", [True, False])
def test_a_caution_of_the_correction_stands_below_it(small, said: bool) -> None:
    outcome = small.finished().outcome
    beside = {"method": "bbc", "mean": 0.49, "low": 0.0, "high": 0.6, **({"caution": "stays optimistic"} if said else {})}
    lines = cross_validated(outcome.but(winner={**outcome.winner, "corrected": beside}))
    assert ("stays optimistic" in lines) is said


def test_a_baseline_has_the_spread_of_its_folds_where_there_is_one() -> None:
    said = {"id": "a", "learner": "majority", "candidate": False, "reason": ""}
    found = [BaselineLine.of(FloorFacts(**said, cv=cv)) for cv in ({"mean": 0.4, "se": 0.1}, {"mean": 0.4, "se": None}, None)]
    assert [str((one.mean, one.se)) for one in found] == ["(0.4, 0.1)", "(0.4, nan)", "(nan, nan)"]


def test_that_a_study_is_of_a_sample_stands_at_the_head(small, recorded):
    said = "a sample: 50 of 90 rows, drawn by classes; folds, final model and test are of these, and 40 take no part"
    study = small.finished()
    finding = {"code": "SAMPLED", "severity": "info", "message": said, "do": ""}
    folder = recorded(replace(study, outcome=study.outcome.but(findings=(*study.outcome.findings, finding))))
    for text in (verdict(folder), brief(folder)):
        words = " ".join(text.split())
        assert words.index(said) < words.index("winner ")
    page_head, _, _ = page.render(folder).partition('<nav aria-label="Contents">')
    assert f"This is {said}." in page_head
