"""Compile kernels to machine code: once per machine, cached, and interpreted only with a warning.

The machine code of a file is kept in a folder that carries a digest of its source, of the kernels that it imports, of Numba's
version and of Python's: Numba's own cache does not notice that a piece in another file has changed. So a change costs the
compilation of what it touches, and two copies of one source share their machine code. A wheel may bring compiled kernels along
(`ready`).
`MODELSEL_KERNELS=python` chooses the kernels' own source, interpreted.
"""

import hashlib
import importlib
import os
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import platformdirs

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.system.disk import lock_file

_LOCK = threading.RLock()
COMMENT, WORD = re.compile(r"#.*"), re.compile(r"\w+")
FROM = re.compile(r"^\s*from\s+(modelsel\.kernels[\w.]*)\s+import\s*(\([^)]*\)|.*)", re.MULTILINE)


VARIABLE, PLAIN = "MODELSEL_KERNELS", "python"


def is_wanted() -> bool:
    """False when the person chose plain Python (`MODELSEL_KERNELS=python`); ConfigurationError for any other word."""
    said = os.environ.get(VARIABLE, "")
    if said not in ("", PLAIN):
        what = f"{VARIABLE}={said} means nothing"
        raise ConfigurationError(
            Problem("MSEL-276", what, "environment", f"use {VARIABLE}={PLAIN} for plain Python, or unset it")
        )
    return said != PLAIN


_COMPILES, _INTERPRETS = ContextVar("compiles", default=True), ContextVar("interprets", default=False)


def load(name: str) -> ModuleType:
    """The kernels of a file of this folder: compiled, or their own source as plain Python where they are not."""
    return load_compiled(name) or interpret(name)


def load_compiled(name: str) -> ModuleType | None:
    """The compiled kernels of a file of this folder, or None: for what has another way that is quicker than plain Python."""
    return _load(name) if _COMPILES.get() or is_kept(name) else None


def interprets() -> bool:
    """Say whether kernels that are imported now stay plain Python."""
    return _INTERPRETS.get() or not is_wanted()


@cache
def interpret(name: str) -> ModuleType:
    """The kernels of a file as plain Python: the same answer, some hundred times slower.

    They and the files that they import are imported beside those that are compiled, which stay as they are.
    """
    package = importlib.import_module("modelsel.kernels")
    folders = tuple(f"{package.__name__}.{path.name}" for path in Path(__file__).parent.iterdir() if path.is_dir())

    def taken_out() -> dict[str, ModuleType]:
        return {module: sys.modules.pop(module) for module in [*sys.modules] if module.startswith(folders)}

    with _LOCK:
        compiled, token = taken_out(), _INTERPRETS.set(True)
        try:
            return importlib.import_module(_modules()[name])
        finally:
            _INTERPRETS.reset(token)
            taken_out()
            sys.modules.update(compiled)
            for folder in set(folders) & set(compiled):
                setattr(package, folder.rpartition(".")[2], compiled[folder])


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@contextmanager
def compile_nothing() -> Iterator[None]:
    """Compile nothing meanwhile: for work that plain Python has done before its kernel would be compiled."""
    before = _COMPILES.set(False)
    try:
        yield
    finally:
        _COMPILES.reset(before)


@cache
def _load(name: str) -> ModuleType | None:
    """Compile a file of kernels, or read what is kept of it, once in a process."""
    module = _modules()[name]  # a name that is not there is a mistake of ours: KeyError
    if not is_wanted():
        return None
    try:
        with _LOCK:
            _say_when_cold(name)
            return importlib.import_module(module)
    except Exception as reason:  # whatever Numba or LLVM may raise: the answer is the same, only slower
        warnings.warn(
            f"modelsel: kernel '{name}' cannot be compiled and is interpreted, which is slow: {reason!r}", stacklevel=2
        )
        return None


@cache
def _modules() -> dict[str, str]:
    """The module of each file of kernels, by the file's name."""
    here = Path(__file__).parent
    files = [path.relative_to(here).with_suffix("") for path in sources(here)]
    return {path.name: ".".join(("modelsel", "kernels", *path.parts)) for path in files}


def path_of(name: str) -> Path:
    """The file of kernels of this name."""
    return Path(__file__).parents[2].joinpath(*_modules()[name].split(".")).with_suffix(".py")


def sources(folder: Path) -> list[Path]:
    """Every file of the kernels, in an order that does not depend on the machine."""
    return sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py")


