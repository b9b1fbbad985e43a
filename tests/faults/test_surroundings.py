"""Places, names and locales as they are met: nobody's home, a name that is not a text, a terminal without signs."""

import os
import pwd
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from modelsel.cli.dispatch import main
from tests.faults.conftest import TABLE, Said
from tests.faults.damage import BOMB

MAJORITY = ("run", *TABLE, "learner=majority")
LATIN = os.fsdecode(b"caf\xe9")


def _nobody(_id: int) -> NoReturn:
    raise KeyError("no such user")


def test_a_user_without_home_and_name_is_told_what_to_set(
    world: Path, ask: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "MODELSEL_HOME", "USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", _nobody)
    said = ask("audit", "shown")
    assert said.code == 6
    assert "set HOME, or MODELSEL_HOME" in said.err
    monkeypatch.setenv("MODELSEL_HOME", str(world / "home"))
    assert ask("audit", "shown").code == 0


def test_a_word_that_is_no_text_is_refused_before_anything_is_done(world: Path, ask: Callable[..., Said]) -> None:
    before = sorted(world.rglob("*"))
    said = ask(*MAJORITY, f"name={LATIN}")
    assert said.code == 2
    assert r"caf\udce9" in said.err
    assert sorted(world.rglob("*")) == before


@pytest.mark.slow
def test_a_folder_whose_name_is_no_text_is_refused_before_the_look(
    world: Path, ask: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    (world / LATIN).mkdir()
    (world / LATIN / "t.csv").write_bytes((world / "t.csv").read_bytes())
    monkeypatch.chdir(world / LATIN)
    said = ask(*MAJORITY)
    assert (said.code, "LC_ALL=C.UTF-8" in said.err) == (6, True)
    assert not list((world / LATIN).rglob("study.json"))


@pytest.mark.slow
def test_a_terminal_without_signs_gets_the_answer_of_the_look(world: Path) -> None:
    """As `LC_ALL=C` is where Python may not make it UTF-8."""
    spoken = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = (sys.executable, "-m", "modelsel", *MAJORITY, "final_test=true")
    done = subprocess.run(words, env={**os.environ, **spoken}, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert rb"\xb1" in done.stdout
    assert b"test" in done.stdout


def test_a_folder_in_the_place_of_latest_is_no_run_and_moves_aside(
    world: Path, ask: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELSEL_RUNS", "others")
    (world / "others" / "latest").mkdir(parents=True)
    (world / "others" / "latest" / "mine.txt").write_text("mine")
    assert ask("report", "latest").code == 2
    assert ask(*MAJORITY).code == 0
    assert (world / "others" / "latest").is_symlink()
    assert [path.read_text() for path in (world / "others").glob("latest*/mine.txt")] == ["mine"]


@pytest.mark.slow
@pytest.mark.parametrize("text", [BOMB, "learner: !!python/object/apply:os.mkdir [hostile]\n"], ids=["aliases", "tags"])
def test_a_configuration_of_ones_own_that_is_a_trap_is_refused_at_once(
    world: Path, ask: Callable[..., Said], text: str
) -> None:
    (world / "conf" / "experiment").mkdir(parents=True)
    (world / "conf" / "experiment" / "trap.yaml").write_text(text)
    began = time.process_time()
    said = ask("run", "--config-dir", "conf", "experiment=trap")
    assert (said.code, "trap" in said.err) == (2, True), said.err
    assert time.process_time() - began < 5
    assert not (world / "hostile").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_home_of_another_user_is_named(world: Path, ask: Callable[..., Said]) -> None:
    assert ask("audit", "shown").code == 0  # all that is imported is there before the user changes
    (world / "home").chmod(0o700)
    os.seteuid(65534)
    try:
        code = main(["audit", "shown"])
    finally:
        os.seteuid(0)
    assert code in (2, 5, 6)  # the runs may be another user's as well
