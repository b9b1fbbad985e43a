"""Whole files, written beside and renamed into place: a reader sees the old contents or the new, never half of either."""

import errno
import json
import math
import os
import secrets
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem, StoreError
from modelsel.core.facts import Facts
from modelsel.core.system.disk import demand_portable, sync_directory

_SPACE, _PERMISSION = "free some space", "check the folder's permissions"
REMEDIES = {
    errno.ENOSPC: _SPACE, errno.EDQUOT: _SPACE, errno.EACCES: _PERMISSION, errno.EPERM: _PERMISSION,
    errno.EROFS: "this disk can only be read: choose a folder on another one",
}  # fmt: skip
LARGE = 1 << 30  # bytes from which an archive's member is described by 64-bit numbers


@contextmanager
def storing(path: Path) -> Iterator[None]:
    """Turn an operating system's refusal into an error that names the place and the remedy."""
    demand_portable(path)
    try:
        yield
    except UnicodeEncodeError as error:
        shown = str(path.absolute()).encode("ascii", "backslashreplace").decode()
        fix = "choose another name, or use a UTF-8 locale (export LC_ALL=C.UTF-8)"
        raise StoreError(Problem("MSEL-601", "cannot write: the name has no form in this locale", shown, fix)) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        what = REMEDIES.get(error.errno or 0, "check the folder and its disk")
        fix = f"{what}, then run the same command again: finished cells are kept"
        raise StoreError(Problem("MSEL-601", f"cannot write {path.name}: {reason}", str(path.parent), fix)) from error


def write(path: Path, content: bytes | str) -> Path:
    """Write, fsync, rename; the old file stays whole if anything fails. Raises StoreError."""
    data = encode_text(content)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    with storing(path):
        try:
            with beside.open("wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            beside.replace(path)
            sync_directory(path.parent)
        except BaseException:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise
    return path


def encode_text(content: bytes | str) -> bytes:
    """Text as UTF-8; a sign of a file's name that has no form there is written as its code."""
    return content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content


def write_directory(path: Path, fill: Callable[[Path], None]) -> Path:
    """A directory that appears whole: filled beside, then renamed over the old one."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    with storing(path):
        try:
            beside.mkdir(parents=True)
            fill(beside)
            if path.exists():
                shutil.rmtree(path)
            beside.rename(path)
            sync_directory(path.parent)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
    return path


def json_text(value: object) -> str:
    """JSON that a person can read and a parser must accept: NumPy values made plain, what is not finite is null.

    >>> json_text({"score": float("nan"), "folds": (1, 2)})
    '{"score": null, "folds": [1, 2]}\\n'
    """
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: object) -> object:
    """Facts as they are written; mappings, lists, strings, numbers, booleans and None: nothing else."""
    if isinstance(value, Facts):
        return plain(value.written())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    return str(value)


def npz(arrays: Mapping[str, NDArray[np.generic]], compress: bool = False) -> bytes:
    """Arrays as an .npz without pickle: equal arrays give equal bytes.

    >>> list(np.load(BytesIO(npz({"a": np.arange(3)}))))
    ['a']
    """
    out = BytesIO()
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", method, compresslevel=1) as archive:
        for name, array in arrays.items():
            whole = np.asanyarray(array)
            with archive.open(f"{name}.npy", "w", force_zip64=whole.nbytes > LARGE) as member:  # dated 1980, whatever the day
                np.lib.format.write_array(member, whole, allow_pickle=False)  # block by block: a loss matrix may be large
    return out.getvalue()
