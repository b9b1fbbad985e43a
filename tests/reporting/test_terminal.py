"""Progress: a line every tenth or half minute where nobody watches, a bar where somebody does."""

import io
import os
import subprocess
from contextlib import suppress

import pytest

from modelsel.reporting.terminal import EVERY_SECONDS, Lines, Live, progress


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_line_every_tenth():
    stream, clock = io.StringIO(), Clock()
    lines = Lines(stream, clock)
    with lines:
        lines.start(1000, 40)
        for done in range(1000):
            clock.now += 0.01
            lines.advance(best=0.25 if done > 500 else None, failures=1 if done == 600 else 0)
    said = stream.getvalue().splitlines()
    assert said[0] == "40 candidates in 1,000 cells"
    assert len(said) == 11
    assert said[5].strip() == "50%  500 of 1000 cells, 5.0 s left"
    assert said[-1] == "100%  1000 of 1000 cells, best so far 0.2500, 1 failure"


def test_a_line_every_half_minute_when_cells_are_slow():
    stream, clock = io.StringIO(), Clock()
    lines = Lines(stream, clock)
    lines.start(10_000, 5)
    for _ in range(9):
        clock.now += EVERY_SECONDS / 3
        lines.advance()
    assert len(stream.getvalue().splitlines()) == 1 + 3


def test_a_study_without_cells_says_no_nonsense():
    stream = io.StringIO()
    with Lines(stream) as lines:
        lines.start(0, 0)
        lines.advance(0)
    assert "nan" not in stream.getvalue()


def test_what_is_said_appears_in_both():
    for kind in (Lines, Live):
        stream = io.StringIO()
        with kind(stream) as shown:
            shown.start(3, 1)
            shown.advance(best=0.1, failures=1)
            shown.say("[bold]cold[/bold] kernels: some seconds")
        assert "[bold]cold[/bold] kernels: some seconds" in stream.getvalue()


def test_the_bar_is_for_terminals_only():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    assert isinstance(progress(Terminal()), Live)
    assert isinstance(progress(io.StringIO()), Lines)


def test_two_studies_may_follow_each_other():
    stream = io.StringIO()
    lines = Lines(stream)
    for _ in range(2):
        lines.start(10, 2)
        lines.advance(10)
    assert stream.getvalue().count("100%") == 2


def test_what_libraries_write_meanwhile_stays_out_of_the_bar_and_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    ours, theirs = os.openpty()
    with open(theirs, "w") as terminal, caplog.at_level("INFO", "modelsel.study"):
        before = os.fstat(1), os.fstat(2)
        with Live(terminal) as bar:
            bar.start(2, 1)
            for _ in range(2):
                os.write(2, b"OMP: Info #276: omp_set_nested is deprecated\n")
            subprocess.run(["sh", "-c", "echo from a worker"], check=True)
            print("from python")
            bar.advance(2)
        assert (os.fstat(1), os.fstat(2)) == before
    shown = ""
    with suppress(OSError):  # its end, on Linux
        while part := os.read(ours, 1 << 16):
            shown += part.decode(errors="replace")
    os.close(ours)
    assert "OMP" not in shown
    assert "from a worker" not in shown
    assert "from python" in shown
    assert "libraries wrote 3 lines meanwhile: see study.log" in shown.replace("\r\n", " ")
    assert [record.getMessage() for record in caplog.records] == [
        "a library wrote 2 times: OMP: Info #276: omp_set_nested is deprecated", "a library wrote: from a worker"
    ]  # fmt: skip
