"""Figures of a probe, kept per machine: what was tried once on rows like these is not tried again.

    <cache>/probes/<machine>/<shape>.json = {"machine", "shape", "figures": {key: [numbers]}, "sum"}

`machine` is the digest of host, processor, cores, package versions and the source of everything that fits; `shape` that of the
generated rows. A file that is torn, altered, or of another machine or shape is as good as none: the probe is made anew.
"""

import json
import math
import os
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from modelsel.core.fingerprint import digest
from modelsel.core.system.machine import cores
from modelsel.planning.sources import own

PACKAGES = ("modelsel", "numpy", "scipy", "numba")
Numbers = tuple[float, ...]


class ProbeCache:
    """Measured costs for rows of one shape, kept in a folder. Without a folder nothing is kept."""

    def __init__(self, folder: Path | None, shape: str) -> None:
        """Read the figures kept for this machine and shape."""
        self._machine, self._shape = machine(), shape
        self._path = None if folder is None else folder / self._machine / f"{shape}.json"
        self._known = self._read()
        self._fresh = False

    def get(self, key: str, measure: Callable[[], Numbers]) -> Numbers:
        """The figures of a key, measured when they are not known."""
        if key not in self._known:
            self._known[key], self._fresh = measure(), True
        return self._known[key]

    def keep(self) -> None:
        """Write down what is new. A cache that cannot be written costs the next plan half a second and nothing else."""
        if self._path is None or not self._fresh:
            return
        body = {"machine": self._machine, "shape": self._shape, "figures": self._known}
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile("w", dir=self._path.parent, suffix=".new", delete=False) as file:
                file.write(json.dumps({**body, "sum": digest(body)}))
            os.replace(file.name, self._path)

    def _read(self) -> dict[str, Numbers]:
        """Read the kept figures; a file that is damaged or of another machine is passed over."""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            said: dict[str, Any] = json.loads(self._path.read_text()) if self._path else {}
            body = {name: said[name] for name in ("machine", "shape", "figures")}
            if (body["machine"], body["shape"], digest(body)) == (self._machine, self._shape, said["sum"]):
                return _numbers(body["figures"])
        return {}


def _numbers(figures: Mapping[str, Any]) -> dict[str, Numbers]:
    """Raises TypeError or ValueError for what is no list of finite numbers."""
    found = {str(key): tuple(float(number) for number in numbers) for key, numbers in figures.items()}
    if not all(math.isfinite(number) and number >= 0 for numbers in found.values() for number in numbers):
        raise ValueError("a figure is no number of seconds")
    return found


@cache
def machine() -> str:
    """Digest of what a figure depends on beside the work itself."""
    versions = [f"{name} {metadata.version(name)}" for name in PACKAGES]
    kernels = os.environ.get("MODELSEL_KERNELS", "")
    return digest([platform.node(), _processor(), cores(), platform.python_version(), versions, kernels,
                   own()])  # fmt: skip


def _processor() -> str:
    with suppress(OSError, StopIteration), open("/proc/cpuinfo") as lines:
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return platform.processor() or platform.machine()
