"""`modelsel.lock` against the ledger and git: each finding where it is due, at its line, and silence where nothing is wrong."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.guard.gate import Gate
from modelsel.guard.reporting.lint import LintReport, lint, lock_files
from modelsel.ledger.home import Home
from tests.guard.studies import Rule, Study, numbers


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git work tree, with a home beside it."""
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", "-C", str(folder), *identity, *words], capture_output=True, text=True, check=True).stdout


def commit(folder: Path) -> None:
    git(folder, "add", "modelsel.lock")
    git(folder, "commit", "-qm", "looks")


def look(work: Path, column: int = 0, seed: int = 0, home: str = "home") -> None:
    Study(numbers(seed=seed), work.parent / home, rule=Rule(column), runs=work / "runs").look()


def told(work: Path, against: str | None = None) -> dict[str, int]:
    """Codes and their lines."""
    return {one.finding.code: one.line for one in lint(work / "modelsel.lock", against=against).found}


def line_of(work: Path, words: str) -> int:
    return next(number for number, line in enumerate((work / "modelsel.lock").read_text().splitlines(), 1) if words in line)


def test_a_lock_file_that_shows_all_looks_is_held_in_silence(work: Path) -> None:
    look(work)
    before = (work / "modelsel.lock").read_bytes()
    assert lint(work / "modelsel.lock") == LintReport(((work / "modelsel.lock").as_posix(),), ())
    assert (work / "modelsel.lock").read_bytes() == before


def test_a_conflict_an_edit_and_other_text_are_g080_at_their_line(work: Path) -> None:
    look(work)
    file = work / "modelsel.lock"
    whole = file.read_text().splitlines()
    file.write_text("\n".join([*whole[:4], "<<<<<<< ours", *whole[4:]]))
    assert told(work) == {"G080": 5}
    file.write_text("\n".join(whole).replace('"look": "1"', '"look": "-1"'))
    assert told(work) == {"G080": 1}
    file.write_bytes(b"\xff\xfe\x00")
    assert told(work) == {"G080": 1}
    file.write_text("\n".join(whole))
    assert "G080" not in told(work)


