"""The audit: its public shape, its sentences, and what it finds."""

import json
from math import exp, log, sqrt
from pathlib import Path

import pytest

from modelsel.core.spec import make
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.page import html, markdown, reforms
from modelsel.guard.reporting.report import TestSetReport
from tests.guard.studies import Rule, Study, numbers


@pytest.fixture
def study(home: Path) -> Study:
    study = Study(numbers(2000), home, settings={"release": "full", "declared_space": None})
    for rule in (Rule(0), Rule(1), Rule(0)):
        study.but(rule=rule).look()
    return study


@pytest.mark.slow
def test_the_shape_is_the_public_one(study: Study) -> None:
    report = audit(study.gate())
    assert json.loads(json.dumps(report)) == report.written()
    assert {"url", "entries", "intact", "head"} <= report["ledger"].keys()
    (one,) = report["test_sets"]
    assert {"id", "rows", "looks"} <= one.keys()
    wanted = {"seq", "at", "study", "spec_id", "replay", "score", "interval", "price", "overlap", "flags"}
    assert all(wanted <= look.keys() for look in one["looks"])
    assert [look["replay"] for look in one["looks"]] == [False, False, True]
    assert {"code", "severity", "message", "do"} == report["flags"][0].keys()
    assert report["ledger"]["intact"] is True
    assert {"high"} == {flag["severity"] for flag in report["flags"]} - {"info", "low", "medium"}


@pytest.mark.slow
def test_it_says_in_short_what_was_found_and_lists_the_gravest_first(study: Study) -> None:
    report = audit(study.gate())
    page = markdown(report)
    assert page.startswith("# Audit\n\n## In short\n\n1 test set, 2 looks. 1 grave finding: G012 (high). The ledger is whole.")
    findings = page.partition("## Findings")[2]
    assert findings.index("G012") < findings.index("G001")


