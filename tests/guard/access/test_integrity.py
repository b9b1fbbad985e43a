"""What a home and its anchors remember, against what a ledger shows: gone, replaced, unknown, or copied and so known."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from modelsel.guard.access import integrity
from modelsel.guard.access.integrity import _recover, damage, losses, recover_looks, unknown_looks
from modelsel.ledger.database.schema import sqlite_url
from modelsel.ledger.home import Home
from modelsel.ledger.trust import TrustedEntries
from tests.guard.histories import entries, look, seal

HERE = entries(seal(), *look("a", answer={}), ("recovered", {"testset": "mine", "head": "z:9:lost"}),
               ("seal", {**seal("copy")[1], "mirror": {"hash": "copied", "key_id": "k"}}))  # fmt: skip
LEDGER: Any = SimpleNamespace(
    id="l", place="here", entries=lambda: HERE, everything=lambda: HERE, write=lambda step: step("writing")
)


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "believed_entries", lambda known: known)


def saw(head: str, **facts: str) -> tuple[str, dict[str, str]]:
    return "state", {"head": head, "ledger": "l", "testset": "mine", "look": "1", "policy": "warn", **facts}


@pytest.mark.parametrize(
    ("seen", "codes"),
    [(saw(HERE[1].place), []), (saw("z:9:lost"), []), (saw("q:1:copied"), []), (saw("r:9:x"), ["G071"]),
     (saw("r:2:x"), ["G070"]),
     (saw("q:2:x"), ["G071"]), (saw("r:9:x", ledger="other"), ["G072"]), (saw("r:9:x", policy="off"), ["G076"]),
     (saw("r:2:x", ledger="other", policy="off"), ["G076"])],
)  # fmt: skip
def test_a_look_that_an_anchor_saw_is_here_or_its_absence_has_a_meaning(seen: Any, codes: list[str]) -> None:
    assert [one.code for one in unknown_looks(LEDGER, HERE, [seen, saw(HERE[0].place)])] == codes


def test_nothing_is_written_where_all_that_was_seen_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "_recover", lambda *_: ["written"])
    assert recover_looks(LEDGER, "mine", 9, []) == []
    assert recover_looks(LEDGER, "mine", 9, [saw(one.place) for one in HERE]) == []
    assert recover_looks(LEDGER, "mine", 9, [saw(HERE[0].place)]) == []
    assert recover_looks(LEDGER, "mine", 9, [saw(HERE[0].place), saw("x:1:y")]) == ["written"]


@pytest.mark.parametrize(
    ("seen", "written"),
    [([saw("x:1:y", look="2")], 1), ([saw("x:1:y", look="3")], 2), ([saw("x:1:y", look="5"), saw("x:2:y", look="6")], 5),
     ([saw("x:1:y", look="5", policy="off")], 1), ([saw("x:1:y", look="1")], 1), ([saw("x:1:y", look="1000000")], 1001),
     ([saw("x:1:y", look="4"), saw("x:2:y", look="2", policy="off")], 4)],
)  # fmt: skip
def test_looks_that_were_counted_are_written_down_though_no_anchor_saw_them_itself(seen: Any, written: int) -> None:
    """One look is on record."""
    told: list[Any] = []
    known = HERE[:3]
    writing: Any = SimpleNamespace(
        entries=lambda: known, append=lambda kind, facts: told.append((kind, facts["code"], facts["anchor"]))
    )
    found = _recover(writing, LEDGER, "mine", 9, seen, ())
    assert [kind for kind, *_ in told] == ["recovered"] * written
    assert [anchor for *_, anchor in told].count("state") == len(seen)
    assert {one.code for one in found} == {code for _, code, _ in told}


def state(places: Any = None, marks: Any = None) -> dict[str, Any]:
    return {"places": {"url": "l"} if places is None else places, "marks": {"l": marks or {}}}


@pytest.mark.parametrize(
    ("remembered", "codes"),
    [({}, []), (state(marks={"r": [2, HERE[1].hash]}), []), (state(marks={"r": [2, "x"]}), ["G070"]),
     (state(marks={"r": [9, "x"]}), ["G071"]),
     (state(marks={"q": [1, "x"]}), ["G071"]), ({"places": {"url": "other"}, "marks": {"other": {"r": [1, "x"]}}}, ["G072"]),
     ({"places": {"url": "other"}, "marks": {}}, []), ({"places": {"else": "other"}, "marks": {"other": {"r": [1, "x"]}}}, [])],
)  # fmt: skip
def test_what_the_home_remembers_is_there(remembered: dict[str, Any], codes: list[str]) -> None:
    assert [one.code for one in losses(remembered, LEDGER, "url", HERE)] == codes


NOTED = entries(
    ("note", {"text": "1 entries that were signed are gone"}),
    ("seal", {**seal()[1], "text": "2 entries that were signed are gone"}),
)


@pytest.mark.parametrize(
    ("lost", "told", "codes"),
    [((), HERE, []), ((("x", "me"),), HERE, ["G071"]), (((HERE[0].hash, "me"),), HERE, []),
     ((("x", "me"),), [*HERE, NOTED[0]], []),
     ((("x", "me"), ("y", "me")), [*HERE, *NOTED], ["G071"])],
)  # fmt: skip
def test_signed_entries_that_are_gone_are_told_once(lost: Any, told: Any, codes: list[str]) -> None:
    assert [one.code for one in losses({}, LEDGER, "url", TrustedEntries(told, lost=lost))] == codes


@pytest.mark.parametrize(("who", "looked"), [("", True), ("me", True), ("stranger", False)])
def test_a_chain_is_looked_through_where_an_own_entry_or_one_seen_here_is_gone(
    monkeypatch: pytest.MonkeyPatch, who: str, looked: bool
) -> None:
    monkeypatch.setattr(integrity, "broken", lambda known: ["break"])
    home: Any = SimpleNamespace(signer=lambda: SimpleNamespace(public="me"))
    assert damage(home, LEDGER, TrustedEntries(HERE, lost=(("x", who),))) == (["break"] if looked else [])  # type: ignore[comparison-overlap]


def test_the_chain_that_goes_on_after_a_loss_is_new_and_the_home_s_own(tmp_path: Path) -> None:
    home, url = Home(tmp_path), sqlite_url(tmp_path / "ledger.db")
    names = [home.replica(url)]
    for _ in range(2):
        integrity._begin_anew(home, SimpleNamespace(close=lambda: None), url).close()  # type: ignore[arg-type]
        names.append(home.replica(url))
    assert len(set(names)) == 3
    assert set(names) <= home.replicas(url)
