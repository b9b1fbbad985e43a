"""The door: help, unknown commands, errors in a line, exit codes."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from modelsel.api.commands.words import all_commands
from modelsel.cli import errors as errors_module
from modelsel.cli.dispatch import module_of
from modelsel.core.errors import DataError, Problem

Command = Callable[..., object]


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_help_names_every_command_and_exit_code(modelsel: Command, words: tuple[str, ...]) -> None:
    ran = modelsel(*words)
    assert ran.code == 0
    assert all(f"  {name} " in ran.out for name in all_commands())
    assert all(f"{code} " in ran.out for code in (0, 1, 2, 3, 4, 5, 6, 7, 130))
    assert max(map(len, ran.out.splitlines())) <= 120


@pytest.mark.parametrize("name", all_commands())
def test_every_command_is_a_file_with_a_help_of_its_own(modelsel: Command, name: str) -> None:
    assert module_of(name).__doc__
    try:
        ran = modelsel(name, "--help")
    except SystemExit as stopped:  # argparse's own way to end a help text
        assert stopped.code == 0  # noqa: PT017
    else:
        assert ran.code == 0
        assert f"modelsel {name}" in ran.out


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("rnu", "MSEL-250: 'rnu' is not a command, command line; did you mean `modelsel run`?"),
        ("xyzzy", "MSEL-250: 'xyzzy' is not a command, command line; `modelsel --help` lists the commands"),
        ("dataset=iris", "MSEL-250: 'dataset=iris' is not a command, command line; write `modelsel run dataset=iris`"),
    ],
)
def test_an_unknown_command_is_said(modelsel: Command, word: str, said: str) -> None:
    ran = modelsel(word)
    assert (ran.code, ran.out, ran.err.splitlines()) == (2, "", [said, "`modelsel explain MSEL-250` says more"])


@pytest.mark.parametrize(
    "words",
    [("test",), ("report", "a", "b"), ("export", "latest", "--to", "word"), ("run", "--foo"), ("run", "--config-path", "x"),
     ("run", "--cfg", "job", "-m"), ("completion", "tcsh"), ("audit", "--fail-on", "no"), ("run", "--experimental-rerun", "x")],
)  # fmt: skip
def test_arguments_that_are_not_understood_are_configuration_errors(modelsel: Command, words: tuple[str, ...]) -> None:
    ran = modelsel(*words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("MSEL-251: ")
    assert f"`modelsel {words[0]}`" in ran.err


@pytest.mark.parametrize(
    ("words", "setting"),
    [(("--folds", "5"), "scheme.folds=5"), (("--seed=3",), "seed=3"), (("--n-jobs", "2"), "pool.n_jobs=2")],
)
def test_a_flag_that_is_a_setting_is_answered_with_it(modelsel: Command, words: tuple[str, ...], setting: str) -> None:
    ran = modelsel("plan", "dataset=iris", *words)
    assert ran.code == 2
    assert f"settings are overrides: write {setting}\n" in ran.err


def test_the_version_is_the_installed_one(modelsel: Command) -> None:
    from importlib.metadata import version

    assert modelsel("--version").out == f"modelsel {version('modelsel')}\n"


def test_python_dash_m_is_the_same_door(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "modelsel", "rnu"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("MSEL-250")


def test_an_internal_error_is_one_line_and_its_traceback_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> int:
        raise ZeroDivisionError("by canary://me:pa55word@host")

    assert errors_module.exit_code(broken) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("MSEL-001: internal error: ZeroDivisionError: by canary://me:***@host, ")
    written = Path(line.rpartition("traceback in ")[2])
    text = written.read_text()
    written.unlink()
    assert "Traceback (most recent call last)" in text
    assert "in broken" in text
    assert "pa55word" not in text


def test_errors_of_modelsel_are_their_problems_and_their_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    def unusable() -> int:
        raise DataError(Problem("MSEL-1", "a", "b", "c"), Problem("MSEL-2", "d"))

    assert errors_module.exit_code(unusable) == 3
    assert capsys.readouterr().err == "MSEL-1: a, b; c\nMSEL-2: d\n`modelsel explain MSEL-1` says more; so for MSEL-2\n"


def test_an_interrupt_ends_with_130_and_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    assert errors_module.exit_code(interrupted) == 130
    assert "goes on where it stopped" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("explain", "MSEL-250")])
def test_a_reader_who_has_seen_enough_is_told_nothing(words: tuple[str, ...]) -> None:
    ran = subprocess.Popen(
        [sys.executable, "-m", "modelsel", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert ran.stdout is not None
    ran.stdout.close()
    assert (ran.communicate()[1], ran.returncode) == ("", 1)
