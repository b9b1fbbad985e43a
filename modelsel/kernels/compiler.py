"""Compile kernels to machine code: once per machine, cached, and replaced by their twins only with a warning.

The cache folder carries a digest of every kernel's source, of Numba's version and of Python's, because Numba's own cache
does not notice that a kernel in another file has changed. A wheel may bring compiled kernels along (`ready`).
`MODELSEL_KERNELS=python` chooses the twins.
"""

import hashlib
import importlib
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import platformdirs

_LOCK = threading.RLock()


def wanted() -> bool:
    """False when the person chose the twins by `MODELSEL_KERNELS=python`."""
    return os.environ.get("MODELSEL_KERNELS", "") != "python"


@cache
def load(name: str) -> ModuleType | None:
    """The compiled kernels of a file of this folder, or None: use the twin (a failure is said once)."""
    module = _modules()[name]  # a name that is not there is a mistake of ours: KeyError, no twin
    if not wanted():
        return None
    try:
        with _LOCK:
            _say_when_cold(name)
            return importlib.import_module(module)
    except Exception as reason:  # whatever Numba or LLVM may raise: the answer is the same, only slower
        warnings.warn(f"modelsel: kernel '{name}' cannot be compiled, its slower twin is used: {reason!r}", stacklevel=2)
        return None


@cache
def _modules() -> dict[str, str]:
    """The module of each file of kernels, by the file's name."""
    here = Path(__file__).parent
    files = [path.relative_to(here).with_suffix("") for path in sources(here)]
    return {path.name: ".".join(("modelsel", "kernels", *path.parts)) for path in files}


def sources(folder: Path) -> list[Path]:
    """Every file of the kernels, in an order that does not depend on the machine."""
    return sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py")


def kernel(signature: object = None, **options: object) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function to be compiled at once and kept; without a signature it is a piece of other kernels."""
    import numba

    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", **options}
    if signature is None:  # a piece of other kernels, kept with them: nothing calls it from Python
        inner = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return lambda function: numba.njit(**inner, **settings)(function)

    def compile_(function: Callable[..., Any]) -> Any:
        with _LOCK, _cache_folder() as folder:
            keep = folder is not None and Path(function.__code__.co_filename).is_file()  # what was typed has no file
            return _compiled(numba.njit(**settings)(function), function, signature, keep)

    return compile_


def _compiled(dispatcher: Any, function: Callable[..., Any], signature: Any, keep: bool) -> Any:
    """Compile as `numba.njit(signature, cache=keep)` does, with kept files that are checked before they are loaded."""
    from modelsel.kernels.ready import kept

    if keep:
        dispatcher._cache = kept(function)
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


@cache
def function_of(function: Callable[..., float], signature: object) -> Any:
    """The compiled form of a plain function (a criterion's or a distance's), to be handed to a kernel as an argument."""
    return kernel(signature)(function)


@cache
def folder() -> Path | None:
    """Return the folder of machine code, or None (with one warning) where nothing can be written."""
    place = base() / "kernels" / digest()
    try:
        place.mkdir(parents=True, exist_ok=True)
        if not os.access(place, os.W_OK):
            raise PermissionError(place)
    except OSError as reason:
        warnings.warn(f"modelsel: compiled kernels cannot be kept, every process compiles anew: {reason}", stacklevel=2)
        return None
    return place


def base() -> Path:
    """`MODELSEL_CACHE`, else the platform's cache: machine code and timings are nobody's secret, and no part of a home."""
    cache = os.environ.get("MODELSEL_CACHE")
    return Path(cache) if cache else platformdirs.user_cache_path("modelsel")


@cache
def digest() -> str:
    """Digest of all kernel sources, Numba's and Python's version."""
    import numba

    state = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sources(Path(__file__).parent):
        state.update(source.read_bytes())
    return state.hexdigest()[:16]


@contextmanager
def _cache_folder() -> Iterator[Path | None]:
    """Numba reads its cache folder when a function is decorated: set it for that moment only."""
    import numba

    place, before = folder(), numba.config.CACHE_DIR
    numba.config.CACHE_DIR = "" if place is None else str(place)
    try:
        yield place
    finally:
        numba.config.CACHE_DIR = before


def _say_when_cold(name: str) -> None:
    """Print that a kernel is compiled now, where its machine code is not kept yet."""

    from modelsel.kernels.ready import has

    place = folder()
    if not has(name) and (place is None or not any(place.rglob(f"{name}.*.nbi"))):
        print(f"modelsel: compiling '{name}' (first use on this machine, some seconds)", file=sys.stderr)  # noqa: T201
