"""A command that does not outlive whoever started it: `python -m modelsel.cli.child_supervisor COMMAND...`.

Standard input is a pipe that the starter holds. However the starter ends, also by `kill -9`, the system closes its side; then
the group of processes that this one leads is asked to end, and after PATIENCE seconds made to.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

PATIENCE = 5.0  # seconds that the group has to end


def main(command: Sequence[str]) -> int:
    """Run the command to its end; its exit code."""
    signal.signal(signal.SIGTERM, _stay)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603  it is our starter's
    watch = threading.Thread(target=_watch, daemon=True)
    watch.start()
    code = child.wait()
    if _left.is_set():
        watch.join()
    return code


_left = threading.Event()


def _watch() -> None:
    """Wait until nobody holds the other side of standard input, then end the group, this process included."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    _left.set()
    if not hasattr(os, "killpg"):  # Windows
        from modelsel.core.system.machine import end_children

        end_children(os.getpid(), PATIENCE)
        os._exit(1)
    os.killpg(0, signal.SIGTERM)
    time.sleep(PATIENCE)
    os.killpg(0, signal.SIGKILL)


def _stay(_number: int, _frame: object) -> None:
    """Ignore the signal: the group is asked to end as a whole, and this process ends with its command, or last."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
