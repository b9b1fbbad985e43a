"""The sentences and tables of an audit from a few facts, and the findings that a ledger remembers."""

from typing import Any

import pytest

from modelsel.guard.findings import look_findings, row_findings
from modelsel.guard.history import History
from modelsel.guard.quarantine import PLACE
from modelsel.guard.reporting.audit import of_looks, of_record, of_time
from modelsel.guard.reporting.page import LONG, day, html, items, markdown, number, plural, sentence, story
from modelsel.guard.reporting.report import AuditReport, TestSetReport
from modelsel.ledger.entry import follow
from tests.guard.histories import entries, history, look, seal

LOOK: dict[str, Any] = {
    "status": "revealed", "score": 0.1, "errors": 20, "n": 200, "look": 2, "spent": 4.0, "price": 3.0, "metric": "error",
    "interval": [0.05, 0.2], "as_first": [0.06, 0.15], "changes": [], "replay": False, "flags": ["G010"],
    "user": "u", "host": "h",
    "at": "2026-01-01T10:11:12", "study": "st", "cv_mean": 0.12, "charged": ["mine"], "justification": None, "superseded": None,
}  # fmt: skip
SET: dict[str, Any] = {
    "id": "mine", "rows": 200, "looks": [LOOK], "spent": 7.0, "studies": 1, "candidates": 3, "budget": None, "siblings": [],
    "sealed": {"at": "2026-01-01T10:11:12", "user": "u", "study": "st"}, "refusals": [],
    "policies": [{"policy": "warn", "release": "full", "delta": 0.1}],
    "choices": {"candidates": 3, "rows": 90, "bound": 0.1, "luck": 0.02, "carried": 5},
}  # fmt: skip
REPORT: dict[str, Any] = {
    "test_sets": [SET], "flags": [], "contacts": [],
    "ledger": {"intact": True, "head": "r:1:abc", "url": "here", "entries": 1, "anchors": ["state"]},
}  # fmt: skip


def page(of_set: Any = (), of_look: Any = (), **facts: Any) -> str:
    one = {**SET, **dict(of_set)}
    one["looks"] = [{**each, **dict(of_look)} for each in one["looks"]]
    return markdown({**REPORT, "test_sets": [one], **facts})


def test_a_line_of_the_timeline_has_the_nats_until_then() -> None:
    line = next(one for one in page().splitlines() if one.startswith("| 2 |"))
    assert line == "| 2 | 2026-01-01 10:11 | u@h | st | 0.1200 | 0.1000 | 3.00 | 3.00 | [0.050, 0.200] | G010 |"
    again = next(
        one for one in page(of_look={"replay": True, "interval": None}).splitlines() if one.startswith("| 2 (replay) |")
    )
    assert again == "| 2 (replay) | 2026-01-01 10:11 | u@h | st | 0.1200 | 0.1000 | 3.00 | 3.00 | none | G010 |"


@pytest.mark.parametrize(
    ("status", "said"),
    [("open", "open"), ("failed", "failed"), ("recovered", "recovered"), ("revealed", "0.1000"), ("replay", "0.1000")],
)
def test_a_line_says_what_became_of_the_look(status: str, said: str) -> None:
    assert f"| 0.1200 | {said} |" in page(of_look={"status": status})


def test_who_sealed_under_which_terms_and_at_what_level_is_told() -> None:
    assert (
        "200 rows, sealed 2026-01-01 10:11 by u in study st under guard=warn, release full, level 0.9; 1 look, 7.00 nats spent."
        in page()
    )
    assert "90% interval valid" in page()
    assert "95% interval valid" in page({"policies": []})
    assert " under " not in page({"policies": []}).partition("rows, sealed")[2].partition(";")[0]


@pytest.mark.parametrize(("luck", "told"), [(0.02, True), (None, False), (0.0, False)])
def test_luck_is_told_where_there_is_some(luck: float | None, told: bool) -> None:
    assert ("expected to look" in page({"choices": {**SET["choices"], "luck": luck}})) == told


@pytest.mark.parametrize(("carried", "said"), [(5, "±0.05 if at most 5 had"), (0, "±0.05 if not even one had")])
def test_how_many_candidates_the_rows_carry_is_told(carried: int, said: str) -> None:
    assert said in page({"choices": {**SET["choices"], "carried": carried}})
    assert "chose among" not in page({"choices": None})


