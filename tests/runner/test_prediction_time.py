"""Seconds of a prediction: a try that warms up, then the least of a few, and no more of them than there is time for."""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.core.system.memory import give_back
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


# Memory that finished cells left with the allocator goes back to the system.


PIECES, BYTES = 2_000, 60_000  # pieces too small to be mapped each by itself


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")
def test_what_a_thread_has_freed_goes_back_to_the_system():
    with ThreadPoolExecutor(1) as pool:
        last = pool.submit(lambda: [np.ones(BYTES, np.uint8) for _ in range(PIECES)][-1]).result()  # it lies above the others
        before = _held()
        give_back()
        assert before - _held() > PIECES * BYTES / 2
        assert last.all()


def _held() -> int:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) * 1024