def test_without_a_ledger_it_is_g081_and_none_is_made(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look(work)
    monkeypatch.setenv("MODELSEL_HOME", str(work.parent / "runner"))
    assert told(work) == {"G081": 1}
    assert not (work.parent / "runner").exists()
    monkeypatch.setenv("MODELSEL_HOME", str(work.parent / "home"))
    assert "G081" not in told(work)


def test_a_set_of_another_ledger_is_g082_and_one_of_this_ledger_that_lost_it_is_graver(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(work)
    elsewhere = work.parent / "elsewhere"
    elsewhere.mkdir()
    Study(numbers(seed=5), work.parent / "other", runs=elsewhere / "runs").look()
    monkeypatch.setenv("MODELSEL_HOME", str(work.parent / "other"))
    assert told(work) == {"G082": 4}
    monkeypatch.setenv("MODELSEL_HOME", str(work.parent / "home"))
    assert "G082" not in told(work)
    for path in (work.parent / "home").glob("ledger.db*"):  # the ledger is gone, and another begun under the same key
        path.unlink()
    look(work, seed=5)
    assert set(told(work)) & {"G070", "G071", "G072"}


def test_a_file_that_was_put_back_is_g083_at_its_count(work: Path) -> None:
    look(work)
    shutil.copy(work / "modelsel.lock", work.parent / "before")
    look(work, column=1)
    assert "G083" not in told(work)
    shutil.copy(work.parent / "before", work / "modelsel.lock")
    assert told(work)["G083"] == line_of(work, '"look": "1"')
    (found,) = [one for one in lint(work / "modelsel.lock").found if one.finding.code == "G083"]
    assert found.finding.message.endswith("(made by study), and the lock file shows 1")


def test_a_set_of_a_run_below_the_folder_that_the_file_does_not_name_is_g083_too(work: Path) -> None:
    (work / "runs/study/1").mkdir(parents=True)  # where the study says that it lies
    look(work)
    (work / "modelsel.lock").write_text('{"testsets": {}}\n')
    assert told(work) == {"G083": 1}
    shutil.rmtree(work / "runs/study")
    assert told(work) == {}  # nobody knows now that the look was made here


def test_what_a_look_was_told_of_stands_at_its_set(work: Path) -> None:
    look(work)
    look(work, column=1)
    assert told(work)["G012"] == line_of(work, '"look": "2"')


def test_git_alone_tells_g084_of_looks_that_a_change_adds(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look(work)
    commit(work)
    assert "G084" not in told(work, "HEAD")
    look(work, column=1)
    look(work, seed=3)  # a first look at another set
    monkeypatch.setenv("MODELSEL_HOME", str(work.parent / "runner"))
    found = [one.finding for one in lint(work / "modelsel.lock", against="HEAD").found if one.finding.code == "G084"]
    assert sorted(one.severity for one in found) == ["info", "medium"]


def test_git_alone_tells_g085_of_looks_that_a_change_takes_away(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look(work)
    look(work, column=1)
    commit(work)
    monkeypatch.setenv("MODELSEL_HOME", str(work.parent / "runner"))
    assert "G085" not in told(work, "HEAD")
    file = work / "modelsel.lock"
    file.write_text(file.read_text().replace('"look": "2"', '"look": "1"'))
    assert told(work, "HEAD")["G085"] == line_of(work, '"look": "1"')
    file.write_text('{"testsets": {}}')
    assert told(work, "HEAD") == {"G085": 1}


def test_a_lock_file_that_the_base_does_not_have_is_all_new(work: Path) -> None:
    git(work, "commit", "-qm", "nothing yet", "--allow-empty")
    look(work)
    (found,) = lint(work / "modelsel.lock", against="HEAD").found
    assert (found.finding.code, found.finding.severity) == ("G084", "info")


def test_a_revision_that_git_does_not_know_and_a_file_that_is_not_there_are_errors(work: Path) -> None:
    with pytest.raises(ConfigurationError, match="MSEL-410"):
        lock_files((work,))
    look(work)
    assert lock_files((work,)) == (work / "modelsel.lock",)
    for revision in ("origin/main", "--output=x", "HEAD"):  # no commit yet
        with pytest.raises(ConfigurationError, match="MSEL-411"):
            lint(work / "modelsel.lock", against=revision)


def test_a_ledger_that_does_not_hold_is_said_and_nothing_is_promised(work: Path) -> None:
    import sqlite3

    look(work)
    base = sqlite3.connect(work.parent / "home/ledger.db")
    for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        base.execute(f"DROP TRIGGER {name}")
    base.execute("DELETE FROM entries WHERE seq = 1")
    base.commit()
    base.close()
    assert not lint(work / "modelsel.lock").intact


def test_a_study_of_which_nothing_is_kept_is_told_at_its_line(work: Path) -> None:
    study = replace(Study(numbers(), work.parent / "home", runs=work / "runs"), policy="off", settings={"remember": False})
    study.look()
    assert json.loads((work / "modelsel.lock").read_text())["not_remembered"]
    assert told(work)["G004"] == line_of(work, '"study": {')


def test_a_teams_ledger_is_asked_where_it_is_named(work: Path) -> None:
    url = f"sqlite:///{work.parent / 'team.db'}"
    study = Study(numbers(), work.parent / "home", runs=work / "runs", settings={"ledger": url})
    study.look()
    file = work / "modelsel.lock"
    before = file.read_text()
    study.but(rule=Rule(1)).look()
    file.write_text(before)
    assert "G083" in {one.finding.code for one in lint(file, ledger=url).found}
    assert Gate(make("guard", "warn", ledger=url), work / "runs", home=Home(work.parent / "home")).place == url
