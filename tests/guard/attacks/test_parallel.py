"""Honest studies beside each other: none is accused of what another one wrote in between."""

import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock, Timeout

from modelsel.api.commands.setup import ledger as doctors_lines
from modelsel.guard.access.integrity import mark
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.page import markdown
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.home import Home
from tests.guard.studies import Rule, Study, numbers

FORK = multiprocessing.get_context("fork")
GRAVE = ("high", "critical")


def being_marked(home: Path) -> bool:
    """Does somebody hold the lock of the state, as one who marks does?"""
    try:
        with FileLock(home / "state.lock", timeout=0):
            return False
    except Timeout:
        return True


def interleaved(monkeypatch: pytest.MonkeyPatch, study: Study) -> None:
    """Whenever the entries of the ledger were read, another process writes one and remembers how far it got."""
    read: Callable[[Ledger], Any] = Ledger.entries
    place, busy = Home(study.home), []

    def entries(ledger: Ledger, anew: bool = False) -> Any:
        found = read(ledger, anew)
        if not busy and not being_marked(study.home):
            busy.append(True)
            other = study.gate().session.ledger
            other.append("note", {"text": "another study", "at": "2026-01-01"})
            mark(place, other, other.url)
            busy.clear()
        return found

    monkeypatch.setattr(Ledger, "entries", entries)


def test_an_entry_written_after_the_ledger_was_read_was_not_cut_off(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(numbers(), home)
    study.look()
    interleaved(monkeypatch, study)
    gate = study.but(rule=Rule(1)).run()[1]
    assert not {"G070", "G071", "G072"} & {finding.code for finding in gate.findings}
    report = audit(study.gate())
    assert report["ledger"]["intact"] is True
    assert "The ledger is whole." in markdown(report)


@pytest.mark.slow
def test_a_look_that_an_anchor_saw_after_the_ledger_was_read_is_not_gone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(numbers(), home)
    study.look()
    asked = study.gate().session.witnesses.__class__.ask

    def looked_meanwhile(witnesses: Any, testset: str) -> Any:
        monkeypatch.undo()
        study.but(rule=Rule(1)).look()
        return asked(witnesses, testset)

    monkeypatch.setattr("modelsel.guard.access.session.AnchorSet.ask", looked_meanwhile)
    report = audit(study.gate())
    assert report["ledger"]["intact"] is True
    assert [look["look"] for look in report["test_sets"][0]["looks"]] == [1, 2]


def _study(home: Path, index: int, answers: Any) -> None:
    study = Study(numbers(120, seed=index), home, rule=Rule(index % 4))
    gates = [study.run()[1] for _ in range(2)]
    answers.put([finding.message for gate in gates for finding in gate.findings if finding.severity in GRAVE])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("studies", "at_once"), [(8, 8), pytest.param(200, 25, marks=(pytest.mark.soak, pytest.mark.timeout(5400)))]
)
def test_parallel_honest_studies_are_not_accused(home: Path, studies: int, at_once: int) -> None:
    answers = FORK.Queue()
    waiting = [FORK.Process(target=_study, args=(home, index, answers)) for index in range(studies)]
    running: list[Any] = []
    found: list[list[str]] = []
    while len(found) < studies:
        while waiting and len(running) < at_once:
            running.append(waiting.pop())
            running[-1].start()
        found.append(answers.get(timeout=900))
        running = [one for one in running if one.is_alive()]
    assert [grave for grave in found if grave] == []
    assert audit(Study(numbers(), home).gate())["ledger"]["intact"] is True


@pytest.mark.slow
def test_the_ledger_is_not_called_whole_beside_a_loss(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(numbers(), home)
    study.look()
    for path in home.glob("ledger.db*"):
        path.unlink()
    study.but(rule=Rule(1)).look()
    report = audit(study.gate())
    assert "G072" in {one["code"] for one in report["flags"]}
    page = markdown(report)
    assert "ledger is whole" not in page
    assert page.count("the record is not whole (G072)") == 2
    monkeypatch.setenv("MODELSEL_HOME", str(home))
    assert "not whole" in next(iter(doctors_lines()))[1]
