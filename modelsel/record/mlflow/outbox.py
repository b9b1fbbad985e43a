"""The process that talks to MLflow, as the study holds it: jobs go in, answers come out, and nobody waits longer than said."""

import atexit
import json
import queue
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

Answer = Mapping[str, Any]
ENDED: Answer = {"error": "the recording process ended"}


_AHEAD: "list[subprocess.Popen[str]]" = []  # at most one that is started and has no store yet


def start_ahead() -> None:
    """Let a process import MLflow while the command itself is still being imported; the next `WriterProcess` takes it.

    It is killed with this process where no study took it.
    """
    if not _AHEAD:
        _AHEAD.append(_start())
        atexit.register(give_up)


def give_up() -> None:
    """Kill the spare process, if there is one."""
    while _AHEAD:
        process = _AHEAD.pop()
        process.kill()
        process.communicate()


_SHARED: "dict[str, WriterProcess] | None" = None  # by store, while studies follow each other in one process


@contextmanager
def shared_writers() -> Iterator[None]:
    """Let the studies of a sweep that run in this process use one writing process per store, which imports MLflow once."""
    global _SHARED
    _SHARED = {} if _SHARED is None else _SHARED
    try:
        yield
    finally:
        for writer in (_SHARED or {}).values():
            writer.close()
        _SHARED = None


def writer_for(store: Mapping[str, str]) -> "WriterProcess":
    """The process that writes to a store: one of its own, or the one that the studies of this process share."""
    if _SHARED is None:
        return WriterProcess(store)
    key = json.dumps(dict(store), sort_keys=True)
    if key not in _SHARED or _SHARED[key].process.poll() is not None:
        _SHARED[key] = WriterProcess(store)
    return _SHARED[key]


def is_shared(writer: "WriterProcess") -> bool:
    """Say whether other studies of this process use the writer too."""
    return _SHARED is not None and writer in _SHARED.values()


def _start() -> "subprocess.Popen[str]":
    """Start the process that writes to MLflow."""
    return subprocess.Popen(
        [sys.executable, "-m", "modelsel.record.mlflow.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


class WriterProcess:
    """Started with the study, so that MLflow is imported and the store made while cells are computed.

    When nobody holds it any more (a study that ended with an error), the process gets no more jobs, and ends.
    """

    def __init__(self, store: Mapping[str, str]) -> None:
        """Start the process, or take one started ahead, and tell it the store: `asdict` of a TrackingStore.

        As plain words, so that a process can be started ahead before SQLAlchemy is imported.
        """
        self.answers: queue.Queue[Answer] = queue.Queue()
        self.asked = 0  # a late answer to a job that was given up is not the answer to the next
        self.process = _AHEAD.pop() if _AHEAD else _start()
        threading.Thread(target=_listen, args=(self.process, self.answers), daemon=True).start()
        self.close = weakref.finalize(self, _no_more_jobs, self.process)
        self._send(store)  # not an argument: other people see those
        self._send({"warm": True})

    def ask(self, job: Mapping[str, object], seconds: float, told: Callable[[Answer], bool] | None = None) -> Answer | None:
        """The answer, {"done": ...} or {"error": ...}, or None after `seconds`; `told` hears progress, True renews the time."""
        self.asked += 1
        self._send({**job, "job": self.asked})
        deadline = time.monotonic() + seconds
        with suppress(queue.Empty):
            while True:
                answer = self.answers.get(timeout=max(0.0, deadline - time.monotonic()))
                if answer is ENDED:
                    self.answers.put(ENDED)
                    return ENDED
                if answer["job"] != self.asked:
                    continue
                if "written" not in answer:
                    return answer
                if told and told(answer):
                    deadline = time.monotonic() + seconds
        return None

    def hand_over(self, job: Mapping[str, object]) -> None:
        """A job whose answer nobody waits for."""
        self._send(job)

    def kill(self) -> None:
        """Stop it at once; what it wrote so far is found again by key."""
        self.process.kill()
        self.process.wait()
        self.close()

    def _send(self, job: Mapping[str, object]) -> None:
        """Send a job as a line of JSON; a process that has ended is passed over."""
        with suppress(OSError, ValueError):  # a process that ended says so by its closed output
            if self.process.stdin is not None:
                self.process.stdin.write(json.dumps(job) + "\n")
                self.process.stdin.flush()


def _listen(process: "subprocess.Popen[str]", answers: "queue.Queue[Answer]") -> None:
    """Hand on what it says until it has ended. Knows no outbox, which could else not be let go of."""
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            with suppress(ValueError):  # the last words of a process that is killed may be half a line
                answers.put(json.loads(line))
    answers.put(ENDED)
    process.wait()


def _no_more_jobs(process: "subprocess.Popen[str]") -> None:
    """The process ends when the job at hand is done."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
