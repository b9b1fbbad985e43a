"""Nothing that fails after the answer is on record loses it: every statement that follows is made to fail in turn."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import modelsel
from modelsel.core.errors import ModelselError
from modelsel.core.outcome import TestResult
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.page import markdown
from modelsel.ledger.database.store import WriteTransaction
from tests.guard.studies import Study, numbers

PACKAGE = str(Path(modelsel.__file__).parent)
ROOMS = tuple(f"{PACKAGE}/{room}" for room in ("guard", "ledger", "study"))
Statement = tuple[str, int]


class Fault(Exception):
    """What the i-th statement raises instead of being run."""


@contextmanager
def faults(at: Statement | None) -> Iterator[list[Statement]]:
    """Notes the statements of our rooms that run after the reveal was written; that at `at` raises, once."""
    seen: list[Statement] = []
    written: list[bool] = []
    real = WriteTransaction.append

    def append(self: WriteTransaction, kind: str, facts: Any) -> Any:
        entry = real(self, kind, facts)
        if kind == "reveal":
            written.append(True)
        return entry

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(ROOMS):
            return None
        if event == "line" and written:
            place = (frame.f_code.co_filename, frame.f_lineno)
            seen.append(place)
            if place == at:
                sys.settrace(None)
                raise Fault("made to fail")
        return trace

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WriteTransaction, "append", append)
        sys.settrace(trace)
        try:
            yield seen
        finally:
            sys.settrace(None)


def attempted(look: Callable[[], Any], at: Statement | None) -> tuple[Any, list[Statement]]:
    """What a look returns, or the exception that came instead; and the statements after the reveal."""
    with faults(at) as seen:
        try:
            return look(), seen
        except (Fault, ModelselError) as error:
            return error, seen


@pytest.mark.slow
def test_whatever_fails_after_the_reveal_the_answer_is_kept_and_the_ledger_readable(tmp_path: Path) -> None:
    study = Study(numbers(60), tmp_path / "whole", candidates=("a", "b"))
    whole, statements = attempted(study.look, None)
    places = list(dict.fromkeys(statements))
    assert len(places) > 60
    shown = 0
    for number, place in enumerate(places):
        one = study.but(home=tmp_path / str(number))
        answer, seen = attempted(one.look, place)
        assert place in seen, place
        shown += isinstance(answer, TestResult)
        again = one.look()
        assert (again.score, again.errors, again.look, again.interval) == (whole.score, whole.errors, 1, whole.interval), place
        report = audit(one.gate())
        assert report["ledger"]["intact"], place
        (looks,) = [[look for look in test["looks"] if not look["replay"]] for test in report["test_sets"]]
        assert [look["look"] for look in looks] == [1], place
    assert shown > len(places) / 2  # what tells anchors and judges the answer may fail without anybody losing sight of it


def test_a_development_set_of_a_million_rows_has_an_answer_and_an_audit(home: Path) -> None:
    study = Study(numbers(), home)
    sealing = study.sealing()
    request = study.request(sealing)
    gate = study.gate()
    result = gate.look(replace(request, selected=replace(request.selected, cv_rows=1_000_000, tried=50)))
    (one,) = audit(gate, sealing)["test_sets"]
    assert result.errors is not None
    assert one["choices"]["carried"] == 10**15
    assert "1,000,000,000,000,000" in markdown(audit(gate))


@pytest.mark.slow
def test_a_study_whose_record_fails_says_the_answer_that_it_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("dataset=iris", "space=[majority]", "tracking=off", "scheme.folds=2", "name=kept")
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "whole").mkdir()
    monkeypatch.chdir(tmp_path / "whole")
    with faults(None) as seen:
        whole = modelsel.run(*words).test
    assert whole is not None
    own = [place for place in dict.fromkeys(seen) if place[0].startswith(f"{PACKAGE}/study/")]
    assert len(own) > 15
    told = 0
    for number, place in enumerate(own):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("MODELSEL_HOME", str(folder / "home"))
        with faults(place), pytest.raises(Fault) as caught:
            modelsel.run(*words)
        told += f"score {whole.score:.6g}" in " ".join(getattr(caught.value, "__notes__", ()))
        again = modelsel.run(*words).test
        assert again is not None
        assert (again.score, again.replay, again.look) == (whole.score, True, 1)
    assert told >= len(own) - 8  # the rest closes the stage of the look, or comes after all is on record: a replay shows it
