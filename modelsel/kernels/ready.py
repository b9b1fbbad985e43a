"""Machine code that came with the package, so that nobody waits for a compiler: kernels as a wheel's builder compiled them.

It is used where everything it was made from is the same: the sources of the kernels, Numba's version, Python's minor version,
the operating system; and where the processor can do what it was made for (x86-64-v3: AVX2, FMA, BMI; processors since 2013).
Otherwise kernels are compiled and kept as ever. The files are those of Numba's cache behind checksums (`checked`).
"""

import hashlib
import os
import pickle
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

# Kept machine code behind a checksum: what was truncated, emptied or changed is dropped, named and compiled anew.
#
# Numba believes whatever its cache files hold: a file cut short ends in an error, one changed byte of machine code in a crash.
# Here each file begins with the BLAKE2b-256 of what follows, and is not unpickled, let alone run, before that agrees.

SUM = 32


class Place(_CacheLocator):  # type: ignore[misc]
    """Where the machine code of a function is kept, and what it was made from: Numba asks for both."""

    def __init__(self, folder: Path, made_of: str) -> None:
        self.folder, self.made_of, self.line = folder, made_of, 0

    def from_function(self, function: Callable[..., object], source: str) -> "Place":
        self.line = function.__code__.co_firstlineno
        return self

    def get_cache_path(self) -> str:
        return str(self.folder)

    def get_source_stamp(self) -> str:
        return self.made_of

    def get_disambiguator(self) -> str:
        return str(self.line)


class Placed(CompileResultCacheImpl):  # type: ignore[misc]
    """What Numba writes of a function, in the place that is given."""

    def __init__(self, function: Callable[..., object], place: Place) -> None:
        self._locator_classes = (place,)
        super().__init__(function)


class CheckedCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, over checked files."""

    def __init__(self, function: Callable[..., object], folder: Path, made_of: str) -> None:
        self._impl_class = lambda function: Placed(function, Place(folder, made_of))
        super().__init__(function)
        self._cache_file = CheckedFile(str(folder), self._impl.filename_base, made_of)

    def is_there(self) -> bool:
        """Say whether something is kept of this function."""
        return Path(self._cache_file._index_path).is_file()


class CheckedFile(IndexDataCacheFile):  # type: ignore[misc]
    """Index and machine code of one function, each with its checksum in front."""

    def _load_index(self) -> object:
        """Read the index of compiled versions; empty where the source has changed since."""
        found = _read(Path(self._index_path))
        if found is None:
            return {}
        stamp, overloads = found
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: object) -> None:
        self._write(self._index_path, (self._source_stamp, overloads))

    def _load_data(self, name: str) -> object:
        """None, as for a file that is not there, when it is damaged: Numba then compiles."""
        return _read(Path(self._data_path(name)))

    def _save_data(self, name: str, data: object) -> None:
        self._write(self._data_path(name), data)

    def _write(self, path: str, value: object) -> None:
        data = self._dump(value)
        with self._open_for_write(path) as file:
            file.write(_sum(data) + data)


def _read(path: Path) -> Any:
    """Read a kept kernel; None where there is none, or none that can be trusted."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if len(content) > SUM and _sum(content[SUM:]) == content[:SUM]:
        return pickle.loads(content[SUM:])  # noqa: S301  these are the bytes that were written here
    with suppress(OSError):
        path.unlink()
    said = f"modelsel: kept machine code is damaged, its checksum disagrees: {path} was dropped and is compiled anew"
    print(said, file=sys.stderr)  # noqa: T201
    return None


def _sum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=SUM).digest()


MACHINE = "x86-64-v3"
NEEDS = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
HERE = Path(__file__).parent
PLACE = HERE / "ready"  # written by `hatch_build.py`
BUILDING = "MODELSEL_READY_KERNELS"  # the folder into which a builder compiles; `NUMBA_CPU_NAME` is then MACHINE


def cache_of(function: Callable[..., object], folder: Path, made_of: str) -> Any:
    """Return the cache of a kernel's machine code: what came with the package, and a folder for what is compiled here."""
    if building() is not None:
        return ReadyCache(function)
    own = CheckedCache(function, folder, made_of)
    return Layered(ReadyCache(function), own) if usable() else own


def building() -> Path | None:
    """Return the folder into which a builder wants the kernels; None outside a build."""
    place = os.environ.get(BUILDING)
    return Path(place) if place else None


def has(name: str) -> bool:
    """Say whether compiled kernels of this file were shipped, or are in the folder being built."""
    return (building() is not None or usable()) and any(folder().glob(f"{name}.*.nbi"))


def folder() -> Path:
    """Return the folder of machine code that is shipped, or the one being built."""
    return building() or PLACE


def mark() -> None:
    """Say what a builder's folder was made from."""
    (folder() / "made_from").write_text(made_from(), "ascii")


@cache
def usable() -> bool:
    """Say whether shipped code was made from these sources by these tools, and this processor can run it."""
    mark = PLACE / "made_from"
    if not mark.is_file() or mark.read_text("ascii") != made_from():
        return False
    features = binding.get_host_cpu_features()
    return all(features.get(each, False) for each in NEEDS)


@cache
def made_from() -> str:
    """Digest of all that the machine code depends on."""
    tools = f"{numba.__version__} {sys.version_info[:2]} {sys.platform} {platform.machine()} {MACHINE}"
    state = hashlib.sha256(tools.encode())
    for source in sorted(HERE.rglob("*.py")):
        state.update(source.read_bytes())
    return state.hexdigest()


class ReadyCache(CheckedCache):
    """Files of the package's own folder, whatever processor asks."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function, folder(), made_from())

    def _index_key(self, sig: object, codegen: object) -> object:
        key = super()._index_key(sig, codegen)
        return key[0], MACHINE, *key[2:]


class Layered:
    """A cache of two layers: kernels that came with the package, else those kept on this machine; new code is kept there."""

    def __init__(self, ready: ReadyCache, own: CheckedCache) -> None:
        self.ready, self.own = ready, own
        self.cache_path = own.cache_path

    def is_there(self) -> bool:
        """Say whether either layer has something of this function."""
        return self.ready.is_there() or self.own.is_there()

    def load_overload(self, sig: object, target: object) -> object:
        found = self.ready.load_overload(sig, target)
        return self.own.load_overload(sig, target) if found is None else found

    def save_overload(self, sig: object, data: object) -> None:
        self.own.save_overload(sig, data)
