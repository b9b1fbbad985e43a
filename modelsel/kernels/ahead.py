"""Compile kernels ahead, by several processes: those of a study before its cells, all of them for a build or `doctor --warm`.

Each process takes the first kernel of the list that none has taken: the largest come first, so that none is left alone with
one of them at the end. The processes end with the one that waits for them, however that ends.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from modelsel.kernels.compiler import folder, is_kept, is_wanted, load, path_of, size


def compile_ahead(names: Iterable[str], processes: int) -> None:
    """Compile what is not kept yet, and say so in one line; nothing where kernels are not wanted or cannot be kept.

    What a process could not compile is told by whoever loads it.
    """
    new = [name for name in dict.fromkeys(names) if is_wanted() and not is_kept(name)]
    if not new or folder() is None:
        return
    new.sort(key=lambda name: size(path_of(name)), reverse=True)
    many = min(max(processes, 1), len(new))
    said = f"{len(new)} kernels by {many} processes" if many > 1 else f"{len(new)} kernels"
    print(f"modelsel: compiling {said}, once on this machine (up to a minute)", file=sys.stderr)  # noqa: T201
    with tempfile.TemporaryDirectory() as taken, suppress(OSError):  # without a process the study compiles as it goes
        _wait([_start([taken, *new]) for _ in range(many)])


def _start(words: list[str]) -> "subprocess.Popen[bytes]":
    """Start a process that says nothing."""
    command = [sys.executable, "-c", f"from {__name__} import compile_given; compile_given()", *words]
    return subprocess.Popen(  # noqa: S603  our own words
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _wait(started: "list[subprocess.Popen[bytes]]") -> None:
    """Wait for all processes; an interrupt ends them."""
    try:
        for process in started:
            process.wait()
    finally:
        for process in started:
            process.kill()
            process.communicate()


def compile_given() -> None:
    """Compile, of the kernels on the command line, each that no process took: a file in the folder before them marks it."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    taken, *names = sys.argv[1:]
    for name in names:
        with suppress(FileExistsError):
            Path(taken, name).touch(exist_ok=False)
            load(name)


def _end_with_input() -> None:
    """End this process at the end of its input, to which nobody writes; a buffered read would hold up an end of its own."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)
