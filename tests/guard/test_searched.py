"""A search that goes by the scores: |H| is sealed before it begins, its candidates count once they are on record."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Candidate
from modelsel.guard.facts import Look, RecordedSelection, Seal
from modelsel.guard.gate import Gate
from modelsel.guard.requests import TestSetDeclaration
from tests.guard.test_declared import asked, gate_of, sealed, shadowed

MANY = tuple(Candidate(make("learner", "knn", k=k)) for k in range(1, 40, 2))
MOST = 6


def ids(candidates: tuple[Candidate, ...]) -> tuple[str, ...]:
    return tuple(candidate.id for candidate in candidates)


def declaration(seed: int = 0, spec: str = "spec") -> TestSetDeclaration:
    """As a study seals before it searches: no candidate is known, and at most six will be asked for."""
    task, rng = shadowed(200, seed)
    plain = sealed(task, rng.integers(0, 2, 200))
    return replace(plain, candidates=(), spec_id=spec, most=MOST, searched="space and seeds")


def entries(gate: Gate, kind: str) -> list[Any]:
    return [entry for entry in gate.session.ledger.entries() if entry.kind == kind]


def test_the_most_that_may_be_asked_for_is_sealed_before_the_search_and_its_candidates_stand_beside_the_choice(
    home: Path,
) -> None:
    gate, sealing = gate_of(home), declaration()
    gate.seal(sealing)
    (stated,) = map(Seal.of, entries(gate, "seal"))
    assert (stated.space, stated.searched, stated.candidates) == (MOST, "space and seeds", None)
    result = asked(gate, replace(sealing, asked=ids(MANY[:MOST])), MANY[2])
    assert "G016" in result.flags
    (chosen,) = map(RecordedSelection.of, entries(gate, "selection"))
    assert chosen.candidates is not None
    (look,) = map(Look.of, entries(gate, "intent"))
    assert (look.space, look.member) == (MOST, True)
    assert entries(gate, "selection")[0].seq < entries(gate, "intent")[0].seq


def test_another_candidate_that_was_asked_for_pays_as_a_member_at_a_later_look(home: Path) -> None:
    gate, sealing = gate_of(home), declaration()
    gate.seal(sealing)
    found = replace(sealing, asked=ids(MANY[:MOST]))
    asked(gate, found, MANY[0])
    later = asked(gate, found, MANY[1])
    assert "G016" in later.flags
    listed = gate_of(home / "other")
    other = replace(sealing, candidates=ids(MANY[:MOST]), most=0, searched="")
    asked(listed, other, MANY[0])
    assert asked(listed, other, MANY[1]).interval == later.interval, "as if the six had been listed"


def test_a_candidate_that_no_trial_asked_for_is_no_member(home: Path) -> None:
    gate, sealing = gate_of(home), declaration()
    gate.seal(sealing)
    assert "G014" in asked(gate, replace(sealing, asked=ids(MANY[:MOST])), MANY[-1]).flags


def test_what_a_search_asks_for_after_an_answer_is_no_member(home: Path) -> None:
    """The attack: search again once an answer is known, under the same declaration (a clock or a crash changed its course)."""
    gate, sealing = gate_of(home), declaration()
    gate.seal(sealing)
    asked(gate, replace(sealing, asked=ids(MANY[:3])), MANY[0])
    again = asked(gate, replace(sealing, asked=ids(MANY[3:6])), MANY[4])
    assert "G014" in again.flags
    assert "G016" not in again.flags


@pytest.mark.slow
def test_searches_on_record_before_an_answer_make_no_more_members_than_were_sealed(home: Path) -> None:
    """The attack: many searches with other courses before the first look, each of six, and then a look at any of them."""
    gate, sealing = gate_of(home), declaration()
    gate.seal(sealing)
    from modelsel.guard.requests import SelectionSummary

    for start in range(0, 18, 3):
        own = MANY[start : start + 3]
        gate.select(replace(sealing, asked=ids(own)), SelectionSummary(own[0].id, 0.5, 200, 0.5, 3))
    members = ["G016" in asked(gate, replace(sealing, asked=ids(MANY[at : at + 1])), MANY[at]).flags for at in range(18)]
    assert sum(members) <= MOST
    assert members[0]


def test_another_search_over_the_same_rows_brings_no_members(home: Path) -> None:
    gate, sealing = gate_of(home), declaration()
    gate.seal(sealing)
    asked(gate, replace(sealing, asked=ids(MANY[:MOST])), MANY[0])
    other = replace(sealing, spec_id="another", searched="another space", asked=ids(MANY[6:12]))
    gate.seal(replace(other, asked=()))
    assert "G016" not in asked(gate, other, MANY[7]).flags


@pytest.mark.slow
def test_intervals_of_forty_looks_at_searched_candidates_hold(home: Path) -> None:
    """All of them are members on noise labels: each interval holds one half, as the union over six says it will."""
    gate, sealing = gate_of(home), declaration(seed=5)
    gate.seal(sealing)
    found = replace(sealing, asked=ids(MANY[:MOST]))
    for candidate in MANY[:MOST]:
        result = asked(gate, found, candidate)
        assert result.interval[0] <= 0.5 <= result.interval[1]
    looks = [Look.of(entry) for entry in entries(gate, "intent")]
    assert all(look.member for look in looks)
    assert max(look.nats for look in looks) <= np.log(2 / 0.05) + np.log(2) + np.log(MOST) + 1e-9


def test_a_space_that_is_typed_smaller_than_the_trials_is_refused(home: Path) -> None:
    import pytest

    from modelsel.core.errors import ConfigurationError
    from modelsel.ledger.home import Home

    gate = Gate(make("guard", "warn", release="full", quota=None, declared_space=5), home / "runs", (), Home(home))
    with pytest.raises(ConfigurationError, match="at least 6"):
        gate.seal(declaration())
