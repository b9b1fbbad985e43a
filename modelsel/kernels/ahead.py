"""Compile kernels in a second process, from the start of a study: those that its cells would wait for longest.

Where nothing is compiled yet, the study compiles one kernel after the other as it comes to them. A process beside it begins
with the longest ones meanwhile; whoever needs one of these finds it kept, or waits until it is (`compiler._alone`).
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from modelsel.core.system.machine import cores
from modelsel.kernels.compiler import folder, is_kept, load, wanted


@contextmanager
def compiled_ahead(names: Iterable[str], jobs: int) -> Iterator[None]:
    """Compile what is not kept yet while the block is performed, where there is a core for it and a place to keep it.

    The process ends with the block at the latest, and with this process however that ends. Its locks end with it.
    """
    names = list(names)
    spare = names and min(jobs, cores()) > 1 and wanted() and folder() is not None
    new = [name for name in names if not is_kept(name)] if spare else []
    process = None
    with suppress(OSError):  # the study does without
        process = _start(new) if new else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.communicate()


def _start(names: list[str]) -> "subprocess.Popen[bytes]":
    """Start the process. It says nothing: the study says what it waits for, and tries itself what could not be compiled."""
    command = [sys.executable, "-c", f"from {__name__} import compile_given; compile_given()", *names]
    return subprocess.Popen(  # noqa: S603  our own words
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def compile_given() -> None:
    """Compile the kernels on the command line one after the other, as long as somebody holds the other end of the input."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    for name in sys.argv[1:]:
        load(name)


def _end_with_input() -> None:
    """End this process at the end of its input, to which nobody writes; a buffered read would hold up an end of its own."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)
