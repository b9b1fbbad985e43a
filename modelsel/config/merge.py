"""Putting configuration over configuration, on plain dicts: mappings merge, everything else replaces.

A bare name of a part is short for `{kind: name}`. A mapping that names another kind replaces what stood there, since the
settings of one kind mean nothing to another; one that names the same kind, or none, refines it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

KIND = "kind"


def merge(base: object, over: object) -> Any:
    """`over` put over `base`; neither is changed.

    >>> merge({"pruner": "error_based"}, {"pruner": {"confidence": 0.1}})
    {'pruner': {'kind': 'error_based', 'confidence': 0.1}}
    >>> merge({"pruner": {"kind": "error_based", "confidence": 0.1}}, {"pruner": {"kind": "unpruned"}})
    {'pruner': {'kind': 'unpruned'}}
    """
    if isinstance(over, str) and isinstance(base, Mapping) and KIND in base:
        over = {KIND: over}
    if not isinstance(over, Mapping):
        return over
    if isinstance(base, str):
        base = {KIND: base}
    if not isinstance(base, Mapping) or over.get(KIND, base.get(KIND)) != base.get(KIND):
        return dict(over)
    return {**base, **{key: merge(base.get(key), value) for key, value in over.items()}}


def nest(dotted: Mapping[str, object]) -> dict[str, object]:
    """Dotted names as nested mappings; a part's own name beside its settings becomes its `kind`.

    >>> nest({"pruner": "error_based", "pruner.confidence": 0.1, "leaf": {"score": "laplace"}})
    {'pruner': {'kind': 'error_based', 'confidence': 0.1}, 'leaf': {'score': 'laplace'}}
    """
    out: dict[str, object] = {}
    for name, value in dotted.items():
        put(out, str(name).split("."), nest(value) if isinstance(value, Mapping) else value)
    return out


def put(tree: dict[str, Any], path: Iterable[str], value: object) -> None:
    """Set one value at a path of names, beside what stands there already."""
    *parents, last = path
    for name in parents:
        here = tree.get(name)
        tree[name] = here if isinstance(here, dict) else {} if here is None else {KIND: here}
        tree = tree[name]
    here = tree.get(last)
    if isinstance(value, dict):
        tree[last] = _join(here, value) if here is not None else value
    elif isinstance(here, dict):
        tree[last] = {KIND: value, **here}
    else:
        tree[last] = value


def _join(here: object, value: dict[str, object]) -> dict[str, object]:
    """Lay settings over a part that may be given by its name alone."""
    joined = here if isinstance(here, dict) else {KIND: here}
    for key, item in value.items():
        put(joined, (key,), item)
    return joined
