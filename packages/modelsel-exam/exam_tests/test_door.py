"""An exam from Python and from a terminal: the same answers, the same words."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelsel
from exam_tests.conftest import errors, guess
from modelsel.cli.arguments import Arguments
from modelsel.cli.dispatch import main
from modelsel.core.errors import DataError
from modelsel_exam.commands import exam as commands
from modelsel_exam.exams import LocalExam, RemoteExam
from modelsel_exam.gates import LoopGate
from modelsel_exam.options import AnswerOptions, Wanted, add_options, of_answers, of_exams, of_gates, parts_of
from modelsel_exam.sit import ExamSession
from tests.extras import needs

Make = Callable[..., ExamSession]


@pytest.mark.slow
def test_frames_and_an_answer_in_one_call(exam: Make) -> None:
    made = exam(release="full")
    taken = modelsel.exam(made.folder)
    assert list(taken.questions.columns) == ["token", "age", "income", "city"]
    assert len(taken.development) == 210
    shown = taken.answer(np.where(taken.questions.income > 3, "yes", "no"), name="ann")
    assert shown["errors"] == errors(made, guess(made))
    assert taken.answer(guess(made), name="bob")["replay"]
    assert taken.board().asker.tolist() == ["ann"]
    assert taken.status()["answers"] == 1
    with pytest.raises(DataError, match="3 predictions for 90"):
        taken.answer(["yes"] * 3, name="ann")
    assert isinstance(taken, LocalExam)
    assert taken.audit()["exam"]["whole"]
    assert len(taken.close()["answers"]) == 1


def test_an_exam_is_made_from_python(loans: Path) -> None:
    made = modelsel.create_exam("loans.csv", "exam", "default", "split.test=0.5", release="ladder", resolution=0.05)
    assert made.terms["rows"] == {"development": 150, "questions": 150}
    assert "150 questions, shown as ladder" in repr(made)


@pytest.mark.parametrize(("made", "declared"), [(modelsel.create_exam, of_exams), (modelsel.create_gate, of_gates)])
def test_functions_of_python_have_the_options_of_the_table_with_their_defaults(made: Any, declared: Any) -> None:
    known = {one.name: one.default for one in inspect.signature(made).parameters.values() if one.kind is one.KEYWORD_ONLY}
    assert known == {one.name: one.default for one in declared()}


def test_commands_have_the_options_of_the_table_and_read_their_words() -> None:
    parser = Arguments("exam")
    names = add_options(parser, of_exams())
    assert Wanted(**vars(parser.parse_args([]))) == Wanted()
    assert set(names) == {one.name for one in fields(Wanted)} - {"loop"}
    words = ["--resolution", "0.1", "--looks", "0", "--pass", "0.2", "--all", "--nats", "20", "--ledger", "URL"]
    wanted = Wanted(**vars(parser.parse_args(words)))
    assert wanted == Wanted(resolution=0.1, looks=None, target_rate=0.2, all=True, nats=20.0, ledger="URL")
    parser = Arguments("gate")
    add_options(parser, of_gates())
    found = vars(parser.parse_args(["--pin", "a.py", "--pinned", "b.py", "--vetoes", "2"]))
    assert (found["pinned"], found["vetoes"], found["judged"]) == ([Path("a.py"), Path("b.py")], 2, 0.3)


def test_what_is_said_beside_an_answer_has_one_name_at_all_four_doors() -> None:
    needs("mcp"), needs("starlette")
    from modelsel_exam.serve import Tools
    from modelsel_exam.service import ExamService

    parser = Arguments("exam")
    assert add_options(parser, (one for name in ("forecast", "veto") for one in of_answers(name))) == ("forecast", "veto")
    read = vars(parser.parse_args(["--forecast", "0.1", "200", "--veto"]))
    assert (read["forecast"], read["veto"]) == ([0.1, 200.0], True)
    assert AnswerOptions(**vars(parser.parse_args([]))) == AnswerOptions()
    by_door = {
        "forecast": (LocalExam.answer, RemoteExam.answer, ExamService.answer),
        "veto": (LoopGate.propose, ExamService.propose, Tools.propose),
    }
    for name, doors in by_door.items():
        (declared,) = of_answers(name)
        assert {inspect.signature(door).parameters[name].default for door in doors} == {declared.default}
    tool = set(inspect.signature(Tools.hand_in).parameters) - {"self", "predictions", "context"}
    assert tool == {f"forecast_{part}" for part in parts_of("forecast")}
    assert {one.name for one in fields(AnswerOptions)} == set(by_door)


@pytest.mark.parametrize(("asked", "told"), [("?rate=0.1&rows=200", (0.1, 200.0)), ("", None)])
def test_an_address_names_the_parts_of_a_forecast_as_the_table_does(asked: str, told: tuple[float, float] | None) -> None:
    request = needs("starlette.requests").Request({"type": "http", "query_string": asked.lstrip("?").encode(), "headers": []})
    assert needs("modelsel_exam.web")._forecast(request) == told


def test_what_an_exam_is_asked_has_a_twin_in_python() -> None:
    assert set(commands.COMMANDS) - {"create", "serve"} <= set(dir(LocalExam))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--release", "passfail", "--pass", "7"], "not a target, --target-rate"),
        (["--release", "ladder", "--resolution", "fine"], "'fine' is not a step"),
        (["--release", "grid", "--resolution", "0"], "0 is not a step"),
        (["--looks", "-3"], "is not a budget, --looks"),
        (["--nats", "0"], "is not a budget, --nats"),
        (["--nats", "13.8"], "a budget of 13.8 nats admits no answer, --nats"),
        (["--release", "ladders"], "not a way to show answers"),
        (["split.tset=0.5"], "did you mean 'test'"),
    ],
)
def test_terms_that_cannot_be_are_said_and_nothing_is_made(
    loans: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["exam", "create", "loans.csv", "--target", "default", "exam", *words]) == 2
    assert said in capsys.readouterr().err
    assert not Path("exam").exists()


def test_table_and_folder_in_the_wrong_order(loans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exam", "create", "exam", "loans.csv", "--target", "default"]) == 2
    assert "the folder stands before its table; write loans.csv exam" in capsys.readouterr().err


@pytest.mark.slow
def test_an_exam_that_is_refused_leaves_no_half_of_one(loans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create = ["exam", "create", "loans.csv", "--target", "default"]
    assert main([*create, "first"]) == 0
    assert main([*create, "second"]) == 4
    assert not Path("second").exists()
    assert len([*Path("home", "exams").iterdir()]) == 1
    assert main([*create, "second", "--accept-overlap"]) == 0
    assert main(["exam", "creat", "x"]) == 2
    assert "did you mean 'create'" in capsys.readouterr().err


@pytest.mark.slow
def test_the_commands_in_order(loans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exam", "create", "loans.csv", "--target", "default", "exam", "--release", "full", "split.seed=3"]) == 0
    guess(ExamSession(Path("exam"))).to_csv("answer.csv", index=False)
    assert main(["exam", "answer", "exam", "answer.csv", "--as", "ann"]) == 0
    assert "look 1; 4.51 nats" in capsys.readouterr().out
    assert main(["exam", "status", "exam"]) == 0
    assert "ann: 1 answers, 4.51 nats, 19 answers left" in capsys.readouterr().out
    assert main(["exam", "board", "exam"]) == 0
    assert main(["exam", "audit", "exam"]) == 0
    assert main(["exam", "close", "exam"]) == 0
    assert "ann" in capsys.readouterr().out
    guess(ExamSession(Path("exam")), 2.0).to_csv("answer.csv", index=False)
    assert main(["exam", "answer", "exam", "answer.csv", "--as", "ann"]) == 4
    Path("answer.csv").write_text("token,prediction\nx,yes\n")
    assert main(["exam", "answer", "exam", "answer.csv", "--as", "ann"]) == 3
    assert main(["exam", "answer", "nowhere", "answer.csv", "--as", "ann"]) == 2
    assert main(["exam", "create", "loans.csv", "--target", "default", "exam"]) == 2
    assert main(["exam", "nonsense"]) == 2
    assert main(["exam"]) == 0
