"""An exam from Python and from a terminal: the same answers, the same words."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import modelsel
from exam_tests.conftest import errors, guess
from modelsel.cli.dispatch import main
from modelsel.core.errors import DataError
from modelsel_exam.commands import exam as commands
from modelsel_exam.exams import LocalExam
from modelsel_exam.sit import ExamSession

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


def test_every_option_of_a_command_has_an_argument_in_its_twin() -> None:
    found: dict[str, set[str]] = {}
    module = ast.parse(Path(commands.__file__).read_text())
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            calls = [
                one for one in ast.walk(node) if isinstance(one, ast.Call) and getattr(one.func, "attr", "") == "add_argument"
            ]
            found[node.name] = {_name(call) for call in calls}
    taken = set(inspect.signature(modelsel.create_exam).parameters)
    assert found["create"] <= taken, found["create"] - taken
    renamed = {"asker": "name", "folder": "self"}
    options = {renamed.get(name, name) for name in found["answer"]} - {"json"}
    assert options <= set(inspect.signature(LocalExam.answer).parameters)
    assert set(commands.COMMANDS) - {"create", "serve"} <= set(dir(LocalExam))


def _name(call: ast.Call) -> str:
    dest = [
        keyword.value.value for keyword in call.keywords if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant)
    ]
    words = [str(arg.value) for arg in call.args if isinstance(arg, ast.Constant)]
    return str(dest[0]) if dest else max(words, key=len).lstrip("-").replace("-", "_")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--release", "passfail", "--pass", "7"], "no target, --target-rate"),
        (["--release", "ladder", "--resolution", "fine"], "'fine' is no step"),
        (["--release", "grid", "--resolution", "0"], "0 is no step"),
        (["--looks", "-3"], "no budget, --looks"),
        (["--nats", "0"], "no budget, --nats"),
        (["--nats", "13.8"], "a budget of 13.8 nats admits no answer, --nats"),
        (["--release", "ladders"], "no way to show answers"),
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
