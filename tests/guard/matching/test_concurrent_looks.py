"""Looks that did not know of each other, case by case: which count, what they cost, and where rows can be compared."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.guard.concurrent_looks import as_first, incomparable, later_places, looks_beside, standing_answer
from modelsel.guard.history import History, PastLook
from modelsel.guard.release import Counts, LabelSummary
from modelsel.ledger.rows.row_set import RowSet
from modelsel.statistics.certificate import SpendingState, interval
from tests.guard.chains import entry
from tests.guard.histories import entries, look, seal


def past(replica: str, seq: int = 5, status: str = "revealed", **facts: Any) -> PastLook:
    """A look of a chain; 40 of 200 rows were wrong."""
    released = vars(Counts(200, None).release(LabelSummary(200, 40, 0.2, (200,), 200.0)))
    said = {"price": 3.0, "released": {**released, "bounds": [0.0, 1.0]}}
    whole: Any = {"look": 2, "spent": 1.0, "n": 200, "certified": True, "delta": 0.05, "seen": {}, "worst": 20.0, **facts}
    return PastLook(
        entry("intent", replica, seq, **whole),
        status,
        SimpleNamespace(facts={**said, **facts.get("answer", {})}) if status == "revealed" else None,
    )  # type: ignore[arg-type]


def limits(look: int, spent: float, delta: float = 0.05, space: int | None = None, member: bool = False) -> list[float]:
    return list(interval(40, 40, 200, SpendingState(look, spent, space, member).nats(delta)))


def test_a_look_stands_after_all_that_it_did_not_know_of_and_that_did_not_know_of_it() -> None:
    mine = past("a", seen={"knew": 5})
    others = [
        past("b"),
        past("c", status="open"),
        past("knew"),
        past("late", seen={"a": 5}),
        past("early", seen={"a": 4}),
        past("a", 9),
    ]
    (found,) = later_places([mine], [mine, *others])
    assert found is not None
    assert (found.look, found.spent) == (5, 1.0 + 3.0 + 20.0 + 3.0)  # b, c and early
    assert found.interval == pytest.approx(limits(5, 27.0))
    assert later_places([mine], [mine, past("knew"), past("a", 9)]) == [None]
    assert later_places([past("a", status="failed")], [past("b")]) == [None]


def test_what_stands_beside_a_score_is_widened_with_it_and_ends_of_quantiles_are_not_shown() -> None:
    said = {
        "interval": [0.1, 0.3], "counted": {"rows": 40, "interval": [0.1, 0.3]}, "above": {"rows": 3, "interval": [0, 0.1]},
        "quantiles": [{"q": 0.5, "value": 1.0, "interval": [0.5, 2.0]}],
    }  # fmt: skip
    mine = past("a", answer=said, numbers=3)
    known = past("a", answer=said, numbers=3, seen={"b": 5})
    assert standing_answer(known, [known, past("b")]).written()["counted"] == said["counted"]
    found = standing_answer(mine, [mine, past("b")])
    assert found.interval == pytest.approx(limits(3, 4.0, 0.05 / 3))
    assert found.counted == {"rows": 40, "interval": pytest.approx(limits(3, 4.0, 0.05 / 3))}
    assert found.above == {"rows": 3, "interval": pytest.approx(interval(3, 3, 200, SpendingState(3, 4.0).nats(0.05 / 3)))}
    assert found.quantiles is None
    withheld = past("a", answer={**said, "counted": {"rows": 40, "interval": None}})
    assert standing_answer(withheld, [withheld, past("b")]).counted == {"rows": 40, "interval": None}


@pytest.mark.parametrize(("mine", "other", "space"), [(7, 9, 7), (None, 9, 9), (None, None, None)])
def test_a_space_that_either_declared_takes_half_of_the_level(mine: int | None, other: int | None, space: int | None) -> None:
    (found,) = later_places([past("a", space=mine, member=True)], [past("b", space=other)])
    assert found is not None
    assert found.interval == pytest.approx(limits(3, 4.0, space=space))


def test_as_a_first_look_a_member_has_its_own_level() -> None:
    assert as_first(past("a", space=7, member=True)) == pytest.approx(limits(1, 0.0, space=7, member=True))
    assert as_first(past("a", numbers=2)) == pytest.approx(limits(1, 0.0, 0.025))
    assert as_first(past("a", status="open")) is None
    assert as_first(past("a", certified=False)) is None
    assert as_first(past("a", answer={"released": None})) is None


FAR = np.arange(500, 600, dtype=np.uint64)


class Rows:
    """Stored sets by name: ten hashes from some number on, as a sketch or whole."""

    def __init__(self, sketch: bool = False) -> None:
        self.sketch = sketch

    def __call__(self, name: str) -> Any:
        bound = FAR if name == "d" else np.arange(10, dtype=np.uint64) + np.uint64(int(name))
        return RowSet({"sketch": 1} if self.sketch else {}, {"bound": bound})


def merged(other: str = "5", u: float = 1.0, knows: bool = False, **facts: Any) -> History:
    """A look at `mine` in one chain, one at `other` in another."""
    one = entries(seal("mine", rows="0", development="d", u=u), *look("a", "mine"), replica="x")
    seen = {"x": 2} if knows else {}
    two = entries(seal("other", **{"rows": other, "development": "d", **facts}), *look("b", "other", seen=seen), replica="y")
    return History((*one, *two))


@pytest.mark.parametrize("sketch", [False, True])
@pytest.mark.parametrize(("other", "shares"), [("9", True), ("10", False)])
def test_looks_at_sets_that_share_rows_stand_beside_each_other(sketch: bool, other: str, shares: bool) -> None:
    found = looks_beside(merged(other), "mine", Rows(sketch))
    assert [one.testset for one in found] == (["mine", "other"] if shares else ["mine"])
    assert incomparable(merged(other), "mine") == 0
    assert [one.testset for one in looks_beside(merged(other, knows=True), "mine", Rows(sketch))] == ["mine"]


@pytest.mark.parametrize("facts", [{"rows": None}, {"development": None}, {"key_id": "another"}])
def test_sets_whose_rows_are_not_kept_or_under_another_key_cannot_be_compared(facts: dict[str, Any]) -> None:
    assert [one.testset for one in looks_beside(merged(**facts), "mine", Rows())] == ["mine"]
    assert incomparable(merged(**facts), "mine") == 1
    assert incomparable(merged(**facts, knows=True), "mine") == 0


def test_a_look_at_rows_that_nobody_sealed_cannot_be_compared() -> None:
    found = merged()
    unsealed = History(tuple(entry for entry in found.entries if (entry.kind, entry.facts["testset"]) != ("seal", "other")))
    assert incomparable(unsealed, "mine") == 1
    assert [one.testset for one in looks_beside(unsealed, "mine", Rows())] == ["mine"]


@pytest.mark.parametrize(
    ("u", "chance", "shares"), [(0.95, False, True), (0.95, True, True), (0.949, False, False), (0.949, True, True)]
)
def test_rows_that_cannot_be_told_apart_are_shared_where_more_agree_than_by_chance(
    monkeypatch: pytest.MonkeyPatch, u: float, chance: bool, shares: bool
) -> None:
    monkeypatch.setattr("modelsel.guard.concurrent_looks.more_than_chance", lambda *_: chance)
    assert len(looks_beside(merged("5", u), "mine", Rows())) == (2 if shares else 1)
    assert len(looks_beside(merged("10", u), "mine", Rows())) == 1
