"""A colleague's signed entries that state what nobody expects: they are set aside and charged, and stop nobody."""

from collections.abc import Mapping
from typing import Any

import pytest

from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.page import markdown
from tests.guard.attacks.test_forgery import Team, team  # noqa: F401
from tests.guard.studies import Rule

STRANGE: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("note", {"contact": "opened", "rows": ["a", "list"]}),
    ("note", {"contact": "opened", "rows": {}, "folder": 5}),
    ("note", {"code": "G070"}),
    ("note", {"code": ["G070"], "text": "x"}),
    ("note", {"code": "G999", "text": "of a later version"}),
    ("note", {"refused": "no", "testset": "T"}),
    ("note", {"refused": "no", "testset": "T", "flags": [1]}),
    ("note", {"stripped": ["a"]}),
    ("note", {"at": 5}),
    ("note", {"mirror": 5}),
    ("selection", {"mirror": {"hash": [], "key_id": {}}}),
    ("selection", {"train": "x", "spec_id": "y", "cv_rows": "many", "cv_error": "none", "winner": 3}),
    ("seal", {"rows_in_all": "many"}),
    ("seal", {"rows_in_all": 0}),
    ("seal", {"u": "x", "space": "y", "portrait": 3}),
    ("intent", {"charged": 5}),
    ("intent", {"commit": [1]}),
    ("intent", {"id": "other", "answers": 5}),
    ("intent", {"id": "other", "justify": {"category": 5}, "written": 1, "knows": 2, "states": 3, "but": 4, "off": 5}),
    ("recovered", {"testset": "T", "worst": 1.0, "head": "r:1:gone", "flags": [1]}),
    ("vouch", {"key": ["k"]}),
    ("ruling", {"void": 5}),
    ("key_rotated", {"id": []}),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("strange", [STRANGE, *(pytest.param((fact,), marks=pytest.mark.slow) for fact in STRANGE)])
def test_strange_facts_stop_nobody(team: Team, strange: tuple[tuple[str, Mapping[str, Any]], ...]) -> None:  # noqa: F811
    team.alice.look()
    there = {entry.kind: entry.facts for entry in team.ledger(team.alice).everything()}
    for kind, stated in strange:
        known = {**there.get(kind, {"at": "2026-11-23T00:00:00.000000+00:00"}), **stated}
        if stated.get("testset") == "T":
            known["testset"] = there["seal"]["testset"]
        elif kind == "seal":
            known["testset"] = "e" * 32
        team.ledger(team.bob).append(kind, known)
    gate = team.alice.but(rule=Rule(1)).run()[1]
    assert gate.session.ledger.entries()
    gate.record_prediction(team.alice.parts()[1], "runs/x")
    assert "In short" in markdown(audit(team.alice.gate()))
