"""Time runs out by the system's timer, or by a thread where a system has none; a real Ctrl-C stays one."""

import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import psutil
import pytest

from modelsel.config.compose import compose
from modelsel.core.errors import ConfigurationError
from modelsel.core.system import machine
from modelsel.core.system.machine import cores, end_children
from modelsel.runner.evaluation import limits
from modelsel.runner.evaluation.limits import GRACE, CellLimits, CellTimeout, DeadlineExceeded, raised_after
from modelsel.runner.execution.crash_recovery import CrashRecovery


@pytest.fixture(params=["system", "thread"])
def timer(request, monkeypatch):
    if request.param == "thread":
        monkeypatch.setattr(limits, "_by_system", limits._by_thread)  # as where the system has no timer
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a suite in the background ignores
    yield request.param
    signal.signal(signal.SIGINT, before)


def _spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_the_event_is_raised_in_the_main_thread_when_time_is_up(timer):
    began = time.monotonic()
    with pytest.raises(CellTimeout, match="spent"), raised_after(0.2, CellTimeout("spent")):
        _spin(20)
    assert 0.2 <= time.monotonic() - began < 5


@pytest.mark.sampled(1)
def test_nothing_is_raised_in_time_nor_afterwards(timer):
    with raised_after(0.3, DeadlineExceeded()):
        pass
    _spin(0.6)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.sampled(1)
def test_time_that_is_up_as_the_block_ends_is_no_interrupt(timer):
    """The timer rings before, at and after the end of a block: the event, or nothing, and the handlers are back."""
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)
    interrupted = 0
    for turn in range(150):
        try:
            with raised_after(0.002, DeadlineExceeded()):
                _spin(0.0018 + turn % 8 * 0.0001)
        except DeadlineExceeded:
            pass
        except KeyboardInterrupt:
            interrupted += 1
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)) == handlers
    assert not interrupted


def test_an_interrupt_meanwhile_is_an_interrupt(timer):
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt), raised_after(5.0, DeadlineExceeded()):
        _spin(20)


@pytest.mark.slow
def test_all_that_a_process_started_ends_also_what_does_not_want_to():
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
    words = [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {stubborn!r}])"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "up\n"
        (below,) = psutil.Process(first.pid).children()
        end_children(first.pid, 0.5)
        assert not below.is_running()
        first.wait(10)


def test_cores_are_those_that_this_process_may_use():
    words = "import psutil; psutil.Process().cpu_affinity([psutil.Process().cpu_affinity()[0]])"
    code = f"{words}; from modelsel.core.system.machine import cores; print(cores())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "1\n"
    assert cores() == len(psutil.Process().cpu_affinity())


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_a_limit_of_memory_is_refused_before_any_fit_where_it_cannot_be_held(monkeypatch, system):
    words = ("dataset=wine", "learner=majority", "limit.memory=1GB")
    assert compose(words).limit.bytes == 10**9
    monkeypatch.setattr(machine, "sys", SimpleNamespace(platform=system))
    with pytest.raises(
        ConfigurationError, match=r"this system cannot confine the memory of a process: leave limit\.memory out"
    ):
        compose(words)


@pytest.fixture
def now(monkeypatch):
    """The clock stands at 100, wherever a death is judged."""
    for module in ("runner.evaluation.limits", "runner.execution.crash_recovery"):
        monkeypatch.setattr(f"modelsel.{module}.time", SimpleNamespace(monotonic=lambda: 100.0))


def test_who_dies_before_the_watchdog_ends_anybody_has_crashed(now):
    limits = CellLimits(seconds=2.0)
    assert [limits.has_outlasted(100.0 - after) for after in (0.1, 2.0, 2.0 + GRACE)] == [False, False, True]
    assert not CellLimits(memory=1).has_outlasted(0.0)


@pytest.mark.parametrize(
    ("marks", "overdue"),
    [
        ({"job": 99.0}, False),  # sent long ago, and its worker was ready a second before it died
        ({"job": 96.0}, True),
        ({"job": 50.0}, False),  # a mark of an earlier run
        ({}, False),  # no worker came to it
        (None, True),  # workers elsewhere leave no marks: their start counts
    ],
)
def test_the_seconds_of_a_job_begin_when_its_worker_is_ready(now, marks, overdue):
    started = None if marks is None else lambda: marks
    recovery = CrashRecovery(SimpleNamespace(limits=CellLimits(seconds=2.0)), None, None, None, started)
    assert recovery._overdue("job", sent=90.0) is overdue
