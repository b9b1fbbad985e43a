"""Shows: every module has its two forms, names out of data cannot become markup, long paths stay readable."""

import re
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.experiments.__main__ import OWN
from modelsel.config.settings import SHOWS
from modelsel.reporting import overfitting, pruning_path, show

HOSTILE = '<script>alert(1)</script> & "so" on\''
STEP = {"alpha": 0.0, "used": 0.0, "leaves": 3, "training": 0.1, "mean": 0.2, "se": 0.05}
FACTS: dict[str, dict[str, Any]] = {
    "gains": {"criterion": HOSTILE, "classes": [HOSTILE, "b"], "more": 2,
              "nodes": [{"path": [f"{HOSTILE} = x"], "counts": [3.0, 1.5], "gains": [[HOSTILE, 0.5], ["b", 0.0]]}]},
    "tree": {"text": f"{HOSTILE} = x: a (3)\n"},
    "concept": {"classes": [{"name": HOSTILE, "any": [{"all": [HOSTILE], "weight": 0.0}]}, {"name": "b", "any": []}]},
    "pruning_path": {"measure": HOSTILE, "more": 1, "paths": [
        {"title": HOSTILE, "weight": 10.0, "higher": False, "grown": {"leaves": 4, "training": 0.0},
         "steps": [STEP, {**STEP, "alpha": 0.1, "mean": None, "se": None}, {**STEP, "alpha": 0.2, "se": None}],
         "best": 0, "one_standard_error": None}]},
    "soft_trees": {
        "data": HOSTILE, "published": None, "sets": 1, "rows": 20, "assessed": 10, "scores": 4, "choices": [],
        "kinds": {"cart": {"trees": 1, "splits": [3, 3, 3], "area": [80, 80, 80], "softened_by": "DR(1)",
                           "best": [{"hard": 80.0, "splits": 3, "soft": None, "smallest": -1}], "methods": {},
                           "each": [{"splits": 3, "hard": 80.0, "DR(1)": None, "auc": None}]}},
        "findings": [{"number": 1, "sentence": "a", "verdict": "not testable", "figures": HOSTILE}]},
    "overfitting": {"curves": [{"entry": HOSTILE, "sizes": [1.0, 2.0, 4.0], "training": [0.5, 0.7, 0.9],
                                "assessment": [0.5, 0.65, 0.6], "se": [0.1, 0.1, None]}]},
}  # fmt: skip


@pytest.fixture(autouse=True)
def _with_experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in OWN.items():
        monkeypatch.setitem(SHOWS, name, module)


def sections(kept: dict[str, Any]) -> list[dict[str, Any]]:
    """The sections of what a run's details.json keeps of its shows."""
    folder = SimpleNamespace(details=lambda: SimpleNamespace(shows=kept), reading=lambda name: nullcontext())
    return show.sections(folder)  # type: ignore[arg-type,return-value]


def test_facts_of_another_type_are_told() -> None:
    for name, one in FACTS.items():
        with pytest.raises(ValueError, match="asked is missing"):
            sections({name: one})
    path = {**FACTS["pruning_path"]["paths"][0], "steps": [{**STEP, "alpha": "x"}]}
    with pytest.raises(ValueError, match=r"paths\[0\].steps\[0\].alpha is no float"):
        sections({"pruning_path": {"asked": True, **FACTS["pruning_path"], "paths": [path]}})


def test_every_show_has_facts_here() -> None:
    assert set(FACTS) == set(SHOWS)


@pytest.mark.parametrize("name", sorted(FACTS))
def test_names_out_of_data_are_escaped_on_the_page_and_plain_in_the_terminal(name: str) -> None:
    (section,) = sections({name: {"asked": True, **FACTS[name]}})
    assert "<script" not in section["html"]
    assert "&lt;script" in section["html"]
    assert HOSTILE in show._text(name, FACTS[name])


def test_a_show_of_a_program_that_does_not_run_now_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(SHOWS, "gains")
    (section,) = sections({"gains": {"asked": True, **FACTS["gains"]}})
    assert "python -m benchmarks.experiments report RUN" in section["html"]
    assert "python -m benchmarks.experiments report RUN" in show._text("gains", FACTS["gains"])


def test_a_reason_stands_where_there_is_nothing_to_show() -> None:
    (section,) = sections({"gains": {"asked": True, "reason": "no <tree>"}})
    assert section["html"] == "<p class='soft'>no &lt;tree&gt;</p>"


def test_a_long_path_shows_its_ends_and_what_is_chosen() -> None:
    steps = [{**STEP, "alpha": i / 1000, "leaves": 300 - i, "mean": abs(i - 77) / 300 + 0.1} for i in range(300)]
    path = {**FACTS["pruning_path"]["paths"][0], "steps": steps, "best": 77, "one_standard_error": 92}
    table = pruning_path.text({"measure": "error", "paths": [path]}).splitlines()
    assert len(table) < 35
    assert table[4].split()[:2] == ["0.0000", "300"]
    assert [line.split()[1] for line in table if line.endswith("best")] == ["223"]
    assert [line.split()[1] for line in table if line.endswith("one_standard_error")] == ["208"]
    assert any("more strengths are not shown" in line for line in table)


def test_the_ends_of_a_curve_are_as_far_from_the_axis_as_from_the_edge() -> None:
    found = re.search(r'class="trend dashed" d="M([\d. ]+)"', overfitting.html(FACTS["overfitting"]))
    assert found is not None
    places = [float(place) for place in found[1].split()][::2]
    assert places[0] - overfitting.LEFT == overfitting.WIDTH - overfitting.RIGHT - places[-1]


def test_where_the_second_accuracy_is_largest_is_marked_once() -> None:
    lines = overfitting.text(FACTS["overfitting"]).splitlines()
    assert [line.split()[0] for line in lines if "<- largest" in line] == ["2.0"]
