"""References in configuration: `${seed}` takes another setting, `${oc.env:NAME}` a variable of the environment.

Only these are followed, and the environment only in addresses and paths, since a stranger's file could else print any variable
into a record: everything else that OmegaConf could be asked to call is refused. What is recorded and what is said keep the
reference, not what it points to.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import replace
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from modelsel.core.errors import Problem

RESOLVERS = ("oc.env", "oc.select")
SECRET_PLACES = ("tracking.uri", "guard.ledger", "pool.scheduler")  # of addresses, which may hold a password
_PATH_PLACE = re.compile(r"dataset\.(\w*path\w*|dir|database)(\.|$)|runs$|tracking\.\w+$")
_REFERENCE = re.compile(r"\$\{\s*([^}:]*?)\s*(?:(:)|\})")
_VARIABLE = re.compile(r"\$\{\s*oc\.env\s*:\s*([^},\s]+)")


def plain_data(composed: DictConfig) -> dict[str, object]:
    """A composed configuration as plain data, references left as they are, without Hydra's own node."""
    data = OmegaConf.to_container(composed, resolve=False)
    return {str(key): value for key, value in data.items() if key != "hydra"} if isinstance(data, dict) else {}


def resolve(data: Mapping[str, object]) -> tuple[dict[str, Any], list[Problem]]:
    """Follow the references in data; return problems beside it, where nothing is followed."""
    problems = [*unsafe_keys(data), *_environment(data)]
    if problems or next(_texts(data, ""), None) is None:
        return dict(data), problems
    try:
        followed = OmegaConf.to_container(OmegaConf.create(dict(data)), resolve=True)
    except OmegaConfBaseException as error:
        first = str(error).splitlines()[0]
        return dict(data), [
            Problem("MSEL-213", f"a reference leads nowhere ({first})", "${...}", "set the variable, or the value")
        ]
    assert isinstance(followed, dict)
    return {str(key): value for key, value in followed.items()}, []


def unsafe_keys(value: object, where: str = "") -> Iterator[Problem]:
    """Keys like `_target_`, by which other tools would be told to call something, and resolvers that are not allowed."""
    for place, key in _keys(value, where):
        if key.startswith("_"):
            fix = "a part is chosen by its kind, never by a dotted path"
            yield Problem("MSEL-232", f"{key!r} is not a setting", place, fix)
    for place, text in _texts(value, where):
        for name, call in _REFERENCE.findall(text):
            if (call and name not in RESOLVERS) or "$" in name:
                yield Problem("MSEL-233", f"the resolver {name!r} is not followed", place, f"allowed: {', '.join(RESOLVERS)}")


def hide_environment(problems: Iterable[Problem], data: Mapping[str, object]) -> list[Problem]:
    """The problems with values of the environment replaced by the references that they came from."""
    names = {name for _, text in _texts(data, "") for name in _VARIABLE.findall(text)}
    values = {value: f"${{oc.env:{name}}}" for name in sorted(names) if (value := os.environ.get(name))}
    return [replace(each, what=_without(each.what, values), fix=_without(each.fix, values)) for each in problems]


def _environment(data: object) -> Iterator[Problem]:
    """Yield the places that read the environment and may not."""
    for place, text in _texts(data, ""):
        if _VARIABLE.search(text) and not reads_environment(place):
            fix = "it is read in dataset's paths, runs, tracking, guard.ledger, pool.scheduler: elsewhere it would be recorded"
            yield Problem("MSEL-234", "the environment is not read here", place, fix)


def reads_environment(place: str) -> bool:
    """Say whether a setting may be taken from the environment: an address, or a path.

    >>> reads_environment("dataset.path"), reads_environment("runs"), reads_environment("name")
    (True, True, False)
    """
    return place in SECRET_PLACES or _PATH_PLACE.match(place) is not None


def _without(text: str, values: Mapping[str, str]) -> str:
    for value, name in values.items():
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", name.replace("\\", "\\\\"), text)
    return text


def _keys(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield each key at any depth with its dotted place."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            place = f"{where}.{key}" if where else str(key)
            yield place, str(key)
            yield from _keys(item, place)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _keys(item, where)


def _texts(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Texts with references in them, in keys as in values."""
    for place, key in _keys(value, where):
        if "${" in key:
            yield place, key
    yield from _values(value, where)


def _values(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield each text with a reference, with its dotted place."""
    if isinstance(value, str) and "${" in value:
        yield where, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _values(item, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _values(item, where)


# A password that is typed goes into the environment at once; everything after that sees a reference to it.
#
# `tracking.uri=postgresql://me:pa55@db/x` becomes `tracking.uri=${oc.env:MODELSEL_TRACKING_URI}`, so that neither Hydra's notes
# of a sweep, nor config.yaml, nor a message holds it. Worker processes inherit the variable.

_PASSWORD = re.compile(r"[a-zA-Z][\w+.-]*://[^\s/@'\"]*:[^\s/@'\"]+@")


def holds_secret(value: str) -> bool:
    """True for an address with a password in it.

    >>> holds_secret("postgresql://me:pa55@db/x"), holds_secret("http://host:5000")
    (True, False)
    """
    return _PASSWORD.search(value) is not None


def variable(key: str) -> str:
    """Return the environment variable of a setting.

    >>> variable("tracking.uri")
    'MODELSEL_TRACKING_URI'
    """
    return f"MODELSEL_{re.sub(r'[^A-Za-z0-9]+', '_', key).upper()}"


def reference(key: str, value: str, environment: MutableMapping[str, str] | None = None) -> str | None:
    """Put a secret value into the environment and return what stands for it; None where there is no secret."""
    if key not in SECRET_PLACES or not holds_secret(value):
        return None
    (os.environ if environment is None else environment)[variable(key)] = value
    return f"${{oc.env:{variable(key)}}}"
