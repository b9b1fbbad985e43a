"""What people ask before and after a study is answered on the one screen that a command prints, as golden files.

Rewrite them with MODELSEL_GOLDEN=write, and read what changed.
"""

import os
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from modelsel.cli.dispatch import main

GOLDEN = Path(__file__).with_name("golden")
STUDY = ("dataset=wine", "space=[cart,naive_bayes,majority]", "scheme.folds=5", "tracking=off", "pool=sequential", "name=first")
PEEK = (*STUDY[:-1], "split.seed=1", "name=again")
TYPED = {
    "plan": ("plan", *STUDY[:-2]), "run": ("run", *STUDY), "audit": ("audit", "first"), "compare": ("compare", "first"),
    "peek": ("run", *PEEK), "audit_peek": ("audit",), "table": ("plan", "loans.csv", "default", "space=cart", "tracking=off"),
}  # fmt: skip
FORBIDDEN = re.compile(r"\b(nats?|quotas?|ladders?|ledger price)\b")


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What each command prints, in the order in which somebody would type them."""
    place = tmp_path_factory.mktemp("screens")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MODELSEL_HOME", str(place / "home"))
        patch.chdir(place)
        rows = [f"{i},{i * 7 % 23},{'yn'[i % 3 == 0]},{'paid' if i % 3 == 0 else 'open'},7" for i in range(90)]
        (place / "loans.csv").write_text("\n".join(["id,income,default,state,branch", *rows, *rows[:5]]) + "\n")
        yield {name: _printed(words, patch) for name, words in TYPED.items()}


def _printed(words: tuple[str, ...], patch: pytest.MonkeyPatch) -> str:
    said = StringIO()
    with patch.context() as own:
        own.setattr("sys.stdout", said)
        assert main(words) == 0
    return said.getvalue()


def plain(text: str) -> str:
    """Without what changes from day to day and from machine to machine."""
    text = re.sub(r"\d{8}-\d{6}-\w{8}", "RUN", text)
    text = re.sub(r"\d{4}-\d\d-\d\d(T| )\d\d:\d\d", "DAY", text)
    text = re.sub(r"\d{4}-\d\d-\d\d", "DAY", text)
    text = re.sub(r"\S+@\S+(?=:)", "SOMEBODY", re.sub(r"sqlite:\S+ledger\.db", "LEDGER", text))
    text = re.sub(r"about [\d.]+ (s|min|h) with", "about N s with", re.sub(r"about [\d,]+ MiB", "about N MiB", text))
    text = re.sub(r"with \d+ workers?", "with N workers", text)
    return re.sub(r"test set [0-9a-f]{8}", "test set ID", text)


@pytest.mark.slow
@pytest.mark.parametrize("name", TYPED)
def test_a_command_prints_one_screen_in_words_of_the_field(screens: dict[str, str], name: str) -> None:
    lines = screens[name].splitlines()
    assert len(lines) <= 25  # the last may be empty
    assert [line for line in lines if len(line) > 100 and "/" not in line] == []
    assert FORBIDDEN.findall(screens[name]) == []
    assert "…" not in screens[name]
    if name == "table":  # what is said of tables has tests of its own
        return
    path = GOLDEN / f"screen_{name}.txt"
    if os.environ.get("MODELSEL_GOLDEN") == "write":
        path.write_text(plain(screens[name]))
    assert plain(screens[name]).split() == path.read_text().split()


ANSWERS = {
    "How long will it take?": ("plan", r"time +about [\d.]+ s with \d workers?"),
    "Does it fit into memory?": ("plan", r"memory +about [\d,]+ MiB beyond the data"),
    "How many rows are kept for the test?": ("plan", r"rows +125 for development, 53 sealed"),
    "How wide will the answer be?": ("plan", r"one look at 53 rows: at an error of 0\.\d+ the interval is 0\.\d+ to"),
    "What is wrong with my table?": ("table", r"findings +\w+ \((critical|high)\): "),
    "Which model?": ("run", r"winner +(cart|naive_bayes) [0-9a-f]{8}"),
    "How good is it?": ("run", r"test +0\.\d+, \d+ of 53 rows wrong, 95 % interval \[0\.\d+, 0\.\d+\]"),
    "May I quote this number?": ("run", r"to quote +the test score with its interval"),
    "May I quote that one?": ("peek", r"to quote +not the test score as one of unseen rows \(.*G021"),
    "What did I do wrong?": ("peek", r"^again: .*\n +findings +G021 \(critical\): \d+ of 53 test rows .* helped to choose"),
    "What do I do now?": ("peek", r"collect fresh test rows, or go back to the split that was sealed first"),
    "Can the record be trusted?": ("audit", r"^Audit\n +In short +1 test set, 1 look\. No grave finding\. The ledger is whole"),
    "What is the worst of it?": ("audit_peek", r"In short .*\n?.*\n +Findings +G021 \(critical\)"),
    "Are two learners really different?": ("compare", r"It is told apart from majority"),
    "Where do I read on?": ("run", r"report +runs/first/.*/report\.html"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("question", ANSWERS)
def test_the_answer_is_on_the_screen(screens: dict[str, str], question: str) -> None:
    name, answer = ANSWERS[question]
    assert re.search(answer, screens[name]), screens[name]


@pytest.mark.slow
@pytest.mark.parametrize("words", [("plan", *STUDY[:-2]), ("run", *STUDY), ("audit",), ("compare", "first")])
def test_more_is_printed_where_it_is_asked_for(
    screens: dict[str, str], words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for typed in (words, (*words, "-v")):
        capsys.readouterr()
        main(typed)
        shown.append(capsys.readouterr().out)
    assert len(shown[1]) > len(shown[0]) - 200 * (words[0] == "compare")  # the sentences of all pairs stand on both
    assert set(shown[1].split()) - set(shown[0].split())


@pytest.mark.slow
def test_an_audit_is_written_whole_where_that_is_asked_for(screens: dict[str, str], tmp_path: Path) -> None:
    for name, begins in (("a.md", "# Audit\n\n## In short\n"), ("a.html", "<!doctype html>")):
        assert main(["audit", "-o", str(tmp_path / name)]) == 0
        written = (tmp_path / name).read_text("utf-8")
        assert written.startswith(begins)
        assert "Looks left" in written
