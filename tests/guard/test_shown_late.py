"""An answer that no run lived to put on record: shown by the next run as what it is, at the price that was paid for it."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import modelsel
from modelsel.core.outcome import TestResult
from modelsel.guard.findings.look_findings import shown_late
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.page import markdown
from modelsel.record.agreement import disagreements
from modelsel.record.folder import RunFolder
from modelsel.reporting.verdict import look
from tests.guard.studies import Rule, Study, numbers


def asked(study: Study, unfinished: set[str]) -> TestResult:
    gate, sealing = study.gate(), study.sealing()
    return gate.look(replace(study.request(sealing), unfinished=unfinished.__contains__))


def test_an_answer_on_no_record_keeps_its_price(tmp_path: Path) -> None:
    study = Study(numbers(), tmp_path)
    first = asked(study, set())
    late = asked(study, {"runs/study/1"})
    assert (late.replay, late.unseen, late.price, late.look, late.score) == (True, True, first.price, 1, first.score)
    assert look(late).startswith("1st look at these rows, computed before by a run that did not finish, shown first now, price")
    again = asked(study, set())
    assert (again.replay, again.unseen, again.price) == (True, False, 0.0)
    assert look(again) == "a replay of an answer that was given before: no new look"


def test_the_nats_so_far_are_a_running_total(tmp_path: Path) -> None:
    """Of looks that were committed to, which pay for their index alone, and of others; the last line is the head's sum."""
    studies = [Study(numbers(), tmp_path, rule=Rule(cut=cut)) for cut in (0.0, 0.2, 0.4, 0.6)]
    studies[0].look()
    gate, sealing = studies[2].gate(), studies[2].sealing()
    gate.commit(sealing, [studies[2].sealing().spec_id, studies[3].sealing().spec_id])
    for study in (studies[1], studies[2], studies[3], studies[0]):
        study.look()
    report = audit(gate, sealing)
    text = markdown(report)
    head, _, *lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][:7]
    column = [float(line[head.index("nats so far")]) for line in lines]
    assert len(column) == 5
    assert all(before <= after for before, after in pairwise(column))
    assert f"{column[-1]:.2f} nats spent" in text


@pytest.mark.slow
def test_a_run_that_ends_between_look_and_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("dataset=wine", "learner=naive_bayes", "scheme.folds=3", "tracking=off", "pool=sequential")

    def ended(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "save", ended)
        with pytest.raises(KeyboardInterrupt):
            modelsel.run(*words)
    late = modelsel.run(*words)
    assert late.test.unseen
    assert late.test.price > 0
    assert shown_late(1, late.test.price).message in [one["message"] for one in late.findings]
    again = modelsel.run(*words)
    assert (again.test.replay, again.test.unseen, again.test.price) == (True, False, 0.0)
    assert disagreements(RunFolder(Path(late.folder))) == []
