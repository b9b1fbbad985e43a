"""Kept machine code behind a checksum: what was truncated, emptied or changed is dropped, named and compiled anew.

Numba believes whatever its cache files hold: a file cut short ends in an error, one changed byte of machine code in a crash.
Here each file begins with the BLAKE2b-256 of what follows, and is not unpickled, let alone run, before that agrees.
"""

import hashlib
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

SUM = 32


class CheckedCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, over checked files."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = CheckedFile(locator.get_cache_path(), self._impl.filename_base, locator.get_source_stamp())


class CheckedFile(IndexDataCacheFile):  # type: ignore[misc]
    """Index and machine code of one function, each with its checksum in front."""

    def _load_index(self) -> Any:
        """Read the index of compiled versions; empty where the source has changed since."""
        found = _read(Path(self._index_path))
        if found is None:
            return {}
        stamp, overloads = found
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: Any) -> None:
        self._write(self._index_path, (self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        """None, as for a file that is not there, when it is damaged: Numba then compiles."""
        return _read(Path(self._data_path(name)))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _write(self, path: str, value: Any) -> None:
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