@pytest.mark.parametrize(("n", "rows", "left"), [(200, 200, 0), (150, 200, 50), (None, 200, 0), (200, 199, 0)])
def test_rows_that_are_left_out_are_counted(n: int | None, rows: int, left: int) -> None:
    said = page({"rows": rows}, {"n": n})
    assert ("left out" in said) == (left > 0)
    assert left == 0 or f"computed on {n} rows; {left} others" in said


def test_the_checklist_has_a_dash_where_there_is_no_answer() -> None:
    said = page(of_look={"interval": None})
    assert "| uncertainty method | – |" in said
    assert "| sample size (test) | 200 |" in said
    assert "| groups kept together | yes |" in said


def test_other_sets_that_count_are_named_and_this_one_is_not() -> None:
    assert "are counted too" not in page()
    assert "Looks at test set other are counted too" in page(of_look={"charged": ["mine", "other"]})


@pytest.mark.parametrize(
    ("facts", "said", "told"),
    [({"changes": ["a"]}, "Before look 2, these were changed: a.", True),
     ({"justification": {"category": "bug", "text": "why"}}, "(bug): why", True),
     ({"justification": {"category": "bug", "text": ""}}, "justified", False), ({}, "superseded", False),
     ({}, "were changed", False),
     ({"superseded": {"look": 4, "interval": [0.1, 0.3]}}, "counts as look 4, interval [0.100, 0.300].", True),
     ({"superseded": {"look": 4, "interval": None}}, "counts as look 4, interval none.", True)],
)  # fmt: skip
def test_below_the_timeline_stands_what_is_to_be_said_of_a_look(facts: dict[str, Any], said: str, told: bool) -> None:
    assert (said in page(of_look=facts)) == told


def flag(code: str, severity: str) -> dict[str, str]:
    return {"code": code, "severity": severity, "message": f"m{code}", "do": ""}


def test_grave_findings_are_counted_and_come_first() -> None:
    flags = [flag("G1", "info"), flag("G2", "high"), flag("G3", "medium"), flag("G4", "critical"), flag("G2", "high")]
    said = page(flags=flags)
    assert "1 test set, 1 look. 3 grave findings: G4 (critical), G2 (high). The ledger is whole." in said
    order = [line.split(" | ")[0] for line in said.partition("## Findings")[2].splitlines() if line.startswith("| G")]
    assert order == ["| G4", "| G2", "| G2", "| G3", "| G1"]
    assert "No grave finding." in page(flags=[flag("G3", "medium")])
    assert "1 look. 1 grave finding: G2" in page(flags=[flag("G2", "high")])
    assert "0 looks." in page(of_look={"replay": True})


@pytest.mark.parametrize(
    ("intact", "code", "said"),
    [
        (True, "G012", "The ledger is whole."),
        (True, "G071", "not whole (G071)"),
        (False, "G071", "NOT WHOLE"),
        (None, "G071", "Nothing was kept"),
    ],
)
def test_it_is_told_whether_the_record_is_whole(intact: bool | None, code: str, said: str) -> None:
    assert said in page(flags=[flag(code, "high")], ledger={**REPORT["ledger"], "intact": intact})


def test_anchors_and_head_are_told_or_that_there_are_none() -> None:
    assert "Anchors: state. Head: r:1:abc." in page()
    assert "Anchors: none (level 0" in page(ledger={**REPORT["ledger"], "anchors": [], "head": None})
    assert "Head: none." in page(ledger={**REPORT["ledger"], "head": None})


def test_what_is_left_is_a_table_unless_nothing_is() -> None:
    budget = {"left": {"full": {"0.05": 0, "0.1": 1}, "grid": {"0.05": 0, "0.1": 0}}, "at": 0.3, "fresh": {"500": 0.1}}
    assert "| the exact score | 0 | 1 |" in page({"budget": budget})
    none = {**budget, "left": {"full": {"0.05": 0, "0.1": 0}}}
    assert "would be wider" in page({"budget": none})
    assert "Looks left" not in page()


