"""Memory that finished cells left with the allocator goes back to the system."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from modelsel.core.system.machine import give_back

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