@pytest.mark.slow
def test_a_refusal_is_told_even_where_nobody_ever_looked(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    study.but(policy="strict", split_seed=2, rule=Rule(1)).look()
    report = audit(study.gate())
    assert [len(one["looks"]) for one in report["test_sets"]] == [1, 0]
    assert "Refused" in markdown(report)
    assert "G021" in markdown(report).partition("Refused")[2]


@pytest.mark.slow
def test_looks_at_sets_that_share_rows_are_named(home: Path) -> None:
    study = Study(numbers(1000), home)
    study.look()
    other = study.but(split_seed=2, rule=Rule(1))
    result = other.look()
    report = audit(study.gate())
    page = markdown(report)
    first = study.gate().subject(study.sealing()).digest
    assert report["test_sets"][1]["looks"][0]["charged"][1:] == [first]
    assert f"Looks at test set {first[:8]} are counted too" in page
    assert f"computed on {result.n} rows; {300 - result.n} others were seen before" in page


def test_who_sealed_and_in_which_study_is_told(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    report = audit(study.gate())
    sealed = report["test_sets"][0]["sealed"]
    assert f"by {sealed['user']} in study study" in markdown(report)
    unnamed = report.test_sets[0].but(sealed=sealed.but(user="", study=""))
    assert "by unknown in study unknown" in markdown(report.but(test_sets=[unnamed]))


def test_choices_of_all_studies_are_added_up(home: Path) -> None:
    study = Study(numbers(1000), home, candidates=tuple("abcde"))
    study.choose_only()
    study.but(rule=Rule(1)).choose_only()
    study.but(rule=Rule(1)).choose_only()  # the same study again
    (one,) = audit(study.gate())["test_sets"]
    assert (one["studies"], one["choices"]["candidates"], one["choices"]["rows"]) == (2, 10, 700)
    assert one["choices"]["bound"] == pytest.approx(sqrt((log(10) + log(20)) / 1400))
    rate = float((Rule(1)(study.parts()[0]).predicted[0] != study.parts()[0].target).mean())
    assert one["choices"]["luck"] == pytest.approx(1.5388 * sqrt(rate * (1 - rate) / 700), abs=1e-4)
    assert one["choices"]["carried"] == int(exp(2 * 700 * 0.05**2 - log(20)))


def test_where_another_measure_decides_no_error_rate_is_called_lucky(home: Path) -> None:
    study = Study(numbers(1000), home, candidates=tuple("abcde"), measure=make("measure", "auc"))
    study.choose_only()
    report = audit(study.gate())
    (one,) = report["test_sets"]
    assert one["choices"]["luck"] is None
    assert "all of these error rates" in markdown(report)
    assert "expected to look" not in markdown(report)


def test_an_empty_ledger_has_an_empty_story(home: Path) -> None:
    report = audit(Study(numbers(), home).gate())
    assert (report["test_sets"], report["flags"]) == ([], [])
    assert "None." in markdown(report)


@pytest.mark.slow
def test_the_sentence_can_be_quoted(study: Study) -> None:
    report = audit(study.gate())
    second = report["test_sets"][0]["looks"][1]
    page = markdown(report)
    low, high = second["interval"]
    assert f"look 2 of this test set; earlier answers cost {second['spent']:.2f} nats." in page
    assert f"95% interval valid whatever was done with those answers: [{low:.3f}, {high:.3f}]." in page
    first = second["as_first"]
    assert f"As a first look it would have been [{first[0]:.3f}, {first[1]:.3f}]." in page
    assert "rule.column" in page


@pytest.mark.slow
def test_only_what_a_study_touched(study: Study) -> None:
    Study(numbers(seed=3), study.home).gate()
    other = Study(numbers(seed=3), study.home)
    other.look()
    assert len(audit(study.gate())["test_sets"]) == 2
    assert len(audit(study.gate(), study.sealing())["test_sets"]) == 1
    assert audit(study.gate(), study="no such study")["test_sets"] == []


@pytest.mark.slow
def test_the_next_look_is_foretold(study: Study) -> None:
    gate, sealing = study.gate(), study.sealing()
    upcoming = audit(gate, sealing)["next"]
    assert upcoming["look"] == 3
    result = study.but(rule=Rule(2)).look()
    assert result.look == 3
    assert result.price == pytest.approx(upcoming["price"], abs=1e-4)


def test_an_interval_of_error_rates_is_not_foretold_of_another_measure(home: Path) -> None:
    other = Study(numbers(), home, measure=make("measure", "kappa"))
    other.run()
    upcoming = audit(other.gate(), other.sealing())["next"]
    assert upcoming["price"] > 0
    assert upcoming["interval"] is None


def test_nor_before_the_first_look(home: Path) -> None:
    other = Study(numbers(), home, measure=make("measure", "kappa"))
    other.choose_only()
    upcoming = audit(other.gate(), other.sealing())["next"]
    assert upcoming["look"] == 1
    assert upcoming["interval"] is None
    by_error = Study(numbers(seed=1), home)
    by_error.choose_only()
    low, high = audit(by_error.gate(), by_error.sealing())["next"]["interval"]
    assert 0 <= low < high <= 1


def test_html_is_one_page_that_escapes_what_people_wrote(home: Path) -> None:
    study = Study(numbers(), home, spec="<script>alert(1)</script>")
    study.look()
    page = html(audit(study.but(spec="").gate()))
    assert "<script" not in page
    assert "http" not in page.replace("https://", "")
    assert page.startswith("<!doctype html>")


@pytest.mark.slow
def test_checklist_items(study: Study) -> None:
    (items,) = reforms(audit(study.gate())).values()
    assert items["number of evaluations on the test set"] == 2
    assert items["train-test separation maintained"] is True
    assert items["record intact"] is True


def test_a_checklist_of_many_test_sets_does_not_read_all_of_them_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, count = TestSetReport._with.__func__, []  # type: ignore[attr-defined]
    monkeypatch.setattr(TestSetReport, "_with", classmethod(lambda cls, stated: count.append(1) or read(cls, stated)))
    sets = [{"id": f"set {number}", "rows": number, "looks": [], "candidates": 7} for number in range(40)]
    found = reforms({"ledger": {"intact": True}, "test_sets": sets, "flags": []})
    assert [items["sample size (test)"] for items in found.values()] == list(range(40))
    assert len(count) <= 2 * len(sets)


def test_where_nothing_is_remembered_the_audit_says_so_and_off_is_audited_like_any_other(home: Path) -> None:
    study = Study(numbers(), home, policy="off")
    report = audit(study.but(settings={"remember": False}).gate())
    assert report["ledger"]["intact"] is None
    assert [flag["code"] for flag in report["flags"]] == ["G004"]
    study.look()
    report = audit(study.gate())
    assert report["ledger"]["intact"] is True
    assert [look["policy"] for one in report["test_sets"] for look in one["looks"]] == ["off"]
    assert "Nothing was kept" not in markdown(report)


@pytest.mark.slow
def test_what_was_once_found_out_is_said_ever_after(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    for path in home.glob("ledger.db*"):
        path.unlink()
    study.but(rule=Rule(1)).look()
    study.but(rule=Rule(2), settings={"delta": 0.2}).look()
    report = audit(study.gate())
    assert report["ledger"]["intact"] is True
    assert {"G072", "G073"} <= {one["code"] for one in report["flags"]}
    assert [look["status"] for look in report["test_sets"][0]["looks"]] == ["recovered", "revealed", "revealed"]
    assert "recovered" in markdown(report)
