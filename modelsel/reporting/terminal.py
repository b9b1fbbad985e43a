"""Progress of a study while it runs: a live bar on a terminal, a plain line every 30 seconds or 10 % anywhere else."""

import logging
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, Self, TextIO

from modelsel.reporting.words import plural, score

EVERY_SECONDS = 30.0
EVERY_SHARE = 0.1
LOG = logging.getLogger("modelsel.study")  # goes to study.log
KEPT_LINES = 200  # distinct ones, of what libraries write


def progress(stream: TextIO | None = None) -> "Live | Lines":
    """The one that fits the stream (stderr unless said)."""
    stream = sys.stderr if stream is None else stream
    return Live(stream) if stream.isatty() else Lines(stream)


class State:
    """The progress so far: cells done of all, the best score, failures."""

    def __init__(self) -> None:
        self.cells, self.done, self.candidates, self.failures = 0, 0, 0, 0
        self.best: float | None = None

    def start(self, cells: int, candidates: int) -> None:
        self.cells, self.candidates, self.done = cells, candidates, 0

    def advance(self, cells: int, best: float | None, failures: int) -> None:
        self.done += cells
        self.failures += failures
        self.best = self.best if best is None else best

    @property
    def share(self) -> float:
        return self.done / self.cells if self.cells else 1.0

    def words(self) -> str:
        """Describe the best score and the failures so far.

        >>> state = State(); state.start(10, 4); state.advance(5, 0.125, 1); state.words()
        'best so far 0.1250, 1 failure'
        """
        best = "" if self.best is None else f"best so far {score(self.best)}"
        failures = f"{self.failures} failure{'s' * (self.failures != 1)}" if self.failures else ""
        return ", ".join(filter(None, (best, failures)))


class Live:
    """A bar with time left, best so far and failures."""

    def __init__(self, stream: TextIO) -> None:
        """Prepare the bar; it is shown from the first cell on."""

        from rich.console import Console  # a sixteenth of a second, which plain lines do without
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        self.state = State()
        self.console = Console(file=stream, highlight=False, markup=False)
        self.bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[words]}", style="dim", markup=False),
            console=self.console,
            transient=True,
        )
        self.task: Any = None
        self.noise = LibraryOutput()

    def start(self, cells: int, candidates: int) -> None:
        self.state.start(cells, candidates)
        self.task = self.bar.add_task(plural(candidates, "candidate"), total=cells, words="")

    def advance(self, cells: int = 1, best: float | None = None, failures: int = 0) -> None:
        self.state.advance(cells, best, failures)
        if self.task is not None:
            self.bar.update(self.task, completed=self.state.done, words=self.state.words())

    def say(self, message: str) -> None:
        self.console.print(message)

    def __enter__(self) -> Self:
        self.console.file = self.noise.begin(self.console.file)
        self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Take the bar away, and put what libraries wrote meanwhile into the log."""
        self.bar.stop()
        self.console.file, lines = self.noise.end()
        for line, count in lines.most_common(KEPT_LINES):
            LOG.info("a library wrote%s: %s", f" {count} times" if count > 1 else "", line)
        if lines:
            self.say(f"libraries wrote {plural(lines.total(), 'line')} meanwhile: see study.log")


class LibraryOutput:
    """Output that compiled code and workers write straight to standard output and error, kept aside while a bar is shown.

    A line of XGBoost or of OpenMP in the middle of a bar would leave pieces of both. Both descriptors lead to a file meanwhile,
    which workers inherit; Python's own streams of this process are not touched, the bar shows what they print above itself.
    """

    def __init__(self) -> None:
        """Begin with nothing kept aside."""
        self.file: IO[bytes] | None = None
        self.before: dict[int, int] = {}
        self.shown: IO[str] = sys.stderr
        self.terminal: IO[str] | None = None

    def begin(self, shown: IO[str]) -> IO[str]:
        """Keep both descriptors aside, and return a stream that still reaches what `shown` is."""
        self.shown = shown
        try:
            terminal = os.dup(shown.fileno())
        except (OSError, ValueError):  # no descriptor behind it: nothing to keep apart
            return shown
        self.file, self.terminal = tempfile.TemporaryFile(), os.fdopen(terminal, "w", encoding=getattr(shown, "encoding", None))  # noqa: SIM115
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        for descriptor in (1, 2):
            with suppress(OSError):  # closed by whoever started us
                self.before[descriptor] = os.dup(descriptor)
                os.dup2(self.file.fileno(), descriptor)
        return self.terminal

    def end(self) -> tuple[IO[str], Counter[str]]:
        """Put both descriptors back, and return the first stream and how often each line was written."""
        if self.file is None or self.terminal is None:
            return self.shown, Counter()
        for descriptor, before in self.before.items():
            os.dup2(before, descriptor)
            os.close(before)
        self.before = {}
        self.terminal.close()
        with self.file as file:
            file.seek(0)
            lines = Counter(line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip())
        self.file = None
        return self.shown, lines


class Lines:
    """A line at the start, then one every 30 seconds or 10 %, whichever comes first."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self.state, self.stream, self.clock = State(), stream, clock
        self.began = self.said_at = clock()
        self.said_share = 0.0

    def start(self, cells: int, candidates: int) -> None:
        """Say how many candidates and cells there are."""
        self.state.start(cells, candidates)
        self.began = self.said_at = self.clock()
        self.said_share = 0.0
        self.say(f"{plural(candidates, 'candidate')} in {plural(cells, 'cell')}")

    def advance(self, cells: int = 1, best: float | None = None, failures: int = 0) -> None:
        self.state.advance(cells, best, failures)
        if self.state.share >= self.said_share + EVERY_SHARE - 1e-9 or self.clock() >= self.said_at + EVERY_SECONDS:
            self._report()

    def say(self, message: str) -> None:
        print(message, file=self.stream, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def _report(self) -> None:
        """Say how far the study has got, and estimate the time left."""
        state, now = self.state, self.clock()
        left = (now - self.began) * (1 / state.share - 1) if state.share else 0.0
        self.said_at, self.said_share = now, state.share
        words = f", {state.words()}" if state.words() else ""
        self.say(
            f"{state.share:4.0%}  {state.done} of {state.cells} cells{words}{f', {duration(left)} left' if left >= 1 else ''}"
        )


def duration(seconds: float) -> str:
    """Write a duration for people.

    >>> duration(0.42), duration(75), duration(7330)
    ('0.4 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
