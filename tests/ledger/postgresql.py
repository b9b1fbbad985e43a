"""A real PostgreSQL server for tests, started in a folder of its own and crashed on request."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

PROGRAMS = ("initdb", "pg_ctl", "postgres")


class Server:
    """Use as a context; `url` is what a ledger opens."""

    def __init__(self) -> None:
        if any(shutil.which(program) is None for program in PROGRAMS):
            pytest.skip("PostgreSQL (initdb, pg_ctl) is not installed")
        self.user = _unprivileged()
        self.folder = Path(tempfile.mkdtemp(prefix="modelsel-pg-"))
        self.port = _free_port()
        if self.user:
            shutil.chown(self.folder, self.user)

    @property
    def url(self) -> str:
        return f"postgresql://ledger@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> "Server":
        self._run("initdb", "-D", str(self.data), "-U", "ledger", "-A", "trust", "-E", "UTF8", "--locale=C")
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        self._run("pg_ctl", "-D", str(self.data), "-o", options, "-l", str(self.folder / "log"), "-w", "start")

    def stop(self, mode: str) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop", check=False)

    def crash(self) -> None:
        """What a power cut leaves: no checkpoint, connections dropped."""
        self.stop("immediate")
        self.start()

    def _run(self, *command: str, check: bool = True) -> None:
        extra: dict[str, Any] = {"user": self.user, "group": self.user} if self.user else {}
        if self.user:
            extra["extra_groups"] = []
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, timeout=120, check=False, **extra)
        if check and done.returncode:
            raise RuntimeError(f"{command[0]}: {done.stderr or done.stdout}")


def _unprivileged() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        pytest.skip("running as root, and there is no user `postgres` to run the server as")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
