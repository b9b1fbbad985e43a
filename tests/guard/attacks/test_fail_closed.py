"""When something cannot be written, nothing is shown: each kind of entry, a home that is read-only, racers on one ledger."""

import multiprocessing
import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import modelsel.guard.gate as gate_module
from modelsel.core.errors import ModelselError, StoreError
from tests.extras import needs
from tests.guard.studies import Rule, Study, numbers

FORK = multiprocessing.get_context("fork")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["seal", "selection", "intent", "reveal"])
def test_a_write_that_fails_shows_nothing_whichever_it_is(home: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    study, opened = Study(numbers(), home), []
    real = gate_module.truth
    monkeypatch.setattr(gate_module, "truth", lambda *parts: (opened.append(kind), real(*parts))[1])
    engine = study.gate().session.ledger._engine
    refusal = (
        f"CREATE TRIGGER full BEFORE INSERT ON entries WHEN NEW.kind = '{kind}' BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    )
    with engine.begin() as connection:
        connection.execute(text(refusal))
    with pytest.raises(ModelselError, match="disk full"):
        study.look()
    assert opened == (["reveal"] if kind == "reveal" else [])
    written = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b'"errors"' not in written
    with engine.begin() as connection:
        connection.execute(text("DROP TRIGGER full"))
    other = study.but(rule=Rule(1)).look() if kind == "reveal" else None
    result = study.look()
    assert (result.look, result.replay) == (1, False)
    assert other is None or other.look == 2  # what was never shown had counted meanwhile


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="modelsel-home-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def _look_without_rights(home: Path, answers: Any) -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(pwd.getpwnam("nobody").pw_gid)
        os.setuid(pwd.getpwnam("nobody").pw_uid)
    try:
        answers.put(("answered", str(Study(numbers(), home, rule=Rule(1)).look())))
    except ModelselError as error:
        answers.put((type(error).__name__, error.exit_code))


@pytest.mark.parametrize("used", [False, True], ids=["an empty home", "a home with a ledger"])
def test_a_home_that_may_only_be_read_shows_no_score(open_folder: Path, used: bool) -> None:
    home = open_folder / "home"
    home.mkdir()
    if used:
        Study(numbers(), home).look()
    for path in [*home.rglob("*"), home]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    answers = FORK.Queue()
    child = FORK.Process(target=_look_without_rights, args=(home, answers))
    child.start()
    found = answers.get(timeout=60)
    child.join()
    home.chmod(0o755)
    assert found == (StoreError.__name__, 6)


def _race(url: str, home: Path, column: int, start: Any, answers: Any) -> None:
    study = Study(numbers(), home, settings={"ledger": url, "anchors": (), "declared_space": None}, rule=Rule(column))
    start.wait()
    try:
        answers.put(study.look().look)  # what the other answer costs depends on whether it is on record already
    except ModelselError as error:
        answers.put(str(error))


def race_on(url: str, homes: list[Path]) -> None:
    """Each home looks with a model of its own, all at once: the looks are numbered without gap or tie."""
    spawn = multiprocessing.get_context("spawn")
    answers, start = spawn.Queue(), spawn.Barrier(len(homes))
    racers = [
        spawn.Process(target=_race, args=(url, home, column, start, answers), daemon=True) for column, home in enumerate(homes)
    ]
    for racer in racers:
        racer.start()
    found = sorted((answers.get(timeout=120) for _ in racers), key=str)
    for racer in racers:
        racer.join()
    assert found == list(range(1, len(homes) + 1))


@pytest.mark.soak
def test_twenty_races_of_two_processes_for_the_first_look(tmp_path: Path) -> None:
    """Each race in a home of its own: a home remembers its looks whatever ledger the next study names."""
    for turn in range(20):
        home = tmp_path / str(turn)
        home.mkdir()
        race_on(f"sqlite:///{home / 'ledger'}", [home, home])


@pytest.mark.soak
def test_another_ledger_in_the_same_home_does_not_start_the_count_again(home: Path) -> None:
    home.mkdir()
    race_on(f"sqlite:///{home / 'ledger'}", [home, home])
    with pytest.raises(AssertionError, match=r"\[3, 4\]"):
        race_on(f"sqlite:///{home / 'another'}", [home, home])


@pytest.mark.slow
def test_two_homes_race_on_a_server(tmp_path: Path) -> None:
    needs("psycopg")
    from modelsel.ledger.home import Home
    from tests.ledger.postgresql import Server

    homes = [tmp_path / "a", tmp_path / "b"]
    Home(homes[0]).key()
    (homes[1] / "keys").mkdir(parents=True)
    shutil.copy(homes[0] / "keys" / "user", homes[1] / "keys" / "user")
    with Server() as server:
        race_on(server.url, homes)