@pytest.mark.parametrize(
    ("facts", "titles"),
    [({}, ["Timeline", "Checklist (REFORMS)"]), ({"looks": []}, []),
     ({"looks": [], "refusals": [{"at": "2026", "study": "s", "reason": "no"}]}, ["Timeline"]),
     ({"siblings": [{"study": "s", "folder": "f", "tried": 1, "winner": "w", "cv_mean": None}]},
      ["Timeline", "Studies over the same rows", "Checklist (REFORMS)"])],
)  # fmt: skip
def test_a_set_has_the_sections_that_have_something_to_say(facts: dict[str, Any], titles: list[str]) -> None:
    assert [one.title for one in story({**REPORT, "test_sets": [{**SET, **facts}]}) if one.level == 3] == titles


def test_contacts_are_told_with_what_is_known_of_their_rows() -> None:
    one = {"contact": "predicted", "at": "2026-01-01", "user": "u", "host": "h", "n": 9, "folder": None, "testset": "mine"}
    assert "| predicted | 2026-01-01 | u@h | 9 |  | test set mine |" in page(contacts=[one])
    assert "| 9 | f |  |" in page(contacts=[{**one, "folder": "f", "testset": None}])
    assert "Opened and predicted" not in page()


@pytest.mark.parametrize(("length", "wide"), [(LONG, False), (LONG + 1, True)])
def test_tables_with_long_cells_are_broken_into_lines(length: int, wide: bool) -> None:
    assert (
        "class='wide'" in html({**REPORT, "test_sets": [], "flags": [{**flag("G2", "high"), "message": "m" * length}]})
    ) == wide


def checklist(one: dict[str, Any]) -> dict[str, object]:
    return items(TestSetReport.read(one), AuditReport.read(REPORT))


@pytest.mark.parametrize(
    ("codes", "apart", "copies", "groups"),
    [
        ([], True, False, True),
        (["G020"], False, False, True),
        (["G022"], False, False, True),
        (["G030"], True, True, True),
        (["G032"], True, False, False),
    ],
)
def test_the_checklist_follows_the_findings(codes: list[str], apart: bool, copies: bool, groups: bool) -> None:
    told = items(
        TestSetReport.read({**SET, "looks": [{**LOOK, "replay": True, "metric": "x"}, {**LOOK, "flags": codes}]}),
        AuditReport.read(REPORT),
    )
    assert told["train-test separation maintained"] == apart
    assert told["duplicates between train and test"] == copies
    assert told["groups kept together"] == groups
    assert told["number of evaluations on the test set"] == 1
    assert (told["performance metric"], told["uncertainty estimate"]) == ("error", [0.05, 0.2])
    assert told["uncertainty method"] is not None
    without = checklist({**SET, "looks": [{**LOOK, "interval": None}]})
    assert (without["uncertainty estimate"], without["uncertainty method"]) == (None, None)
    assert checklist({**SET, "looks": []})["performance metric"] is None


@pytest.mark.parametrize(
    ("facts", "said"),
    [({"status": "open"}, "Look 2 has no answer (open); it is charged 3.00 nats."),
     ({"status": "replay"}, "Test error 0.100 (20/200), look 2"),
     ({"errors": None}, "Test error 0.100, look 2"), ({"score": None, "errors": None}, "pass or fail, look 2"),
     ({"errors": 0}, "(0/200)"),
     ({"spent": 0.0}, "valid whatever is done with the answer"), ({}, "earlier answers cost 4.00 nats."),
     ({}, "As a first look it would have been [0.060"),
     ({"interval": None}, "No interval is certified."), ({"interval": [0.3, 0.9]}, "[0.300, 0.900]"),
     ({"interval": [0.1, 0.9]}, "No information is left")],
)  # fmt: skip
def test_one_look_can_be_quoted(facts: dict[str, Any], said: str) -> None:
    assert said in sentence({**LOOK, **facts}, 200)


@pytest.mark.parametrize("facts", [{"spent": 0.0}, {"as_first": None}])
def test_what_it_would_have_been_as_a_first_look_is_said_of_later_ones(facts: dict[str, Any]) -> None:
    assert "As a first look" not in sentence({**LOOK, **facts}, 200)
    assert ("earlier answers" in sentence({**LOOK, **facts}, 200)) == ("spent" not in facts)


