"""What a colleague's answer costs at least is reckoned from what it shows."""

from pathlib import Path
from typing import Any

import pytest

from modelsel.guard.history.quarantine import judged
from modelsel.ledger.entry import LedgerEntry, follow
from modelsel.ledger.trust import TrustedEntries
from tests.guard.studies import Study, numbers


def read(home: Path, reader: str, **changed: Any) -> TrustedEntries:
    """A real look with some facts of its intent and its answer changed, as the person with this key reads it."""
    entries = Study(numbers(), home, settings={"declared_space": None}).run()[1].session.ledger.entries()
    found: list[LedgerEntry] = []
    for entry in entries:
        facts = {**entry.facts, **{k: v for k, v in changed.items() if k in entry.facts and entry.kind in ("intent", "reveal")}}
        found.append(follow(found[-1] if found else None, "r", entry.kind, facts))
    return TrustedEntries(found, signers={"r": "colleague"}, me=reader)


@pytest.mark.parametrize(
    ("reader", "changed", "said"),
    [("me", {}, ""), ("me", {"price": 0.001}, "its price is 0.001"), ("colleague", {"price": 0.001}, ""),
     ("me", {"metric": "auc", "price": 0.001}, ""), ("me", {"symbol": "board", "price": 0.0}, ""),
     ("me", {"n": 29}, "computed on 29 rows"), ("me", {"metric": "labels", "n": 29}, "")],
)  # fmt: skip
def test_an_answer_of_another_person_is_believed_at_its_price(
    home: Path, reader: str, changed: dict[str, Any], said: str
) -> None:
    entries = read(home, reader, **changed)
    judged(entries)
    bad = [str(one) for one in entries.memo["bad"]]
    assert bool(bad) == bool(said)
    assert all(said in one for one in bad)
