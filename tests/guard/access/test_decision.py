"""Whether a look may happen, at each limit of a policy and of a justification."""

from typing import Any

import pytest

from modelsel.core.spec import make
from modelsel.core.types import Finding
from modelsel.guard.policy.base import LETTERS, SHORTEST, Justify, Question, _says_something, judge

GOOD = "the target column was shifted"
MEDIUM, HIGH, COUNTED = Finding("G1", "medium", "m", ""), Finding("G2", "high", "h", ""), Finding("G012", "high", "c", "")


def verdict(
    kind: str = "warn", look: int = 1, half: float | None = 0.04, found: tuple[Finding, ...] = (),
    used: tuple[str, ...] = (), exhausted: int = 0, **settings: Any,
) -> tuple[str, str]:  # fmt: skip
    said = judge(make("guard", kind, **settings), Question(look, half, found, used, exhausted))
    return said.decision, said.reason


@pytest.mark.parametrize(("half", "decision"), [(0.1, "allow"), (0.1001, "refuse"), (None, "allow"), (0.0, "allow")])
def test_a_look_may_be_as_wide_as_is_allowed(half: float | None, decision: str) -> None:
    assert verdict(half=half, max_halfwidth=0.1)[0] == decision
    assert verdict(half=half)[0] == "allow"


@pytest.mark.parametrize(("look", "decision"), [(2, "allow"), (3, "allow"), (4, "refuse")])
def test_there_may_be_as_many_looks_as_are_allowed(look: int, decision: str) -> None:
    assert verdict(look=look, max_looks=3)[0] == decision
    assert verdict(look=look, max_looks=None)[0] == "allow"
    justify = Justify("bug", GOOD)
    assert verdict(look=look, max_looks=3, justify=justify)[0] == ("flag" if decision == "refuse" else "allow")


@pytest.mark.parametrize(
    ("kind", "found", "decision"),
    [("warn", (MEDIUM,), "flag"), ("warn", (HIGH,), "flag"), ("strict", (MEDIUM,), "flag"), ("strict", (HIGH,), "refuse"),
     ("strict", (COUNTED,), "flag"), ("strict", (COUNTED, HIGH), "refuse"), ("strict", (), "allow")],
)  # fmt: skip
def test_grave_findings_are_flagged_or_refused_by_the_policy(kind: str, found: tuple[Finding, ...], decision: str) -> None:
    assert verdict(kind, found=found)[0] == decision


def test_no_justification_lifts_a_budget_or_a_width() -> None:
    justify = Justify("bug", GOOD)
    assert verdict(exhausted=3, justify=justify)[0] == "refuse"
    assert verdict(half=0.2, max_halfwidth=0.1, justify=justify)[0] == "refuse"


@pytest.mark.parametrize(
    ("category", "text", "used", "said"),
    [("bug", GOOD, (), "justified"), ("bug", "", (), "say why"), ("", GOOD, (), "say why"), ("", "", (), "say why"),
     ("bug", "abc def ghij klmn op", (), "justified"), ("bug", "abc def ghij klmn o", (), "characters"),
     ("bug", "a" * 25, (), "words"),
     ("bug", GOOD, (GOOD,), "used before"), ("bug", GOOD, ("another",), "justified")],
)  # fmt: skip
def test_a_justification_says_why_once(category: str, text: str, used: tuple[str, ...], said: str) -> None:
    assert said in verdict(look=4, max_looks=3, used=used, justify=Justify(category, text))[1]
    assert len("abc def ghij klmn op") == SHORTEST


@pytest.mark.parametrize(
    ("text", "says"),
    [("ab cd ef gh", True), ("abc def gh", False), ("ab cd ef ga", False), ("ab cd ef ab gh", True), ("ab cd ef 12 gi", True),
     ("abcdefgh", False), ("目的変数の列が一行ずれて", True), ("目的変数目的変数", False), ("目的変 数の列 が一行ず", False)],
)  # fmt: skip
def test_words_or_letters_say_something(text: str, says: bool) -> None:
    assert _says_something(text) == says
    assert len(set("abcdefgh")) == LETTERS
