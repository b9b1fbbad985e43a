"""What a colleague's answer costs at least is reckoned from what it shows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.types import Task
from modelsel.guard.history.quarantine import judged, quarantined
from modelsel.ledger.entry import LedgerEntry, follow
from modelsel.ledger.trust import TrustedEntries
from tests.guard.studies import Rule, Study, numbers


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


def test_what_cannot_be_a_rate_foresaw_nothing(home: Path) -> None:
    said = []
    for told in (7.0, None):
        entries = read(home, "me", cv_error=told, cv_mean=7.0, price=0.001)
        judged(entries)
        said += [one.why for one in entries.memo["bad"]]
    assert len(said) == 2
    assert said[0] == said[1]


def test_a_bad_entry_is_charged_to_the_set_that_it_names_if_that_was_sealed(home: Path) -> None:
    entries = read(home, "me")
    sealed = next(entry.facts["testset"] for entry in entries if entry.kind == "seal")
    for named, charged in ((sealed, sealed), ("no such set", "")):
        bad = follow(entries[-1], "r", "intent", {"testset": named})
        (look,) = quarantined(judged(TrustedEntries([*entries, bad], signers={"r": "colleague"}, me="me")))
        assert look.facts["testset"] == charged


class ARowFewer(Study):
    """The same split without one of its test rows."""

    def parts(self) -> tuple[Task, Task]:
        development, test = super().parts()
        return development, test.take(np.arange(1, len(test)))


@pytest.mark.parametrize("terms", [{"release": "passfail", "target": 0.4}, {"resolution": 0.05}], ids=["passfail", "rounded"])
def test_a_colleague_whose_terms_were_inherited_is_not_accused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terms: dict[str, Any]
) -> None:
    """The second one seals exact counts of a row fewer, and is answered, at a lower price, as the first one sealed."""
    monkeypatch.setenv("MODELSEL_KEY", "ab" * 32)
    team = {"ledger": f"sqlite:///{tmp_path / 'team.db'}"}
    Study(numbers(), tmp_path / "a", settings={**team, **terms}).look()
    assert ARowFewer(numbers(), tmp_path / "b", settings=team, rule=Rule(1)).look().errors is None
    entries = Study(numbers(), tmp_path / "c", settings=team).gate().session.ledger.entries()
    judged(entries)
    assert [str(one) for one in entries.memo["bad"]] == []
