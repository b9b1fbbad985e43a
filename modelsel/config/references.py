"""References in configuration: `${seed}` takes another setting, `${oc.env:NAME}` a variable of the environment.

Only these are followed, and the environment only where an address, a path or a password may be needed: everything else that
OmegaConf could be asked to call is refused. What is recorded keeps the reference, never what it points to.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from modelsel.core.errors import Problem

RESOLVERS = ("oc.env", "oc.select")
SECRET_PLACES = ("dataset.path", "dataset.test_path", "tracking.uri", "guard.ledger", "pool.scheduler")
_REFERENCE = re.compile(r"\$\{\s*([^}:\s]*)\s*(:?)")


def plain_data(composed: DictConfig) -> dict[str, Any]:
    """A composed configuration as plain data, references left as they are, without Hydra's own node."""
    data = OmegaConf.to_container(composed, resolve=False)
    return {str(key): value for key, value in data.items() if key != "hydra"} if isinstance(data, dict) else {}


def resolve(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """The same data with references followed, and what is wrong with them (then nothing is followed)."""
    problems = [*_references(data, ""), *_underscores(data, "")]
    if problems or not _any(data):
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


def _references(value: Any, where: str) -> Iterator[Problem]:
    for place, text in _texts(value, where):
        for name, call in _REFERENCE.findall(text):
            if call and name not in RESOLVERS:
                yield Problem("MSEL-233", f"the resolver {name!r} is not followed", place, f"allowed: {', '.join(RESOLVERS)}")
            elif call and name == "oc.env" and place not in SECRET_PLACES:
                yield Problem("MSEL-234", "the environment is not read here", place, f"it is in {', '.join(SECRET_PLACES)}")


def _underscores(value: Any, where: str) -> Iterator[Problem]:
    """Keys like `_target_`, by which other tools would be told to call something."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            place = f"{where}.{key}" if where else str(key)
            if str(key).startswith("_"):
                yield Problem(
                    "MSEL-232", f"{key!r} is not a setting", place, "a part is chosen by its kind, never by a dotted path"
                )
            yield from _underscores(item, place)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _underscores(item, where)


def _texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and "${" in value:
        yield where, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, f"{where}.{key}" if where else str(key))
            yield from ((f"{where}.{key}", str(key)) for _ in range("${" in str(key)))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, where)


def _any(value: Any) -> bool:
    return next(iter(_texts(value, "")), None) is not None