def test_numbers_days_and_nouns() -> None:
    assert (number(None), number(0.0)) == ("–", "0.0000")
    assert (day(None), day("2026-01-01T10:11:12")) == ("unknown", "2026-01-01 10:11")
    assert [plural(count, "look") for count in (0, 1, 2)] == ["0 looks", "1 look", "2 looks"]
    assert [plural(count, "entry", "entries") for count in (1, 2000)] == ["1 entry", "2,000 entries"]


@pytest.mark.parametrize(("rows", "grave"), [(9, False), (10, True), (11, True)])
def test_an_overlap_of_a_twentieth_is_grave(rows: int, grave: bool) -> None:
    assert row_findings.overlap_reseed(rows, 200, "t").severity == ("high" if grave else "medium")
    assert row_findings.test_rows_in_earlier_selection(rows, 200).severity == ("critical" if grave else "high")


def test_how_often_is_said_in_words() -> None:
    assert "which was looked at:" in row_findings.probable_same_rows_same_table("t", "test").message
    assert "which was used to choose:" in row_findings.probable_same_rows_same_table("t", "selection").message
    assert "without a guard before," in row_findings.unguarded_run_seen(1).message
    assert "2 times before" in row_findings.unguarded_run_seen(2).message
    assert look_findings.spec_changed_after_score(1, list("abcdefg")).message.endswith("f and 1 more")
    assert "its data or its parts" in look_findings.spec_changed_after_score(1, []).message
    assert "looked at before (2)" in row_findings.overlap_reseed_sealed_before(2, "s").message
    assert "sealed before" in row_findings.overlap_reseed_sealed_before(0, "s").message


def test_findings_of_looks_are_told_once_and_open_ones_besides() -> None:
    fact = {"code": "G010", "severity": "low", "message": "m", "do": ""}
    looks = [{**LOOK, "findings": [fact, {**fact, "message": "n"}]}, {**LOOK, "look": 3, "findings": [fact], "status": "open"}]
    assert [(one.code, one.message[:6]) for one in of_looks([TestSetReport.read({"id": "mine", "looks": looks})])] == [
        ("G010", "m"),
        ("G010", "n"),
        ("G060", "look 3"),
    ]


def recorded(*told: Any) -> list[str]:
    return [one.code for one in of_record(history(*told), ["mine"])]


def test_what_was_found_out_is_told_of_these_rows() -> None:
    note = {"code": "G071", "text": "t", "at": "2026-01-01"}
    assert recorded(("note", note), ("note", {"text": "t"}), ("note", {**note, "code": "G999"})) == ["G071", "G079"]
    change = {"testset": "mine", "weaker": ["delta"], "terms": {}}
    assert recorded(("policy_change", change)) == ["G073"]
    assert (
        recorded(("policy_change", {**change, "weaker": []})) == recorded(("policy_change", {**change, "testset": "far"})) == []
    )
    missing = {"testset": "mine", "head": "a:1:b", "anchor": "state", "unguarded": False, "code": "G072"}
    assert recorded(("recovered", missing)) == ["G072"]
    assert recorded(("recovered", {**missing, "testset": "far"})) == []
    (said,) = of_record(history(("recovered", {**missing, "unguarded": True, "code": "G076"})), ["mine"])
    assert (said.code, "opened without a guard" in said.message) == ("G076", True)
    there = entries(seal())
    known = follow(there[-1], "r", "recovered", {**missing, "id": "x", "at": "2026", "head": there[0].place})
    assert list(of_record(History((*there, known)), ["mine"])) == []
    bad = follow(None, PLACE, "recovered", {**missing, "id": "y", "at": "2026", "testset": "far", "why": "w", "worst": 1.0})
    assert [one.code for one in of_record(History((bad,)), ["mine"])] == ["G079"]


def test_each_chain_has_a_clock_of_its_own() -> None:
    one = entries(*look("a", answer={}), replica="a")
    late = entries(("note", {"at": "2027"}), ("note", {"at": "2027"}), ("note", {"at": "2026-12"}), replica="b")
    assert [finding.message for finding in of_time(History((*late, *one)))] != []
    assert len(list(of_time(History((*late, *one))))) == 1
    assert not list(of_time(History((*late[:2], *one))))
