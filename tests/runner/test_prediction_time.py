"""Seconds of a prediction: a try that warms up, then the least of a few, and no more of them than there is time for."""

from types import SimpleNamespace
from typing import Any

import pytest

from modelsel.runner import final_fit
from tests import doubles


@pytest.mark.parametrize(("took", "tries", "least"), [((0.2, 0.1, 0.05, 0.1), 4, 0.05), ((0.7, 0.1, 0.1, 0.1), 1, 0.7)])
def test_the_first_try_warms_up_and_a_long_one_is_the_last(
    took: tuple[float, ...], tries: int, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([time for seconds in took for time in (0.0, seconds)])
    monkeypatch.setattr(final_fit, "perf_counter", lambda: next(clock))
    seen: list[int] = []
    model: Any = SimpleNamespace(predict=lambda table: seen.append(len(table)))
    assert final_fit.prediction_time(model, doubles.task(60)) == least
    assert seen == [final_fit.ROWS] * tries
