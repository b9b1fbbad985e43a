"""`modelsel ui`: MLflow's own pages over the embedded store."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import FrameType

from modelsel.cli import child_supervisor
from modelsel.cli.arguments import Arguments
from modelsel.core.errors import INTERRUPTED, ConfigurationError, Problem
from modelsel.core.system.machine import end_children

PATIENCE = child_supervisor.PATIENCE  # seconds that MLflow has to end
LEASH = (sys.executable, "-m", child_supervisor.__name__)


def main(words: Sequence[str]) -> int:
    """Run `modelsel ui`: serve MLflow's pages until it is interrupted."""
    parser = Arguments("ui")
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--host", default="127.0.0.1", help="127.0.0.1: this machine alone")
    args = parser.parse_args(words)
    from modelsel.record.folder import ROOT
    from modelsel.record.mlflow import store as mlflow_store

    store = mlflow_store.embedded(ROOT)
    if store.sqlite is None or not store.sqlite.exists():
        raise ConfigurationError(Problem("MSEL-252", "there is no store yet", str(store.sqlite), "`modelsel run` makes one"))
    options = {"--backend-store-uri": store.uri, "--host": args.host, "--port": str(args.port)}
    command = [sys.executable, "-m", "mlflow", "ui", *(word for option in options.items() for word in option)]
    print(f"http://{args.host}:{args.port}  (Ctrl-C ends it)", file=sys.stderr)
    return _served(command, {**os.environ, **mlflow_store.QUIET})


class _Ended(BaseException):
    """The signal that asked for the end."""


def _served(command: Sequence[str], environment: Mapping[str, str]) -> int:
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
        end_children(server.pid, PATIENCE)
        server.kill()
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(server.pid, number)
        with suppress(subprocess.TimeoutExpired):
            server.wait(PATIENCE)
            if number == signal.SIGTERM and _gone(server.pid):
                return


def _gone(group: int) -> bool:
    """Wait until every process of the group has ended; False where one outlives the patience."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
