"""Facts that are written: keywords alone, bytes as they were stated; a misspelt or missing one fails the type checker."""

import subprocess
import sys
from pathlib import Path

import pytest

from modelsel.core.facts import UNSTATED
from modelsel.core.proposal import Proposal
from modelsel.core.types import Finding
from modelsel.guard.facts import Commitment, Look, Note, PolicyChange, Reason, Reveal, SealTerms
from modelsel.ledger.entry import canonical
from tests.extras import needs

ROOT = Path(__file__).resolve().parents[3]
TERMS = 'SealTerms(rank=1, delta=0.05, release="full", metric="error", measure="d")'
ROWS = 'testset="t", train="r", spec_id="s"'
RIGHT = (
    TERMS,
    f'Look({ROWS}, metric="error", predictions="p", look=1, worst=0.5, flags=())',
    'Reveal(intent="i", price=0.5, score=None)',
    'Note(code="G001", text="words")',
    f"PolicyChange(testset='t', terms={TERMS}, weaker=[])",
    f"Commitment({ROWS}, look=1, spent=0.0)",
)
WRONG = (
    'SealTerms(rnak=1, rank=1, delta=0.05, release="full", metric="error", measure="d")',
    'SealTerms(rank=1, release="full", metric="error", measure="d")',
    'SealTerms(rank="strict", delta=0.05, release="full", metric="error", measure="d")',
    f'Look({ROWS}, metric="error", predictions="p", look=1)',
    f'Look({ROWS}, metric="error", prediction="p", look=1, worst=0.5)',
    f'Look({ROWS}, metric="error", predictions="p", look=1, worst=0.5, justify="because")',
    'Reveal(intent="i", prize=0.5)',
    'Note(code="G001", txet="words")',
    "PolicyChange(testset='t', weaker=[])",
    f"Commitment({ROWS}, look=1, spend=0.0)",
)


@pytest.mark.slow
def test_a_misspelt_or_missing_fact_fails_mypy(tmp_path: Path) -> None:
    needs("mypy")
    script = tmp_path / "writers.py"
    head = "from modelsel.guard.facts import Commitment, Look, Note, PolicyChange, Reveal, SealTerms"
    script.write_text("\n".join((head, *RIGHT, *WRONG)) + "\n", "utf-8")
    words = [sys.executable, "-m", "mypy", "--no-error-summary", str(script)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    told = {int(line.split(":")[1]) for line in done.stdout.splitlines() if line.startswith(str(script)) and ": error:" in line}
    first = 2 + len(RIGHT)
    assert told == set(range(first, first + len(WRONG))), done.stdout + done.stderr


@pytest.mark.parametrize("one", RIGHT)
def test_what_is_stated_and_nothing_else_is_written_and_read_again(one: str) -> None:
    facts = eval(one)
    assert type(facts).read(facts.written()) == facts
    assert not {name for name in facts.written() if f"{name}=" not in one}


def test_facts_within_facts_are_written_as_json_has_them() -> None:
    look = Look(
        testset="t", train="r", spec_id="s", metric="error", predictions="", look=1, worst=0.0, justify=Reason(text="why")
    )
    assert canonical(look.written()) == canonical({
        "testset": "t", "train": "r", "spec_id": "s", "metric": "error", "predictions": "", "look": 1, "worst": 0.0,
        "justify": {"text": "why"},
    })  # fmt: skip


def test_a_finding_is_written_without_the_settings_that_it_proposes() -> None:
    found = Finding("G001", "info", "words", "do", (Proposal("split.test", "0.5"),))
    assert Note(flags=(found,)).written()["flags"] == [{"code": "G001", "severity": "info", "message": "words", "do": "do"}]


def test_what_is_no_fact_of_a_kind_is_refused_and_what_is_not_stated_has_no_value() -> None:
    with pytest.raises(TypeError, match="Reveal states no prize"):
        Reveal(intent="i", price=0.0, prize=1.0)
    note = Note(code="G001", text="words")
    assert not note.states("refused")
    with pytest.raises(AttributeError):
        _ = note.refused
    assert UNSTATED not in vars(Note).values()
    assert (note.contact, Commitment(testset="t", train="r", spec_id="s", look=1, spent=0.0).measure) == (None, None)
    assert PolicyChange(testset="t", terms=SealTerms(rank=1, delta=0.1, release="full", metric="error", measure="d"), weaker=[])
