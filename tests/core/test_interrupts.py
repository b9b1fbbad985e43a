"""Being asked to end: what somebody ignores stays ignored, anything else rings, and afterwards all is as before."""

import os
import signal

import pytest

from modelsel.core.system import interrupts
from modelsel.core.system.interrupts import interruptible


def test_what_is_ignored_stays_ignored_and_a_request_is_heard_once() -> None:
    ignored, own = (signal.SIGHUP, signal.SIG_IGN), (signal.SIGTERM, signal.SIG_DFL)
    before = [(number, signal.signal(number, handler)) for number, handler in (ignored, own)]
    heard: list[int] = []
    try:
        with pytest.raises(KeyboardInterrupt):
            _asked_to_end(heard)
        assert heard == [signal.SIGTERM]
        assert [(number, signal.getsignal(number)) for number, _ in before] == [ignored, own]
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _asked_to_end(heard: list[int]) -> None:
    with interruptible() as told:
        os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            heard.extend(told)


@pytest.mark.parametrize(("give_up", "left"), [(None, []), (7, [7])])
def test_a_second_request_leaves_only_where_a_code_to_leave_with_was_given(
    give_up: int | None, left: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[int] = []
    monkeypatch.setattr(interrupts, "leave", codes.append)
    asking = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # which are ignored afterwards
    before = {number: signal.getsignal(number) for number in asking}
    signal.signal(signal.SIGTERM, lambda *_: None)  # a program's own handler, which goes on
    try:
        with interruptible(give_up) as heard:
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGTERM)
            assert heard == [signal.SIGTERM] * 2
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert codes == left
