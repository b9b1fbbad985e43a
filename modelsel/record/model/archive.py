"""Read arrays from an untrusted file: no pickle, no object, no compressed bomb, no shape larger than its bytes.

NumPy's own reader allocates what a header claims before it looks at the data; this one compares first.
"""

import zipfile
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_BYTES = 1 << 31
KINDS = "biufU"


def arrays(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of an .npz. Raises ValueError where it is not exactly what `files.npz` writes."""
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path.name} is larger than {MOST_BYTES} bytes")
    try:
        with zipfile.ZipFile(path) as archive:
            return {_name(info): _array(archive.read(info)) for info in archive.infolist() if _plain(info)}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, KeyError, OverflowError) as error:
        raise ValueError(f"{path.name} is not an archive of arrays: {error}") from error


def _plain(info: zipfile.ZipInfo) -> bool:
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise ValueError(f"{info.filename} is compressed")
    return True


def _name(info: zipfile.ZipInfo) -> str:
    """Return the name of an array in an archive; other members are refused."""
    name, dot, kind = info.filename.rpartition(".")
    if not dot or kind != "npy":
        raise ValueError(f"{info.filename} is no array")
    return name


def _array(content: bytes) -> NDArray[Any]:
    """Read one array after checking its type, and its shape against its bytes."""
    stream = BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array of another format version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in KINDS or dtype.hasobject:
        raise ValueError(f"an array of type {dtype}")
    body = memoryview(content)[stream.tell() :]
    if any(side < 0 for side in shape) or prod(shape) * dtype.itemsize != len(body):
        raise ValueError(f"an array of shape {shape} in {len(body)} bytes")
    if not dtype.itemsize:
        return np.zeros(shape, dtype)
    return np.frombuffer(body, dtype).reshape(shape, order="F" if fortran else "C")
