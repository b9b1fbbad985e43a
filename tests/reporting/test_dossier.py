"""Checklists filled from a record: items by their numbers, answers that the record bears out, the share that is answered."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import modelsel
from modelsel.api.outcome import Outcome
from modelsel.cli.dispatch import main
from modelsel.core.outcome import FloorFacts, ScoreFacts
from modelsel.record.folder import RunFolder
from modelsel.reporting.checklists import CHECKLISTS, MODEL_CARD, REFORMS, TRIPOD
from modelsel.reporting.dossier import DUPLICATES, FACTS, Dossier, _alike

ANSWERED = ("answered", "in part")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A study as anybody makes it, with a test and its reasons."""
    folder = tmp_path_factory.mktemp("dossier")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MODELSEL_HOME", str(folder / "home"))
        patch.chdir(folder)
        made = modelsel.run("dataset=iris", "space=naive_bayes", "tracking=off", "pool=sequential")
        return modelsel.open_run(Path(made.folder).absolute())


@pytest.fixture(scope="module")
def filled(run: Outcome) -> Callable[[str], Dossier]:
    return lambda name: modelsel.dossier(run, name)


def test_the_items_are_those_of_the_checklists_by_number() -> None:
    modules = {"1": "abc", "2": "abcde", "3": "abcdefg", "4": "abc", "5": "abcdef", "6": "abc", "7": "abc", "8": "ab"}
    assert [one.number for one in REFORMS.items] == [
        f"{number}{letter}" for number, letters in modules.items() for letter in letters
    ]
    assert len(REFORMS.items) == 32
    numbers = [one.number for one in TRIPOD.items]
    assert len(numbers) == len(set(numbers)) == 52
    assert [int(re.match(r"\d+", one)[0]) for one in numbers] == sorted(int(re.match(r"\d+", one)[0]) for one in numbers)  # type: ignore[index]
    assert {int(re.match(r"\d+", one)[0]) for one in numbers} == set(range(1, 28))  # type: ignore[index]
    assert [one.number for one in MODEL_CARD.items] == [str(number) for number in range(1, 10)]


def test_every_fact_of_an_item_is_made_and_every_fact_is_asked_for() -> None:
    asked = {name for one in CHECKLISTS.values() for item in one.items for name in (*item.facts, *filter(None, [item.needs]))}
    assert asked == set(FACTS)


@pytest.mark.parametrize("name", ["reforms", "tripod-ai"])
def test_of_the_items_that_apply_three_in_five_have_an_answer(name: str, filled: Callable[[str], Dossier]) -> None:
    made = filled(name)
    apply = [one for one in made.items if one.state != "does not apply"]
    answered = [
        one for one in apply if one.state in ANSWERED and all(fact.text and fact.where for fact in one.facts) and one.facts
    ]
    assert len(answered) / len(apply) >= 0.6
    assert made.share == len(answered) / len(apply)
    assert len(apply) >= 0.9 * len(made.items)  # few are said not to apply


def test_an_item_without_a_fact_asks_the_author_and_says_what(filled: Callable[[str], Dossier]) -> None:
    for name in CHECKLISTS:
        for one in filled(name).items:
            assert (one.state in ANSWERED) == bool(one.facts)
            assert one.author or one.state == "answered"
    states = {one.number: one.state for one in filled("tripod-ai").items}
    assert {states[number] for number in ("17", "18a", "18b", "19", "3c")} == {"ask the author"}
    assert {states[number] for number in ("12d", "12f", "23b", "24")} == {"does not apply"}


def test_answers_are_those_of_the_record(run: Outcome, filled: Callable[[str], Dossier]) -> None:
    folder = RunFolder.open(str(run.folder))
    study, details = folder.outcome(), folder.details()
    text = {one.number: " ".join(fact.text for fact in one.facts) for one in filled("reforms").items}
    assert study.task["fingerprint"] in text["2a"]
    assert f"modelsel {study.modelsel}" in text["2b"]
    assert f"numpy {details['environment']['numpy']}" in text["2c"]
    assert " ".join(details["command"]) in text["2e"]
    assert "150 rows: 105 to develop on, 45 sealed" in text["3e"]
    assert "setosa 35 (33.3%)" in text["3d"]
    assert f"{study.winner['id'][:8]}" in text["5d"]
    assert "majority" in text["5f"]
    assert study.test is not None
    assert f"error {study.test.score:.4f}" in text["7b"]
    assert "95 % interval [" in text["7b"]
    assert "1 look at the sealed rows" in text["6a"]


def test_fields_that_are_named_are_there(run: Outcome, filled: Callable[[str], Dossier]) -> None:
    folder = Path(run.folder)
    files = {fact.where.split(",")[0].split(";")[0] for name in CHECKLISTS for one in filled(name).items for fact in one.facts}
    for name in files:
        if name.endswith((".json", ".csv", ".yaml")) or name == "model/":
            assert (folder / name).exists(), name


def test_it_is_written_as_markdown_html_and_json(
    run: Outcome, filled: Callable[[str], Dossier], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = filled("model-card")
    assert next(line for line in made.markdown().splitlines() if line.startswith("## ")).startswith("## 1. Model: who made it")
    page = made.html()
    assert page.count("<tr>") == 10
    assert "<script" not in page
    assert "http-equiv" not in page
    assert main(["dossier", str(run.folder), "--as", "tripod-ai", "--to", "json", "-o", str(tmp_path / "t.json")]) == 0
    data = json.loads((tmp_path / "t.json").read_text())
    assert [one["number"] for one in data["items"]] == [one.number for one in TRIPOD.items]
    capsys.readouterr()
    assert main(["dossier", str(run.folder), "--as", "tripod"]) == 2
    assert "MSEL-823" in capsys.readouterr().err
    assert main(["dossier", str(run.folder), "-o", str(tmp_path / "no" / "t.md")]) == 6


def test_names_of_the_table_are_no_markup(filled: Callable[[str], Dossier]) -> None:
    from modelsel.reporting.dossier import Fact, FilledItem

    odd = FilledItem("1", "a <b>", "answered", (Fact("<script>x</script>", "a&b"),), "")
    page = Dossier("reforms", "REFORMS", "", "<i>", "runs", (odd,)).html()
    assert "<script" not in page
    assert "&lt;i&gt;" in page


@pytest.mark.parametrize(("kind", "tested", "told"), [("random", True, True), ("random", False, False), ("none", True, False)])
def test_how_sealed_rows_differ_is_told_where_some_were_tested(kind: str, tested: bool, told: bool) -> None:
    record = SimpleNamespace(config={"split": {"kind": kind}}, tested=tested)
    assert bool(_alike(record)) is told  # type: ignore[arg-type]


def test_findings_of_the_study_stand_in_its_answers(run: Outcome, filled: Callable[[str], Dossier]) -> None:
    """Iris has a row that stands in it twice."""
    found = [one["message"] for one in RunFolder.open(str(run.folder)).outcome().findings if one["code"] in DUPLICATES]
    assert found
    text = " ".join(fact.text for item in filled("reforms").items for fact in item.facts)
    assert all(message in text for message in found)


def test_a_baseline_without_a_score_is_passed_over() -> None:
    about = {"id": "", "candidate": False, "reason": ""}
    scored = FloorFacts(learner="majority", cv=ScoreFacts(mean=0.25, se=0.1), **about)
    lines = [scored, FloorFacts(learner="prior_draw", cv=None, **about)]
    told = FACTS["floor"][1](SimpleNamespace(outcome=SimpleNamespace(floor=lines)))  # type: ignore[arg-type]
    assert told == "On the same folds: majority 0.2500."
