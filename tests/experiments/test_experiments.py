"""Published experiments, as typed: their numbers in the terminal, on record and on the page; no test set, no ledger."""

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from benchmarks.experiments.__main__ import OWN, command, names
from modelsel.config.settings import SHOWS


def _details(run: Path = Path("runs/latest")) -> dict[str, Any]:
    return dict(json.loads((run / "details.json").read_text()))["shows"]


def _page() -> str:
    return unescape(Path("runs/latest/report.html").read_text("utf-8"))


def _opened(tmp: Path) -> bool:
    return any(tmp.glob("home/**/*.db"))


@pytest.mark.slow
def test_play_tennis_prints_the_published_gains_tree_and_concepts(modelsel: Any, tmp_path: Path) -> None:
    done = modelsel(*command(["play_tennis"]))
    assert done.code == 0, done.err
    nodes = _details()["gains"]["nodes"]
    assert [" and ".join(node["path"]) for node in nodes] == ["", "Outlook = Sunny", "Outlook = Rain"]
    gains = {name: round(gain, 6) for name, gain in nodes[0]["gains"]}
    assert gains == {"Outlook": 0.24675, "Humidity": 0.151836, "Wind": 0.048127, "Temperature": 0.029223}
    assert {name: round(gain, 6) for name, gain in nodes[1]["gains"]} == {
        "Humidity": 0.970951, "Temperature": 0.570951, "Wind": 0.019973,
    }  # fmt: skip
    concepts = {one["name"]: [" and ".join(each["all"]) for each in one["any"]] for one in _details()["concept"]["classes"]}
    assert concepts == {
        "No": ["Outlook = Sunny and Humidity = High", "Outlook = Rain and Wind = Strong"],
        "Yes": ["Outlook = Sunny and Humidity = Normal", "Outlook = Overcast", "Outlook = Rain and Wind = Weak"],
    }
    for words in (
        "0.246750  <- tested",
        "|   Wind = Strong: No (2)",
        "or Outlook = Rain and Wind = Weak",
        "cut after three digits",
    ):
        assert words in done.out
    for words in ("0.246750", "|   Wind = Strong: No (2)", "or Outlook = Rain and Wind = Weak", "cut after three digits"):
        assert words in _page()
    assert "no rows are sealed" in done.out
    assert not _opened(tmp_path)


@pytest.mark.slow
def test_the_balloons_are_four_studies_that_learn_their_concepts(modelsel: Any, tmp_path: Path) -> None:
    done = modelsel(*command(["balloons"]))
    assert done.code == 0, done.err
    texts = _by_task(done.out)
    assert "  T\n    if act = STRETCH and age = ADULT\n" in texts["balloons_adult_and_stretch"]
    assert "  T\n    if act = STRETCH\n    or act = DIP and age = ADULT\n" in texts["balloons_adult_or_stretch"]
    assert "  T\n    if color = YELLOW and size = SMALL\n" in texts["balloons_yellow_small"]
    both = texts["balloons_yellow_small_or_adult_and_stretch"]
    assert both.count("  <- tested") == 6
    assert "/" not in both.split("The tree")[1].split("The concept")[0]  # no leaf is wrong about a row
    assert not _opened(tmp_path)


def _by_task(out: str) -> dict[str, str]:
    """What was printed, per study of the sweep."""
    parts = [part for part in out.split("== ") if part.startswith("balloons")]
    return {part.split(" ==")[0]: part for part in parts}


@pytest.mark.slow
def test_one_scenario_of_the_balloons_is_one_study(modelsel: Any) -> None:
    done = modelsel(*command(["balloons", "dataset.concept=adult_or_stretch"]))
    assert done.code == 0, done.err
    assert done.outcome.task["name"] == "balloons_adult_or_stretch"
    assert len(list(Path("runs/balloons").iterdir())) == 1


