"""The floor in words and in the table: where its score belongs, without a rank, with the reason where there is no score."""

from dataclasses import replace

import pytest

from modelsel.reporting import page
from modelsel.reporting import verdict as baselines
from modelsel.reporting.sections import leaderboard, scores
from modelsel.reporting.sections.view import View
from modelsel.reporting.verdict import verdict


def line(learner, mean, candidate=False, reason=""):
    cv = None if mean is None else {"mean": mean, "se": None, "folds": [mean, mean]}
    return {"id": f"{learner:0<16}", "learner": learner, "candidate": candidate, "cv": cv, "reason": reason}


def study_with(small, *lines):
    study = small.finished()
    return replace(study, outcome=study.outcome.but(floor=list(lines)))


@pytest.mark.parametrize(("mean", "place"), [(0.1, 0), (0.15, 1), (0.2, 2), (0.22, 2), (0.5, 3)])
def test_a_line_stands_below_the_candidates_that_are_as_good(small, recorded, mean, place):
    view = View(recorded(study_with(small, line("majority", mean))))  # candidates: 0.15, 0.2, 0.25 and one without a score
    rows = leaderboard.section(view)["rows"]
    assert [row["mark"] for row in rows].index("floor") == place
    assert rows[place]["rank"] is None
    assert [row["rank"] for row in rows if row["mark"] not in ("floor", "invalid")] == [1, 2, 3]


def test_the_report_opens_with_the_scores_on_one_axis(small, recorded):
    view = View(recorded(study_with(small, line("majority", 0.5))))
    drawn = {one.name: (one.mean, one.low, one.high) for one in scores.score_lines(view)}
    assert list(drawn) == [
        "cross-validated (best of all)",
        "corrected for the choice",
        "sealed test",
        "best of knn",
        "floor: majority",
    ]
    assert drawn["corrected for the choice"] == (0.18, 0.05, 0.31)
    assert drawn["sealed test"] == (0.2, 0.004, 0.78)
    assert drawn["cross-validated (best of all)"] == pytest.approx((0.15, 0.1, 0.2))
    first = page.render(view.folder).partition('id="verdict"')[2].partition("</section>")[0]
    assert first.count("<svg") == 2
    assert "<details" not in first


def test_a_learner_of_the_floor_has_one_lane_and_another_measure_none(small, recorded):
    study = study_with(small, line("majority", 0.5, candidate=True))
    outcome = study.outcome
    floor = {**outcome.extra["floor"][0], "id": study.selection.candidates[2].id}
    test = replace(outcome.test, measure="within", tolerance=30.0)
    view = View(recorded(replace(study, outcome=outcome.but(test=test, floor=[floor]))))
    names = [one.name for one in scores.score_lines(view)]
    assert names == ["cross-validated (best of all)", "corrected for the choice", "floor: majority"]
    assert "counts the rows that are off by more than 30" in page.render(view.folder)


def test_candidates_of_an_entry_that_tie_exactly_are_one_row(small, recorded):
    rows = View(recorded(small.finished())).ranked
    same = [rows[1], replace(rows[1], id="copy"), replace(rows[1], id="other", mean=rows[1].mean + 0.01), rows[2]]
    kept, told = leaderboard._merge_ties(same, [{"alike": 0} for _ in same], rows[0].id)
    assert [row.id for row in kept] == [rows[1].id, "other", rows[2].id]
    assert [line["alike"] for line in told] == [1, 0, 0]


def test_a_line_that_is_a_candidate_too_is_not_shown_twice(small, recorded):
    view = View(recorded(study_with(small, line("majority", 0.5, candidate=True))))
    assert "floor" not in [row["mark"] for row in leaderboard.section(view)["rows"]]
    assert baselines.sentence(view.outcome, higher_is_better=False) == "majority 0.5000 ± –"


def test_a_line_without_a_score_gives_its_reason(small, recorded):
    folder = recorded(study_with(small, line("majority", 0.5), line("prior_draw", None, reason="the measure is not defined")))
    assert "majority 0.5000 ± –, prior draw: the measure is not defined" in " ".join(verdict(folder).split())
    assert page.render(folder).count('<tr class="floor">') == 1


@pytest.mark.parametrize(
    ("mean", "higher", "worse"), [(0.15, False, True), (0.16, False, False), (0.14, True, False), (0.3, True, True)]
)
def test_a_winner_no_better_than_guessing_is_said_so(small, mean, higher, worse):
    outcome = study_with(small, line("majority", mean)).outcome  # the winner's mean is 0.15
    assert baselines.sentence(outcome, higher).endswith("the winner is no better than guessing") == worse


def test_a_record_without_a_floor_says_nothing_of_one(small, recorded):
    folder = recorded(small.finished())
    assert baselines.sentence(folder.outcome(), higher_is_better=False) == ""
    assert "\n  floor " not in verdict(folder)
