"""The origin of code behind an answer: modelsel's own, known by a digest, or somebody else's, of which nothing is known."""

import dataclasses
import hashlib
import platform
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

from modelsel.core.fingerprint import digest

PACKAGE = Path(__file__).resolve().parents[2]
LIBRARIES = ("numpy", "scipy", "numba")  # those that our own learners reckon with
DOORS = frozenset(
    ("modelsel.learner.sklearn", "modelsel.learner.estimator", "modelsel.preparer.transform")
)  # our modules through which other people's code comes in


def is_own(part: object) -> bool:
    """Say whether a part and all parts within it are modelsel's own code, and import nobody else's.

    >>> from modelsel.core.spec import make
    >>> is_own(make("learner", "knn")), is_own(make("learner", "sklearn")), is_own(5)
    (True, False, True)
    """
    if isinstance(part, tuple | list | frozenset):
        return all(map(is_own, part))
    if isinstance(part, dict):
        return all(map(is_own, part.values()))
    if not dataclasses.is_dataclass(part) or isinstance(part, type):
        return isinstance(part, str | int | float | bool | None)
    return _is_ours(type(part).__module__) and all(is_own(getattr(part, field.name)) for field in dataclasses.fields(part))


@cache
def _is_ours(module: str) -> bool:
    file = getattr(sys.modules.get(module), "__file__", None) if module not in DOORS else None
    return file is not None and PACKAGE in Path(file).resolve().parents


@cache
def versions() -> str:
    """Digest of our own code, of the libraries it reckons with, and of what they run on."""
    return digest([_code(), {name: _version(name) for name in LIBRARIES},
                   platform.python_version(), platform.system(), platform.machine()])  # fmt: skip


def _code() -> str:
    """Hash all Python files of the package."""
    state = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        state.update(f"{file.relative_to(PACKAGE)}\0{file.stat().st_size}\0".encode() + file.read_bytes())
    return state.hexdigest()


def _version(name: str) -> str:
    """Return the installed version of a package, or `absent`."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "absent"