def test_the_published_path_of_iris_comes_out_and_its_misprint_is_said(modelsel: Any) -> None:
    done = modelsel(*command(["iris_pruning"]))
    assert done.code == 0, done.err
    paths = _details()["pruning_path"]["paths"]
    assert len(paths) == 2  # entropy and gini
    for path in paths:
        assert (path["grown"]["leaves"], round(150 * path["grown"]["training"])) == (7, 3)
        assert [step["alpha"] for step in path["steps"]] == pytest.approx([0, 1 / 150, 2 / 150, 22 / 150])
        assert [step["leaves"] for step in path["steps"]] == [5, 4, 3, 1]
        assert [round(150 * step["training"]) for step in path["steps"]] == [3, 4, 6, 50]
        best = path["steps"][path["best"]]
        assert best["mean"] == min(step["mean"] for step in path["steps"])
        assert path["steps"][path["one_standard_error"]]["mean"] <= best["mean"] + best["se"]
    assert "60/150" in done.out
    assert "50 of 150" in done.out
    assert "60/150" in _page()
    assert "one_standard_error" in _page()


@pytest.mark.slow
def test_the_second_accuracy_falls_while_the_first_rises(modelsel: Any) -> None:
    done = modelsel(*command(["overfitting_curve"]))
    assert done.code == 0, done.err
    curves = _details()["overfitting"]["curves"]
    assert [curve["entry"] for curve in curves] == ["grown", "stopped"]
    for curve in curves:
        top = max(range(len(curve["sizes"])), key=curve["assessment"].__getitem__)
        assert curve["sizes"] == sorted(curve["sizes"])
        assert 0 < top < len(curve["sizes"]) - 1
        assert curve["training"] == sorted(curve["training"])
        assert curve["assessment"][-1] < curve["assessment"][top] - 3 * curve["se"][top]
    assert "<- largest" in done.out


@pytest.mark.slow
def test_a_report_is_made_again_from_the_record(modelsel: Any) -> None:
    modelsel(*command(["iris_pruning"]))
    before = Path("runs/latest/report.html").read_text("utf-8")
    Path("runs/latest/report.html").unlink()
    assert modelsel("report", "latest").code == 0
    assert _section(Path("runs/latest/report.html").read_text("utf-8")) == _section(before)


def _section(page: str) -> str:
    return page.split('<section id="pruning_path"')[1].split("</section>")[0]


@pytest.mark.slow
def test_any_study_with_a_family_has_its_path_on_the_page_and_prints_it_when_asked(modelsel: Any) -> None:
    small = ("dataset=wine", "space=cart", "scheme.folds=3", "split=none")
    quiet = modelsel("run", *small)
    assert "The pruning path" in _page()
    assert "The pruning path" not in quiet.out
    asked = modelsel("run", *small, "show=pruning_path", "measure=log_loss")
    assert "The pruning path" in asked.out
    assert "log_loss" in asked.out.split("The pruning path")[1].splitlines()[2]


def test_what_cannot_be_shown_says_why(modelsel: Any) -> None:
    done = modelsel("run", "dataset=iris", "space=majority", "split=none", "measure=brier",
                    "show=[gains,tree,concept,overfitting,pruning_path]")  # fmt: skip
    assert done.code == 0, done.err
    assert done.out.count("the winner is not a tree of classes (majority)") == 3
    assert "accuracies need measure=error, not brier" in done.out
    assert "no candidates that differ in the strength of cost_complexity alone" in done.out


def test_a_show_that_left_is_answered_with_where_it_is(modelsel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OWN:
        monkeypatch.delitem(SHOWS, name)
    done = modelsel("run", "dataset=iris", "space=majority", f"show=[{','.join(OWN)}]")
    assert done.code == 2
    assert done.err.count("python -m benchmarks.experiments, in the sources") == len(OWN)


def test_the_names_are_those_of_the_configuration_and_other_commands_stay() -> None:
    assert {"soft_trees", "overfitting_curve", "which_learner"} <= set(names())
    assert command(["iris_pruning", "seed=1"]) == ["run", "experiment=iris_pruning", "seed=1"]
    assert command(["report", "latest"]) == ["report", "latest"]


def test_a_show_or_class_that_is_not_there_is_named_with_the_nearest(modelsel: Any) -> None:
    done = modelsel("run", "dataset=iris", "space=majority", "show=[gain]", "dataset.positive=setossa")
    assert done.code == 2
    assert "unknown show 'gain'" in done.err
    assert "did you mean 'gains'?" in done.err
    assert "iris has no class 'setossa'" in done.err
