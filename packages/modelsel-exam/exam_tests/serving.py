"""A server of an exam in a process of its own, for tests: started, killed, started again."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from tests.extras import needs


class Serving:
    """`with Serving(folder) as server`: `server.address` answers."""

    def __init__(self, folder: Path, rate: int = 100_000) -> None:
        needs("mcp")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._command = [
            sys.executable,
            "-m",
            "modelsel",
            "exam",
            "serve",
            str(folder),
            "--port",
            str(self.port),
            "--rate",
            str(rate),
        ]
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Serving":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, env=os.environ.copy())
        until = time.monotonic() + 300  # a busy machine starts it slowly
        while True:
            try:
                with urlopen(f"{self.address}/state", timeout=5):
                    return
            except (URLError, OSError):
                assert self.process.poll() is None, "the server ended"
                assert time.monotonic() < until, "the server does not answer"
                time.sleep(0.05)

    def kill(self) -> None:
        """As a power cut would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None
