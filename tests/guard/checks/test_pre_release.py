"""Findings before labels are opened, each at its limit: of rows, of looks, of the measure, of the space, of the ledger."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.guard.checks.declared_space import STRANGER, Declared
from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.checks.review import LookReview, review
from modelsel.guard.history import History
from modelsel.guard.matching import Relation
from modelsel.guard.quarantine import PLACE
from modelsel.ledger.entry import LedgerEntry, follow
from tests.guard.histories import entries, look, seal

N = 200


def relation(testset: str = "other", rows: int = 150, role: str = "test", **facts: Any) -> Relation:
    return Relation(testset, role, rows, rows / N, np.arange(N) < rows, **{"same": False, "exact": True, **facts})  # type: ignore[arg-type]


def seen(*told: Any, also: tuple[LedgerEntry, ...] = (), related: tuple[Relation, ...] = (), **facts: Any) -> set[str]:
    """The codes of a look at rows that were sealed, after what is told."""
    flat = [one for part in told for one in (part if isinstance(part, list) else [part])]
    known = History((*entries(seal(), *flat), *also))
    own = relation("mine", N, same=True)
    commit = facts.pop("commit", None)
    position = LookContext("mine", N, known, (own, *related), commit, declared=facts.pop("declared", Declared()),
                           at_work=facts.pop("at_work", frozenset()), designs=facts.pop("designs", ()))  # fmt: skip
    subject: Any = SimpleNamespace(digest="mine", train="rows", source="table", identifiable=True,
                                   duplicated=facts.pop("duplicated", np.zeros(N, bool)))  # fmt: skip
    whole = {"spec_id": "s", "config": {}, "metric": "error", "measure": "m", "predictions": "p", "relabelled": False,
             "keys": frozenset(["k"]), "at": "2026-02-02", **facts}  # fmt: skip
    return {one.code for one in review(LookReview(subject, position, **whole))}  # type: ignore[arg-type]


def test_a_first_look_at_rows_that_nobody_met_is_said_to_be_one() -> None:
    assert seen() == {"G001"}
    assert "G001" not in seen(look("a", answer={}))


@pytest.mark.parametrize(
    ("facts", "codes"),
    [({}, {"G020"}), ({"same": True, "rows": 195}, {"G020"}), ({"same": True, "rows": 196}, set()), ({"rows": 199}, {"G020"}),
     ({"channel": "C2"}, {"G022"}), ({"rows": 0}, {"G022"}), ({"role": "selection"}, {"G021"}),
     ({"role": "selection", "rows": 0}, {"G022"})],
)  # fmt: skip
def test_rows_that_were_met_before_are_told_by_how_they_were_met(facts: dict[str, Any], codes: set[str]) -> None:
    found = seen(look("o", "other", {}), related=(relation(**facts),))
    assert found & {"G020", "G021", "G022", "G023"} == codes


def test_a_table_that_shares_days_or_places_is_named_and_no_more() -> None:
    assert seen(designs=("other",)) == {"G001", "G024"}


@pytest.mark.parametrize(
    ("other", "related", "told"),
    [(("other", "table"), False, True), (("other", "another"), False, False), (("mine", "table"), False, False),
     (("other", "table"), True, False)],
)  # fmt: skip
def test_a_table_that_was_split_anew_is_told_where_no_row_is(other: tuple[str, str], related: bool, told: bool) -> None:
    found = seen(seal(other[0], source=other[1]), related=(relation(),) if related else ())
    assert ("G023" in found) == told


@pytest.mark.parametrize(
    ("facts", "codes"),
    [({"spec_id": "t"}, {"G012"}), ({}, {"G010"}), ({"predictions": "p"}, set()), ({"train": "others"}, {"G011"}),
     ({"spec_id": "t", "train": "others"}, {"G012"}), ({"metric": "auc"}, set()), ({"metric": "labels"}, {"G061"})],
)  # fmt: skip
def test_what_changed_since_an_earlier_look_is_told(facts: dict[str, Any], codes: set[str]) -> None:
    assert seen(look("a", answer={}, **facts)) & {"G010", "G011", "G012", "G061", "G015"} == codes


def test_a_changed_study_is_told_of_answers_and_of_nobody_who_was_committed_or_hands_in() -> None:
    commit = follow(None, "c", "commit", {"id": "c", "testset": "mine", "look": 1, "spent": 0.0})
    changed = look("a", answer={}, spec_id="t")
    assert "G012" in seen(changed)
    assert {"G013"} == seen(changed, commit=commit) & {"G012", "G013"}
    assert "G012" not in seen(changed, sitting=True)
    assert "G012" not in seen(look("a", spec_id="t"))
    failed = [*look("a", spec_id="t"), ("abort", {"intent": "a"})]
    assert "G012" in seen(failed)


def test_looks_at_the_same_rows_with_one_more_or_less_are_looks_at_these() -> None:
    told = look("o", "other", {}, spec_id="t")
    assert "G012" in seen(told, related=(relation(same=True),))
    assert "G012" not in seen(told, related=(relation(),))


def test_corrected_labels_are_told_once_an_answer_is_known() -> None:
    assert "G015" in seen(look("a", answer={}), relabelled=True)
    assert "G015" not in seen(look("a", answer={}))
    assert "G015" not in seen(relabelled=True)


@pytest.mark.parametrize(
    ("facts", "told"), [({}, True), ({"at_work": frozenset("a")}, False), ({"at_work": frozenset("b")}, True)]
)
def test_a_look_without_an_answer_is_told_unless_it_is_being_made(facts: dict[str, Any], told: bool) -> None:
    assert ("G060" in seen(look("a"), **facts)) == told
    assert "G060" not in seen(look("a", answer={}), **facts)


def test_what_was_opened_without_a_guard_is_told() -> None:
    assert "G076" in seen(look("a", answer={}, policy="off"))
    assert "G076" not in seen(look("a", answer={}, policy="warn"))


@pytest.mark.parametrize(("answered", "measure", "told"), [(True, "n", True), (True, "m", False), (False, "n", False)])
def test_another_measure_is_told_once_an_answer_is_known(answered: bool, measure: str, told: bool) -> None:
    assert ("G073" in seen(*([look("a", answer={})] if answered else []), measure=measure)) == told


@pytest.mark.parametrize(
    ("space", "declared", "answered", "codes"),
    [(5, Declared("by recipe"), False, {"G016"}), (None, Declared("by recipe"), False, set()),
     (5, Declared(why=STRANGER), False, {"G014"}),
     (None, Declared(why=STRANGER), True, set()), (5, Declared(why="rows were dropped"), False, set()),
     (5, Declared(why="rows were dropped"), True, {"G014"}), (None, Declared(why="rows were dropped"), True, set())],
)  # fmt: skip
def test_a_model_is_told_to_be_one_of_those_declared_or_not(
    space: int | None, declared: Declared, answered: bool, codes: set[str]
) -> None:
    other = follow(None, "s", "seal", {**seal("other", space=space)[1], "id": "s", "at": "2026"})
    before = [look("a", answer={})] if answered else []
    assert seen(*before, also=(other,), related=(relation(),), declared=declared) & {"G014", "G016"} == codes


def test_copies_of_test_rows_are_told() -> None:
    assert "G030" in seen(duplicated=np.arange(N) < 1)
    assert "G030" not in seen()


def test_sets_under_keys_that_are_not_at_hand_are_told_unless_the_home_knows_them_by_its_own() -> None:
    stranger = entries(seal("far", key_id="lost"), replica="z")
    assert "G074" in seen(also=tuple(stranger))
    assert "G074" not in seen(also=tuple(stranger), keys=frozenset(["k", "lost"]))
    copy = follow(
        None, "y", "seal", {**seal("far")[1], "id": "y", "at": "2026", "mirror": {"hash": stranger[0].hash, "key_id": "lost"}}
    )
    assert "G074" not in seen(also=(copy, *(follow(None, "z", "seal", stranger[0].facts),)))


@pytest.mark.parametrize(("testset", "told"), [("", True), ("mine", True), ("other", False)])
def test_a_bad_entry_is_told_where_it_may_be_about_these_rows(testset: str, told: bool) -> None:
    bad = follow(
        None,
        PLACE,
        "recovered",
        {
            "id": "bad",
            "at": "2026",
            "testset": testset,
            "why": "no",
            "head": "x:1:y",
            "worst": 1.0,
            "look": 1,
            "metric": "",
            "spec_id": "",
            "train": "",
        },
    )
    assert ("G079" in seen(also=(bad,))) == told


@pytest.mark.parametrize(("at", "told"), [("2026-02-03", False), ("2026-02-02", False), ("2026-02-01", True)])
def test_a_clock_that_runs_back_is_told(at: str, told: bool) -> None:
    assert ("G075" in seen(("note", {"at": "2026-02-02"}), at=at)) == told
