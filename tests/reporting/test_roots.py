"""A study by mean squared error is read in the unit of its target, and recorded in squares."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from modelsel.api.results.methods import methods
from modelsel.core.outcome import TestResult
from modelsel.record.folder import RunFolder
from modelsel.reporting.page import render
from modelsel.reporting.roots import ROOTED, outcome_as_read, pairs_as_read, root_difference, rows_as_read, spread
from modelsel.reporting.verdict import verdict
from tests.reporting._small import finished


def squared():
    record = finished()
    return replace(record, outcome=replace(record.outcome, measure="mse"))


def test_roots_of_scores_and_by_the_delta_method_of_what_is_known_of_them() -> None:
    rng = np.random.default_rng(0)
    losses = rng.chisquare(1, (20_000, 50)) * np.array(9.0)
    means = losses.mean(axis=1)
    assert spread(9.0, float(means.std())) == pytest.approx(float(np.sqrt(means).std()), rel=0.02)
    assert root_difference(16.0 - 9.0, 16.0, 9.0) == 1.0
    assert (spread(0.0, 0.0), root_difference(0.0, 0.0, 0.0)) == (0.0, 0.0)


def test_a_study_by_squares_is_read_by_roots(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "small")
    folder.save(squared())
    recorded, rows = folder.outcome(), folder.candidates()
    read, shown = outcome_as_read(recorded), rows_as_read(recorded, rows)
    assert read.measure == ROOTED
    assert read.winner["cv"]["mean"] == math.sqrt(recorded.winner["cv"]["mean"])
    assert [row.mean for row in shown[:3]] == [math.sqrt(row.mean) for row in rows[:3]]
    assert [math.isnan(row.mean) for row in shown] == [math.isnan(row.mean) for row in rows]
    assert sorted(shown, key=lambda row: row.rank)[0].id == sorted(rows, key=lambda row: row.rank)[0].id
    (pair,) = pairs_as_read(recorded, rows, folder.details()["pairs"])
    one, other = (next(row.mean for row in shown if row.id == pair[name]) for name in ("first", "second"))
    assert pair["difference"] == pytest.approx(0.1 / (one + other))
    assert pair["p"] == folder.details()["pairs"][0]["p"]
    page = render(folder)
    assert "root mse" in page
    assert ">mse<" not in page
    assert "by root mse" in verdict(folder)
    assert "Its cross-validated root mean squared error" in methods(folder)


def test_other_measures_are_read_as_they_are(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "small")
    folder.save(finished())
    recorded = folder.outcome()
    assert outcome_as_read(recorded) == recorded
    assert rows_as_read(recorded, folder.candidates()) == folder.candidates()


def test_a_look_at_numbers_says_by_how_much_rows_are_off_and_stands_on_no_axis_of_scores(tmp_path: Path) -> None:
    record, folder = squared(), RunFolder.create(tmp_path, "small")
    test = replace(record.outcome.test, tolerance=12.5, measure="within")
    assert isinstance(test, TestResult)
    task = {**record.outcome.task, "measured_in": "kg"}
    folder.save(replace(record, outcome=replace(record.outcome, test=test, task=task)))
    page = render(folder)
    assert f"{test.errors} of {test.n} rows off by more than 12.5 kg" in page
    assert "rows off by more than 12.5 kg" in verdict(folder)
    assert f"the share of rows off by more than 12.5 kg was {test.score:.4f}" in methods(folder)
    assert ">sealed test</text>" not in page
