"""Which sets are charged, and which rows are dropped, case by case: histories of a few entries, relations as they are found."""

from typing import Any

import numpy as np
import pytest

from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.history import History
from modelsel.guard.matching import Relation
from modelsel.ledger.entry import LedgerEntry, follow

N = 100


def entries(*kinds: tuple[str, str]) -> History:
    """A history of looks and commitments, each of a test set by name."""
    made: list[LedgerEntry] = []
    for number, (kind, testset) in enumerate(kinds):
        facts: dict[str, Any] = {
            "id": str(number),
            "testset": testset,
            "worst": 1.0,
            "look": 1,
            "spent": 0.0,
            "at": str(number),
        }
        made.append(follow(made[-1] if made else None, "r", kind, facts))
    return History(tuple(made))


def sealed(testset: str, space: int | None) -> LedgerEntry:
    return follow(None, testset, "seal", {"id": testset, "testset": testset, "space": space, "terms": {}})


def relation(testset: str, rows: int, role: str = "test", same: bool = False, exact: bool = True) -> Relation:
    return Relation(testset, role, rows, rows / N, np.arange(N) < rows, same, exact)


def context(history: History, *relations: Relation) -> LookContext:
    return LookContext("mine", N, history, (relation("mine", N, same=True), *relations), None)


def test_a_set_that_shares_many_rows_is_charged_once_it_was_looked_at() -> None:
    found = context(entries(("intent", "other")), relation("other", 50), relation("sealed only", 50))
    assert [one.testset for one in found.looked] == ["other"]
    assert found.charged == ("mine", "other")
    assert found.clean.all()


def test_a_set_that_a_model_is_committed_to_is_charged_before_anybody_looked() -> None:
    history = entries(("intent", "looked at"), ("commit", "committed to"))
    found = context(history, relation("looked at", 50), relation("committed to", 50), relation("sealed only", 50))
    assert found.charged == ("mine", "looked at", "committed to")
    assert found.standing.look == 3


def test_rows_that_chose_are_dropped_and_not_charged_though_their_study_was_looked_at() -> None:
    found = context(entries(("intent", "other")), relation("other", 30, role="selection"))
    assert found.looked == ()
    assert found.charged == ("mine",)
    assert found.clean.sum() == N - 30


@pytest.mark.parametrize(("rows", "dropped"), [(9, True), (10, True), (11, False)])
def test_at_most_a_tenth_of_the_rows_is_dropped_and_more_is_charged(rows: int, dropped: bool) -> None:
    found = context(entries(("intent", "other")), relation("other", rows))
    assert found.droppable == dropped
    assert found.charged == (("mine",) if dropped else ("mine", "other"))
    assert found.clean.sum() == (N - rows if dropped else N)


def test_the_same_set_with_a_row_less_is_charged_though_others_can_be_dropped() -> None:
    history = entries(("intent", "mine"), ("intent", "nearly"), ("intent", "few"))
    found = context(history, relation("nearly", 99, same=True), relation("few", 5))
    assert found.charged == ("mine", "nearly")
    assert found.clean.sum() == N - 5
    assert len(found.past) == 2


def test_what_only_a_sketch_tells_is_not_dropped() -> None:
    found = context(entries(("intent", "other")), relation("other", 5, exact=False))
    assert not found.droppable
    assert found.charged == ("mine", "other")


@pytest.mark.parametrize(("chose", "certified"), [(70, True), (71, False)])
def test_below_thirty_clean_rows_nothing_is_certified_and_all_rows_answer(chose: int, certified: bool) -> None:
    found = context(entries(), relation("other", chose, role="selection"))
    assert found.certified == certified
    assert found.rows.sum() == (N - chose if certified else N)


def test_a_look_that_is_being_made_counts_and_costs_nothing_yet() -> None:
    history = entries(("intent", "mine"), ("intent", "mine"))
    relations = (relation("mine", N, same=True),)
    standing = LookContext("mine", N, history, relations, None, at_work=frozenset({"1"})).standing
    assert (standing.look, standing.spent) == (3, 1.0)


@pytest.mark.parametrize(
    ("mine", "other", "role", "space"),
    [(5, 9, "test", 5), (None, 9, "test", 9), (None, 9, "selection", None), (None, None, "test", None)],
)
def test_a_space_over_rows_that_are_shared_takes_half_of_the_level_here_too(
    mine: int | None, other: int | None, role: str, space: int | None
) -> None:
    history = History((sealed("mine", mine), sealed("other", other)))
    found = context(history, relation("other", 50, role=role), relation("never sealed", 50))
    assert found.standing.space == space