def kernel(signature: object = None, **options: object) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function to be compiled at once and kept; without a signature it is a piece of other kernels."""
    if interprets():
        return _plain if signature is None else np.errstate(all="ignore")
    import numba

    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", **options}
    if signature is None:  # a piece of other kernels, kept with them: nothing calls it from Python
        inner = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return lambda function: numba.njit(**inner, **settings)(function)

    def compile_(function: Callable[..., object]) -> object:
        with _LOCK:
            return _compile(numba.njit(**settings)(function), function, signature)

    return compile_


def _compile(dispatcher: Any, function: Callable[..., Any], signature: Any) -> object:
    """Compile as `numba.njit(signature, cache=True)` does, with kept files that are checked before they are loaded."""
    from modelsel.kernels.at_once import at_once
    from modelsel.kernels.ready import cache_of

    source = Path(function.__code__.co_filename)
    with ExitStack() as stack:
        if source.is_file() and (place := place_of(source)) is not None:  # what was typed has no file
            dispatcher._cache = cache_of(function, place, digest(source))
            if not dispatcher._cache.is_there():
                stack.enter_context(_alone(place / f"{function.__name__}-{function.__code__.co_firstlineno}.lock"))
        with at_once():
            dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one process compile and the others wait for its machine code; where the system has no locks, each compiles."""
    with ExitStack() as stack:
        with suppress(OSError, NotImplementedError):
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(lock_file(path))
        yield


@cache
def function_of(function: Callable[..., float], signature: object) -> object:
    """The compiled form of a plain function (a criterion's or a distance's), to be handed to a kernel as an argument."""
    return kernel(signature)(function)


@cache
def folder() -> Path | None:
    """Return the folder of machine code, or None (with one warning) where nothing can be written."""
    place = base() / "kernels"
    try:
        place.mkdir(parents=True, exist_ok=True)
        if not os.access(place, os.W_OK):
            raise PermissionError(place)
    except OSError as reason:
        warnings.warn(f"modelsel: compiled kernels cannot be kept, every process compiles anew: {reason}", stacklevel=2)
        return None
    return place


def place_of(source: Path) -> Path | None:
    """Return the folder of one file's machine code; None where nothing can be written."""
    place = folder()
    return None if place is None else place / f"{source.stem}-{digest(source)}"


def base() -> Path:
    """`MODELSEL_CACHE`, else the platform's cache: machine code and timings are nobody's secret, and no part of a home."""
    cache = os.environ.get("MODELSEL_CACHE")
    try:
        return Path(cache) if cache else platformdirs.user_cache_path("modelsel")
    except RuntimeError:  # nothing says where this user's home is
        return Path(tempfile.gettempdir()) / f"modelsel-{getattr(os, 'getuid', int)()}"


def has_own_code(source: Path) -> bool:
    """Say whether a file has a kernel with a signature, and not only pieces of others."""
    return re.search(r"@kernel\(\s*(?!\w+=|[\s)])", source.read_text("utf-8")) is not None


def size(source: Path) -> int:
    """Bytes of a file and of the kernels that it imports: about what compiling it takes."""
    return sum(path.stat().st_size for path in (source, *_pieces(source)))


@cache
def digest(source: Path) -> str:
    """Digest of all that the machine code of a file depends on: its source, the kernels it imports, Numba, Python."""
    import numba

    state = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in (source, *_pieces(source)):
        state.update(path.read_bytes())
    return state.hexdigest()[:16]


def _pieces(source: Path) -> list[Path]:
    """Every file of kernels that a file imports, or that one of these imports."""
    found: set[Path] = set()
    new = {source}
    while new:
        new = {piece for path in new for piece in _imports(path)} - found
        found |= new
    return sorted(found - {source})


@cache
def _imports(source: Path) -> tuple[Path, ...]:
    """The files of kernels that a file names in its imports: a module, or a module of a package.

    Read by a pattern: parsing the files took a tenth of a short study, and a file too many does no harm.
    """
    plain = COMMENT.sub("", source.read_text("utf-8", "replace")).replace("\\\n", " ")
    found = [(module, WORD.findall(listed)) for module, listed in FROM.findall(plain)]
    names = {name for module, listed in found for name in (module, *(f"{module}.{each}" for each in listed))}
    root = Path(__file__).parents[2]
    paths = (root.joinpath(*name.split(".")).with_suffix(".py") for name in names)
    return tuple(sorted(path for path in paths if path.is_file()))


def _say_when_cold(name: str) -> None:
    """Print that a kernel is compiled now, where its machine code is not kept yet."""
    if not is_kept(name):
        print(f"modelsel: compiling '{name}' (first use on this machine, some seconds)", file=sys.stderr)  # noqa: T201


def is_kept(name: str) -> bool:
    """Say whether machine code of this file came with the package or was compiled here before."""
    from modelsel.kernels.ready import has

    place = place_of(path_of(name))
    return has(name) or (place is not None and any(place.glob("*.nbi")))
