"""Read files that may have been damaged, edited or exchanged since they were written; what is wrong is said of them by name.

Nobody vouches for a file on disk: it may be empty, cut, of another kind, a link in a circle, a folder, larger than memory, or
not ours to read. `reading` names it whatever its bytes bring about; `content` looks at a file before it opens it; `conforming`
holds a parsed document against the type that it is said to have.
"""

import hashlib
import json
import re
import stat
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from modelsel.core.errors import ConfigurationError, ModelselError, Problem

TEXT, ARCHIVE = 1 << 28, 1 << 33  # most bytes of a text, and of an archive of arrays
GONE = " is missing"
SHOWN = 120  # characters of what a parser complains of


@contextmanager
def reading(path: Path, fix: str, code: str, kind: type[ModelselError] = ConfigurationError, what: str = "") -> Iterator[None]:
    """Read and decode a file inside; whatever goes wrong with it is an error that names it.

    Parameters
    ----------
    path
        The file.
    fix
        What a person can do.
    code
        The error's code.
    kind
        The error's class, which has the exit code.
    what
        What cannot be read, where it is more than the file's name.
    """
    try:
        yield
    except ModelselError:
        raise
    except OSError as error:
        raise kind(Problem(code, f"{what or path.name} cannot be read ({_system(error)})", str(path), fix)) from error
    except Exception as error:  # a parser may raise anything at bytes that nobody wrote
        raise kind(Problem(code, f"{what or path.name} is damaged ({reason(error)})", str(path), fix)) from error


def reason(error: BaseException) -> str:
    """What a parser complains of, in a line.

    >>> reason(ValueError("no  number")), reason(RecursionError("maximum depth")), reason(KeyError("id"))
    ('no number', 'it is nested too deeply', "'id' is missing")
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    if isinstance(error, KeyError):
        return f"{error} is missing"
    said = " ".join(str(error).split())
    return f"{said[:SHOWN]}…" if len(said) > SHOWN else said or type(error).__name__


def is_given(path: Path, digest: str) -> bool:
    """Say whether a file is there with these very bytes."""
    try:
        return sum_of(content(path, ARCHIVE)) == digest
    except (OSError, ValueError):
        return False


def _system(error: OSError) -> str:
    return (error.strerror or reason(error)).lower()


def content(path: Path, most: int = TEXT) -> bytes:
    """Read a file. Raises OSError or ValueError, without opening it, where it is not a file or larger than it may be."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("a folder stands in its place" if stat.S_ISDIR(found.st_mode) else "it is not a regular file")
    if found.st_size > most:
        raise ValueError(f"it has {found.st_size:,} bytes, more than such a file can have")
    return path.read_bytes()


def text(path: Path, most: int = TEXT) -> str:
    """The text of a file, as `content` reads it."""
    return content(path, most).decode("utf-8")


def mapping(data: bytes | str) -> dict[str, Any]:
    """Parse JSON that holds a mapping. Raises ValueError.

    >>> mapping('{"a": 1}')
    {'a': 1}
    """
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError("it holds no mapping")
    return found


def sum_of(data: bytes) -> str:
    """The SHA-256 by which a file is known again."""
    return hashlib.sha256(data).hexdigest()


# Documents against their types: those that write and read a document share a TypedDict or a dataclass.


def conforming(hint: object, value: object, lacking: str = "") -> None:
    """Hold a parsed document against its type; a key that the type does not know is a later version's.

    Parameters
    ----------
    hint
        The type.
    value
        The document.
    lacking
        A pattern of the places that earlier versions did not write.

    Raises
    ------
    ValueError
        Where a key is missing or a value is of another type, with its place.

    Examples
    --------
    >>> conforming(list[int], [1, "2"])
    Traceback (most recent call last):
    ValueError: [1] is no int: '2'
    """
    for fault in _faults(hint, value, ""):
        if not (fault.endswith(GONE) and re.fullmatch(lacking, fault.removesuffix(GONE))):
            raise ValueError(fault)


def _faults(hint: object, value: object, place: str) -> Iterator[str]:
    """Yield what does not fit, place by place."""
    origin, inner = get_origin(hint), get_args(hint)
    if is_typeddict(hint) or is_dataclass(hint):
        yield from _faults_of_object(hint, value, place)
    elif origin in (Union, types.UnionType):
        if all(next(_faults(one, value, place), None) for one in inner):
            yield next(_faults(min(inner, key=lambda one: one is type(None)), value, place))
    elif origin in (list, tuple, Sequence):
        yield from _faults_of_items(origin, inner, value, place)
    elif origin in (dict, Mapping):
        yield from _faults_of_mapping(inner[1], value, place)
    elif not _is_plain(hint, origin, inner, value):
        wanted = f"none of {', '.join(map(repr, inner))}" if origin is Literal else f"no {getattr(hint, '__name__', hint)}"
        yield f"{place or 'it'} is {wanted}: {_shorten(value)}"


def _is_plain(hint: object, origin: object, inner: tuple[object, ...], value: object) -> bool:
    """Say whether a value is one of a type that has no parts; null is a number that is not finite."""
    if origin is Literal:
        return value in inner
    if hint is float:
        return value is None or type(value) in (int, float)
    return hint in (Any, object) or type(value) is (type(None) if hint is None else hint)


def _faults_of_mapping(inner: object, value: object, place: str) -> Iterator[str]:
    """Yield what does not fit of a mapping of equal values."""
    if not isinstance(value, Mapping):
        yield f"{place or 'it'} is not a mapping: {_shorten(value)}"
        return
    for key, one in value.items():
        yield from _faults(inner, one, f"{place}.{key}".lstrip("."))


def _faults_of_object(hint: Any, value: object, place: str) -> Iterator[str]:
    """Yield the keys that are missing, and what does not fit of the others."""
    if not isinstance(value, Mapping):
        yield f"{place or 'it'} is not a mapping: {_shorten(value)}"
        return
    hints, required = keys(hint)
    if value and not hints:
        yield f"{place or 'it'} is not empty: {_shorten(value)}"
    for name, one in hints.items():
        if name in value:
            yield from _faults(one, value[name], f"{place}.{name}".lstrip("."))
        elif name in required:
            yield f"{f'{place}.{name}'.lstrip('.')}{GONE}"


@cache
def keys(hint: Any) -> tuple[Mapping[str, object], frozenset[str]]:
    """The types of an object's keys, and those that have to be there."""
    hints = {name: get_args(one)[0] if get_origin(one) is NotRequired else one for name, one in get_type_hints(hint).items()}
    if is_typeddict(hint):
        return hints, frozenset(hint.__required_keys__)
    needed = frozenset(one.name for one in fields(hint) if _is_required(one) and getattr(hint, "CHECKED", True))
    return {one.name: hints[one.name] for one in fields(hint)}, needed


def _is_required(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING and not field.metadata.get("optional")


def _faults_of_items(origin: object, inner: tuple[object, ...], value: object, place: str) -> Iterator[str]:
    """Yield what does not fit of a list, or of a tuple of so many."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        yield f"{place or 'it'} is not a list: {_shorten(value)}"
        return
    each: Sequence[object] = [inner[0]] * len(value)
    if origin is tuple and inner[-1] is not ...:
        each = inner
        if len(value) != len(inner):
            yield f"{place or 'it'} has {len(value)} items instead of {len(inner)}"
            return
    for number, (hint, one) in enumerate(zip(each, value, strict=True)):
        yield from _faults(hint, one, f"{place}[{number}]")


def _shorten(value: object) -> str:
    said = repr(value)
    return said if len(said) <= 40 else f"{said[:40]}…"
