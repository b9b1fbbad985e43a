"""Which models count as declared, one condition at a time: each alone takes it away, and with all of them kept it holds."""

from types import SimpleNamespace
from typing import Any

import pytest

from modelsel.core.spec import make
from modelsel.core.types import Candidate
from modelsel.guard.checks import declared_space
from modelsel.guard.checks.declared_space import RECIPE, RECORD, STRANGER, judge_declaration, knows
from modelsel.guard.entries import space_hashes
from modelsel.guard.history import History, PastLook
from tests.guard.chains import entry
from tests.guard.histories import choice, entries, look, seal

MODEL = Candidate(make("learner", "knn", k=1))
IDS = space_hashes((MODEL.id, "another"))
SEAL: dict[str, Any] = {"space": 2, "candidates": "c", "commitment": "inputs", "weights": "", "seed": 3, "measure": "m"}


def asks(**facts: Any) -> Any:
    """A look by a declared candidate, fitted as it was declared."""
    request = SimpleNamespace(
        selected=SimpleNamespace(winner=facts.pop("winner", MODEL.id)), candidate=facts.pop("candidate", MODEL),
        sealing=SimpleNamespace(measure=facts.pop("by", make("measure", "error")), seed=facts.pop("seed", 3)),
    )  # fmt: skip
    whole = {"measure": "m", "predictions": "p", "weights": "", "commitment": "inputs", "category": "", **facts}
    policy = SimpleNamespace(justify=SimpleNamespace(category=whole.pop("category")))
    return SimpleNamespace(request=request, subject=SimpleNamespace(digest="mine"), policy=policy, **whole)


def judged(
    *told: Any, others: tuple[Any, ...] = (), whole: bool = True, ids: Any = IDS, role: str = "test", **facts: Any
) -> Any:
    flat = [one for part in told for one in (part if isinstance(part, list) else [part])]
    more = entries(*others, replica="z", first=50) if others else []
    known = History((*entries(seal(**SEAL), *flat), *more))
    return judge_declaration(asks(**facts), known, [SimpleNamespace(role=role, testset="other")], ids, whole)


def noted(predictions: str | None = "p", **facts: Any) -> Any:
    return choice(**{"winner": MODEL.id, "predictions": predictions, **facts})


def test_what_is_fitted_as_declared_is_so_by_recipe_and_what_was_on_record_by_record() -> None:
    assert judged().how == RECIPE
    assert judged(noted()).how == RECORD
    assert judged(noted(), candidate=None).how == RECORD
    assert judged(look("a", answer={}, predictions="other")).how == RECIPE


@pytest.mark.parametrize(
    ("facts", "why"),
    [({"ids": None}, STRANGER), ({"winner": "x"}, STRANGER), ({"whole": False}, "dropped"),
     ({"measure": "n"}, "another measure"),
     ({"by": SimpleNamespace()}, "another measure"), ({"category": "labels"}, "corrected"), ({"candidate": None}, "own code"),
     ({"candidate": Candidate(make("learner", "knn", k=2))}, "own code"), ({"commitment": "x"}, "not declared"),
     ({"seed": 4}, "not declared")],
)  # fmt: skip
def test_a_recipe_ends_with_each_of_its_conditions(facts: dict[str, Any], why: str) -> None:
    found = judged(**facts)
    assert (bool(found), why in found.why) == (False, True)


def test_another_person_s_code_is_no_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared_space, "is_own", lambda part: not isinstance(part, Candidate))
    assert "own code" in judged().why


def test_what_is_on_record_before_any_answer_decides_and_nothing_else() -> None:
    assert "others" in judged(noted("q")).why
    assert "others" in judged(noted(), weights="w").why
    assert "others" in judged(noted("q"), noted("p")).why  # the first
    for other in (noted(testset="other"), noted(winner="x"), noted(None)):
        assert judged(other).how == RECIPE
    late = [*look("a", answer={}), noted("q")]
    assert judged(late).how == RECIPE


@pytest.mark.parametrize(
    ("facts", "otherwise"),
    [({"predictions": "q"}, True), ({"predictions": "p"}, False), ({"predictions": "q", "member": False}, False),
     ({"predictions": "q", "winner": "x"}, False), ({"predictions": "q", "testset": "stranger"}, False)],
)  # fmt: skip
def test_a_member_says_the_same_at_every_look(facts: dict[str, Any], otherwise: bool) -> None:
    found = judged(look("a", answer={}, **{"member": True, "winner": MODEL.id, **facts}))
    assert ("otherwise" in found.why) == otherwise
    assert bool(found) != otherwise


def test_a_look_before_the_seal_or_at_corrected_labels_ends_all_declarations() -> None:
    before = entries(*look("a", "other", {}), seal(**SEAL))
    found = judge_declaration(asks(), History(tuple(before)), [SimpleNamespace(role="test", testset="other")], IDS, True)  # type: ignore[list-item]
    assert "already been tested when the space was declared" in found.why
    for relations in ([], [SimpleNamespace(role="selection", testset="other")]):
        assert judge_declaration(asks(), History(tuple(before)), relations, IDS, True).how == RECIPE  # type: ignore[arg-type]
    assert "corrected" in judged(look("a", answer={}, justify={"category": "labels"})).why
    assert judged(look("a", answer={}, justify={"category": "bug"})).how == RECIPE


@pytest.mark.parametrize(
    ("facts", "free"),
    [({}, True), ({"space": None, "seed": 9}, True), ({"seed": 9}, False), ({"candidates": "d"}, False),
     ({"measure": "n"}, False),
     ({"commitment": "x"}, False), ({"space": 3}, False)],
)  # fmt: skip
def test_other_models_that_another_declared_on_these_rows_end_the_declaration(facts: dict[str, Any], free: bool) -> None:
    assert bool(judged(others=(seal(**{**SEAL, **facts}),))) == free
    assert judged(seal("mine", **{**SEAL, **facts})).how == RECIPE  # a later one of the same chain follows it
    assert bool(judged(others=(seal("other", **{**SEAL, **facts}),))) == (facts.get("space", 2) is None)


def test_an_earlier_declaration_of_the_same_chain_comes_first() -> None:
    told = entries(seal("other", **{**SEAL, "seed": 9}), seal(**SEAL))
    found = judge_declaration(asks(), History(tuple(told)), [SimpleNamespace(role="test", testset="other")], IDS, True)  # type: ignore[list-item]
    assert "declared on these rows before" in found.why


@pytest.mark.parametrize(
    ("replica", "seq", "status", "said"),
    [("a", 4, "revealed", False), ("a", 5, "revealed", False), ("a", 6, "revealed", True), ("a", 6, "recovered", False),
     ("b", 1, "revealed", True), ("c", 9, "revealed", False)],
)  # fmt: skip
def test_what_was_on_record_when_a_look_began(replica: str, seq: int, status: str, said: bool) -> None:
    known = entry("seal", "a", 5)
    at = entry("intent", replica, seq, seen={"a": 5 if replica == "b" else 4})
    assert knows(PastLook(at, status), known) == said  # type: ignore[arg-type]
    assert not knows(PastLook(entry("intent", "d", 9), "open"), known)
