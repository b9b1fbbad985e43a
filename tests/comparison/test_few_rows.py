"""Rows that decide a log loss are named, with the score without them; ordinary losses are not complained of."""

import numpy as np
import pytest

from modelsel.comparison.selection import choose, decided_by_few
from modelsel.core.spec import make
from tests import doubles
from tests.doubles import spread
from tests.runner.studies import study


def test_one_sure_mistake_is_named_with_the_floor() -> None:
    losses = np.full(203, 0.4486)
    losses[17] = 34.54
    losses[5] = np.nan
    (finding,) = decided_by_few(losses, np.arange(1000, 1203), 1e-15)
    assert finding.code == "FEW_ROWS_DECIDE"
    share = 34.54 / np.nansum(losses)
    assert f"row 1017 carries {share:.0%}".replace("%", " %") in finding.message
    assert f"{np.nanmean(losses):.4f} with, 0.4486 without them" in finding.message
    assert "costs 34.5 (measure.floor=1e-15)" in finding.message


@pytest.mark.parametrize("losses", [np.full(200, 0.7), np.geomspace(0.01, 1, 400), np.zeros(100), np.ones(9)])
def test_ordinary_losses_are_not_complained_of(losses: np.ndarray) -> None:
    assert list(decided_by_few(losses, np.arange(len(losses)), 1e-15)) == []


def test_a_study_by_log_loss_asks_and_one_by_error_does_not(tmp_path, monkeypatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr(
        "modelsel.comparison.selection.decided_by_few", lambda losses, rows, floor: asked.append(floor) or iter(())
    )
    task = doubles.task()
    for measure in ("error", "log_loss"):
        results = study(tmp_path / measure, spread(3), task=task, measure=make("measure", measure))
        choose(results, make("rule", "best"), doubles.folds(task), seed=0)
    assert asked == [1e-15]
