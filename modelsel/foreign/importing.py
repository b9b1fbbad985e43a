"""Imports tried in a process of their own, since native code may take its process along while it is imported.

What could be imported leaves an empty file in the cache, for this version of it and of Python, and is not asked again.
"""

import hashlib
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from modelsel.kernels.compiler import base

RAISED, IMPORTED = "raised", "imported"
ASK = f"""
import os, sys
sys.path[:] = sys.argv[2:]
try:
    __import__(sys.argv[1])
except BaseException:
    end = "{RAISED}"
else:
    end = "{IMPORTED}"
sys.__stdout__.write(end)
sys.__stdout__.flush()
os._exit(0)  # what it does or says when a process ends is not asked
"""


@cache
def fatal(package: str, source: str) -> str:
    """Import a package in a process of its own; tell how that ended, empty where it went on.

    `source` is the distribution and its version.

    >>> fatal("json", "of Python itself")
    ''
    """
    if _kept(package, source).exists():
        return ""
    # -I: nothing of the working directory is imported before the path is that of this process
    asked = [sys.executable, "-I", "-c", ASK, package, *sys.path]
    done = subprocess.run(  # noqa: S603  it is this Python
        asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
    )
    if done.stdout.endswith(IMPORTED):
        with suppress(OSError):  # a cache that cannot be written costs an import each time, and nothing else
            _kept(package, source).parent.mkdir(parents=True, exist_ok=True)
            _kept(package, source).touch()
    return "" if done.stdout.endswith((IMPORTED, RAISED)) else _told(done.returncode)


def _kept(package: str, source: str) -> Path:
    name = hashlib.sha256(f"{package} {source} {sys.version} {sys.prefix}".encode()).hexdigest()[:16]
    return base() / "imports" / name


def _told(code: int) -> str:
    """Name a process's end.

    >>> _told(-11), _told(3)
    ('SIGSEGV', 'exit code 3')
    """
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"exit code {code}"
