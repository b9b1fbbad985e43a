"""A screen has 24 lines of 100 columns, the gravest finding first, and cuts no sentence."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.core.types import Finding
from modelsel.reporting.screen import COLUMNS, LINES, Part, group, screen

GRAVITY = ("critical", "high", "medium", "low", "info")
WORDS = st.lists(st.text("abcdefgh-", min_size=1, max_size=14), min_size=1, max_size=70).map(" ".join)
FINDINGS = st.lists(
    st.builds(Finding, st.sampled_from(("A1", "B2", "C3", "D4")), st.sampled_from(GRAVITY), WORDS, WORDS), max_size=30
)


def whole(text: str) -> str:
    return " ".join(text.split())


@given(FINDINGS, st.lists(WORDS, min_size=1, max_size=3))
def test_no_screen_is_higher_or_wider_and_no_sentence_is_cut(findings: list[Finding], said: list[str]) -> None:
    parts = [Part("winner", (said[0],)), Part("alike", tuple(said[1:]), extra=True)]
    text = screen(parts, findings, [], "-v prints the rest", heading="A study")
    lines = text.splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS
    assert whole(said[0]) in whole(text)
    shown = [one for one in group(findings) if whole(one.message) in whole(text)]
    assert [GRAVITY.index(one.first.severity) for one in shown] == sorted(GRAVITY.index(one.first.severity) for one in shown)
    counted = re.search(r"(\d+) findings? more", text)
    told = len(re.findall(r"[A-D]\d \((?:critical|high|medium|low|info)\): ", text))
    assert told + (int(counted[1]) if counted else 0) >= len(group(findings))


@given(FINDINGS.filter(bool))
def test_the_gravest_finding_is_always_named(findings: list[Finding]) -> None:
    gravest = min(GRAVITY.index(one.severity) for one in findings)
    first = re.search(r"[A-D]\d \((\w+)\): ", screen([Part("x", ("y",))], findings, [], "-v prints the rest"))
    assert first is not None
    assert GRAVITY.index(first[1]) == gravest


def test_what_is_alike_stands_as_one() -> None:
    found = [Finding("G021", "critical", f"{n} rows", "collect others") for n in (5, 4, 3)]
    assert "findings     G021 (critical): 5 rows; collect others; 2 more of this code" in screen([], found, [], "-v")


def test_extra_parts_give_way_to_findings() -> None:
    many = [Finding(f"C{n}", "high", "word " * 30) for n in range(20)]
    parts = [Part("rows", ("many",)), Part("measure", tuple(f"sentence {n}" for n in range(20)), extra=True)]
    assert "sentence 3" in screen(parts, many[:0], [], "-v")
    assert "sentence" not in screen(parts, many, [], "-v")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_narrow_terminal_wraps_and_a_pipe_does_not_ask_for_its_width(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    lines = screen([Part("rows", ("word " * 30,))], [], [], "-v").splitlines()
    assert (max(map(len, lines)) <= 60) is terminal
