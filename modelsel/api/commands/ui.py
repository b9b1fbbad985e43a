"""`modelsel.ui`: MLflow's own pages over the embedded store, by a command that does not outlive whoever started it.

`python -m modelsel.api.commands.ui COMMAND...` leads MLflow's group of processes. Its standard input is a pipe that the starter
holds. However the starter ends, also by `kill -9`, the system closes its side; then the group is asked to end, and after
PATIENCE seconds made to.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from modelsel.core.errors import INTERRUPTED, ConfigurationError, Problem

if TYPE_CHECKING:  # the leader of the group imports nothing of it
    from modelsel.record.mlflow.store import TrackingStore

PATIENCE = 5.0  # seconds that the group has to end
LEASH = (sys.executable, "-m", "modelsel.api.commands.ui")


def ui(port: int = 5000, host: str = "127.0.0.1") -> int:
    """Serve MLflow's pages over the embedded store until interrupted.

    It is MLflow's own server.

    Parameters
    ----------
    port : int
        The port it listens to.
    host : str
        The address it listens to; only this machine unless said.

    Returns
    -------
    int
        The exit code of the server.

    Examples
    --------
    >>> modelsel.ui(port=5001)  # doctest: +SKIP
    0
    """
    from modelsel.record.folder import runs_folder
    from modelsel.record.mlflow import store as mlflow_store
    from modelsel.reporting.terminal import Lines

    store = mlflow_store.embedded_store(runs_folder())
    if store.sqlite is None or not store.sqlite.exists():
        raise ConfigurationError(Problem("MSEL-252", "there is no store yet", str(store.sqlite), "`modelsel run` makes one"))
    _write_what_is_due(store, runs_folder())
    options = {"--backend-store-uri": store.uri, "--host": host, "--port": str(port)}
    command = [sys.executable, "-m", "mlflow", "ui", *(word for option in options.items() for word in option)]
    Lines(sys.stderr).say(f"http://{host}:{port}  (Ctrl-C ends it)")
    return _serve(command, {**os.environ, **mlflow_store.QUIET})


def _write_what_is_due(store: "TrackingStore", root: Path) -> None:
    """Let a process of its own write what studies left unwritten in this store; the pages show it as it comes."""
    from modelsel.record.mlflow.outbox import WriterProcess
    from modelsel.record.mlflow.track import left_for

    due = [{"left": str(left.folder.resolve()), "writer": left.writer} for left in left_for(store, root)]
    if due:
        writer = WriterProcess(asdict(store))
        for job in due:
            writer.hand_over(job)
        writer.close()


class _Ended(BaseException):
    """The signal that asked for the end."""


def _serve(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run MLflow, which starts workers of its own, in a group of processes that ends as a whole, however this process ends.

    Asked to end, this process ends the group; killed, it closes the pipe by which the group's leader notices.
    """

    def end(number: int, _frame: FrameType | None) -> None:
        raise _Ended(number)

    asking = (signal.SIGTERM, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()))
    before = {number: signal.signal(number, end) for number in asking}
    leashed = [*LEASH, *command]
    with subprocess.Popen(leashed, env=environment, stdin=subprocess.PIPE, start_new_session=True) as server:  # noqa: S603
        try:
            return server.wait()
        except KeyboardInterrupt:
            return INTERRUPTED
        except _Ended as ended:
            return 128 + int(ended.args[0])
        finally:
            _end(server)
            for number, handler in before.items():
                signal.signal(number, handler)


def _end(server: "subprocess.Popen[bytes]") -> None:
    """Ask the group to end, and do not ask twice."""
    if not hasattr(os, "killpg"):  # Windows knows no groups of processes, but who started whom
        from modelsel.core.system.machine import end_children

        end_children(server.pid, PATIENCE)
        server.kill()
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(server.pid, number)
        with suppress(subprocess.TimeoutExpired):
            server.wait(PATIENCE)
            if number == signal.SIGTERM and _group_has_ended(server.pid):
                return


def _group_has_ended(group: int) -> bool:
    """Wait until every process of the group has ended; False where one outlives the patience."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


# The leader of the group, as a process of its own.


def supervise(command: Sequence[str]) -> int:
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
    sys.exit(supervise(sys.argv[1:]))
