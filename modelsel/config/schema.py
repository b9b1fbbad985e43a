"""The schema of a kind, read off its dataclass: the signature is the schema.

A `Slot` is a field as configuration sees it: another part of a group (one, or a list), a record of its own fields, or a
plain value with its types and limits.
"""

import dataclasses
import importlib
import importlib.metadata
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from modelsel.config import settings
from modelsel.core import spec
from modelsel.core.spec import FieldLimits


@dataclass(frozen=True)
class Slot:
    """One field: its group if it takes a part, its record if it has fields of its own, else types, words and limits."""

    name: str
    limits: FieldLimits
    hints: tuple[object, ...]  # members of the annotated union, None apart
    optional: bool  # may be None
    required: bool  # has no default
    record: type | None = None
    words: tuple[str, ...] = ()
    default: Callable[[], object] | None = None

    @property
    def group(self) -> str:
        return self.limits.group


@cache
def slots(cls: type) -> Mapping[str, Slot]:
    """The fields of a part's class by name (`kind` is no setting)."""
    hints = get_type_hints(cls)
    return {
        field.name: _slot(field, hints[field.name])
        for field in dataclasses.fields(cls)
        if field.init and (field.name != "kind" or _is_record(cls))
    }


def class_of(group: str, kind: str, plugins: tuple[str, ...] = ()) -> type[object]:
    """The class of a kind; KeyError for an unknown one."""
    if kind in settings.KINDS.get(group, ()):
        return settings.CLASSES[group]
    if kind.startswith("_"):
        raise KeyError(kind)
    return spec.class_of(group, kind, plugins)


@cache
def kinds(group: str) -> tuple[str, ...]:
    """Names of the modules of a group: what `kind` may be besides the files of `conf/<group>/`."""
    if group in settings.KINDS:
        return settings.KINDS[group]
    return spec.kinds_of(group)


def plugin_kinds(group: str) -> tuple[str, ...]:
    """Kinds that installed plugins offer (each needs `plugins=[name]`)."""
    return tuple(sorted(entry.name for entry in importlib.metadata.entry_points(group=f"modelsel.{group}")))


def _is_record(cls: object) -> bool:
    """Say whether it is a record of settings, whose kind is one of them."""
    return bool(getattr(cls, "nested", False))


def _slot(field: "dataclasses.Field[object]", hint: object) -> Slot:
    """Read one field of a dataclass as a slot: its types, limits, words and default."""
    members = _members(hint)
    limits = spec.limits_of(field)
    required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    literal = tuple(str(word) for member in members if get_origin(member) is Literal for word in get_args(member))
    return Slot(
        name=field.name,
        limits=limits,
        hints=tuple(member for member in members if member is not type(None) and get_origin(member) is not Literal),
        optional=type(None) in members or Any in members,
        required=required,
        record=next((member for member in members if isinstance(member, type) and getattr(member, "nested", False)), None),
        words=limits.words + literal,
        default=None if field.default_factory is dataclasses.MISSING else field.default_factory,
    )


def _members(hint: object) -> tuple[object, ...]:
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(member for item in get_args(hint) for member in _members(item))
    return (hint,)
