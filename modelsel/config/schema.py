"""The schema of a kind, read off its dataclass: the signature is the schema.

A `Slot` is a field as configuration sees it: another part of a group (one, or a list), a record of its own fields, or a
plain value with its types and limits.
"""

import dataclasses
import importlib
import importlib.metadata
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from modelsel.config import settings
from modelsel.config.suggest import near
from modelsel.core import spec
from modelsel.core.errors import ConfigurationError, Problem
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
    """The fields of a part's class by name (`kind` is not a setting)."""
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


# A plain value against a field: the type that is declared, its limits, its words.
#
# `check_value` returns the value as the field wants it (a list becomes a tuple, `3` a `3.0` where a real number is due) or
# raises `WrongError`, which says what is wrong and how to mend it.


TRUE, FALSE = ("true", "yes", "on"), ("false", "no", "off")
NOTHING = ("none", "null")


class WrongError(Exception):
    """A value that does not fit its field: `what` is wrong, and how to `fix` it."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix


def check_value(slot: Slot, value: object) -> object:
    """The value as the field wants it; raises WrongError."""
    if value is None or (value in NOTHING and slot.optional and value not in slot.words):
        _absent(slot)
        return None
    if slot.words and isinstance(value, str) and value in slot.words:
        return value
    if slot.words and not _takes(slot, float, int, bool):
        return _word(slot, value)
    fitted = _first_fit(slot, value)
    if isinstance(fitted, int | float) and not isinstance(fitted, bool):
        _within(slot, fitted)
    return fitted


def _absent(slot: Slot) -> None:
    if not slot.optional:
        raise WrongError("a value is missing", f"give {describe_accepted(slot)}")


def _word(slot: Slot, value: object) -> object:
    """Raise what is wrong with a word that is none of those allowed."""
    if isinstance(value, bool):
        raise WrongError(
            f"{_show_value(value)} is not a name", "YAML reads off, on, yes, no as truth values: put the name in quotes"
        )
    raise WrongError(f"{value!r} is not allowed", dict(slot.limits.elsewhere).get(str(value)) or near(str(value), slot.words))


def _first_fit(slot: Slot, value: object) -> object:
    """Convert a value to the first declared type that takes it, narrow types first."""
    for hint in sorted(slot.hints, key=_eagerness):
        try:
            return _fit(hint, value)
        except (TypeError, ValueError):
            continue
    if isinstance(value, bool) and not _takes(slot, bool):
        named = _takes(slot, str)
        yaml = "; YAML reads off, on, yes, no as truth values: put such a name in quotes" if named else ""
        what = f"{_show_value(value)} is not a {'name' if named else 'number'}"
        raise WrongError(what, f"give {describe_accepted(slot)}{yaml}")
    fix = f"give {describe_accepted(slot)}"
    if isinstance(value, str) and slot.words:
        fix = f"{fix}; {near(value, slot.words)}"
    raise WrongError(f"found {_show_value(value)}", fix)


def _eagerness(hint: object) -> int:
    """Narrow types first, so that a number stays a number where text would do as well."""
    order: tuple[object, ...] = (bool, int, float)
    origin = get_origin(hint) or hint
    return order.index(origin) if origin in order else 8 if origin is str else 4 if origin is not Any else 9


def _fit(hint: object, value: object) -> object:
    """Convert a value to a type; TypeError or ValueError where it does not fit."""
    origin = get_origin(hint) or hint
    if origin in _PLAIN:
        return _PLAIN[origin](value)
    if origin in (tuple, list, Sequence, frozenset, set):
        return _items(hint, value)
    if origin in (dict, Mapping):
        return _mapping(hint, value)
    if origin in (Union, types.UnionType):
        return _any_of(get_args(hint), value)
    if origin is type(None) and value is None:
        return None
    if isinstance(origin, type) and not isinstance(value, origin):
        raise TypeError
    return value


def _any_of(hints: tuple[object, ...], value: object) -> object:
    """Convert a value to the first type of a union that takes it."""
    for hint in sorted(hints, key=_eagerness):
        try:
            return _fit(hint, value)
        except (TypeError, ValueError):
            continue
    raise TypeError


def _truth(value: object) -> bool:
    """Read a truth value, as YAML or as text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in TRUE + FALSE:
        return value.lower() in TRUE
    raise TypeError


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _real(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError
    return float(value)


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError
    return str(value)


_PLAIN: Mapping[object, Callable[[object], object]] = {
    bool: _truth,
    int: _whole,
    float: _real,
    str: _text,
    Any: lambda value: value,
}


def _items(hint: object, value: object) -> object:
    """A list as a tuple; a single value is a list of one."""
    if isinstance(value, Mapping):
        raise TypeError
    values = list(value) if isinstance(value, list | tuple) else [value]
    inner = [item for item in get_args(hint) if item is not Ellipsis] or [Any]
    if len(inner) > 1 and len(inner) != len(values):
        raise TypeError
    each = inner * len(values) if len(inner) == 1 else inner
    return tuple(_fit(kind, item) for kind, item in zip(each, values, strict=True))


def _mapping(hint: object, value: object) -> object:
    """Convert the values of a mapping; keys become text."""
    if not isinstance(value, Mapping):
        raise TypeError
    inner = (get_args(hint) or (Any, Any))[1]
    return {str(key): _fit(inner, item) for key, item in value.items()}


def _within(slot: Slot, value: float) -> None:
    least, most, above = slot.limits.least, slot.limits.most, slot.limits.above
    if (least is not None and value < least) or (most is not None and value > most) or (above is not None and value <= above):
        raise WrongError(f"{value:g} is out of range", f"give {describe_accepted(slot)}")


def describe_accepted(slot: Slot) -> str:
    """Describe the values that a field accepts.

    >>> from modelsel.core.spec import FieldLimits
    >>> describe_accepted(Slot("k", FieldLimits(least=1), (int,), True, False))
    'a whole number of at least 1, or null'
    """
    if slot.record is not None:
        return "a mapping"
    kinds = [_NAMES.get(get_origin(hint) or hint, "a value") for hint in slot.hints]
    parts = [f"{kind}{_range(slot)}" if kind.endswith("number") else kind for kind in dict.fromkeys(kinds)]
    words = [", ".join(slot.words)] if slot.words else []
    return " or ".join(words if words and parts == ["a name"] else parts + words) + (", or null" if slot.optional else "")


_NAMES: Mapping[object, str] = {
    bool: "true or false", int: "a whole number", float: "a number", str: "a name", tuple: "a list", list: "a list",
    Sequence: "a list", dict: "a mapping", Mapping: "a mapping", Any: "a value",
}  # fmt: skip


def _range(slot: Slot) -> str:
    """Write the limits of a number in words."""
    least, most, above = slot.limits.least, slot.limits.most, slot.limits.above
    low = f" of at least {least:g}" if least is not None else f" above {above:g}" if above is not None else ""
    high = f" of at most {most:g}" if most is not None else ""
    return f"{low}{' and' if low and high else ''}{high.replace(' of', '') if low else high}"


def _takes(slot: Slot, *hints: object) -> bool:
    return any((get_origin(hint) or hint) in hints for hint in slot.hints)


def _show_value(value: object) -> str:
    """Write a found value for a message, without its contents where it is a collection."""
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, list | tuple) else repr(value)


# One override of a learner's setting, as typed: `pruner.confidence=0.1` to its dotted name and its value.


def setting(override: str) -> tuple[str, object]:
    """Name and value, read by Hydra's parser; ConfigurationError when it is no `name=value`.

    >>> setting("pruner.confidence=0.1")
    ('pruner.confidence', 0.1)
    """
    try:
        parsed = OverridesParser.create().parse_override(override)
        if parsed.is_sweep_override() or parsed.is_delete():
            raise ValueError("one value is due")
        return str(parsed.key_or_group), parsed.value()
    except (HydraException, ValueError) as error:
        fix = "write name=value, for example pruner.confidence=0.1"
        raise ConfigurationError(Problem("MSEL-209", f"{override!r} cannot be read", "overrides", fix)) from error
