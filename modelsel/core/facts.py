"""Facts by name: what an entry of a ledger or a document states, read from JSON and written as JSON here, and nowhere else.

Facts that were read are written again byte for byte: names that this version does not know are kept, and those that were not
stated stay so. What is not stated has the default of its field; a fact without a default raises AttributeError when it is asked
for, since what an entry or a document has to state is checked before it is believed.

Facts that are written are made by keywords, and state what was given and nothing else: a fact that is misspelt, or a missing
one without a default, is an error of types. `UNSTATED` takes the place of a default where not everything of a kind has a fact,
and of a value that is not stated.
"""

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import (
    Any,
    ClassVar,
    NoReturn,
    Protocol,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from modelsel.core.types import Finding

UNSTATED: Any = object()
EMPTY: Any = MappingProxyType({})  # the default of a mapping
Kind = TypeVar("Kind")


class Stating(Protocol):
    """What states facts: an entry of a ledger, say."""

    @property
    def facts(self) -> Mapping[str, Any]: ...


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=False)
def facts(kind: type[Kind]) -> type[Kind]:
    """Decorate a kind of facts: its fields are the keywords that it is made by."""
    defaults = {name: kind.__dict__.get(name) for name in kind.__annotations__}
    special = {name: default for name, default in defaults.items() if default is UNSTATED or isinstance(default, Mapping)}
    for name in special:
        setattr(kind, name, field(metadata={"optional": True}))
    made = dataclass(frozen=True, kw_only=True, eq=False, init=False, repr=False)(kind)
    for name, default in special.items():
        if default is not UNSTATED:
            setattr(made, name, default)
    return made


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Facts:
    """The facts of one kind; those among them that are facts themselves are read by the types of their fields.

    `CHECKED`: a file that lacks a fact without a default is damaged; else the fact is missed when it is asked for.
    """

    CHECKED: ClassVar[bool] = True

    def __init__(self, **stated: object) -> None:
        """State some facts, by the names of fields; what is within them may be given as JSON has it."""
        if strange := stated.keys() - self.__dataclass_fields__.keys():
            raise TypeError(f"{type(self).__name__} states no {', '.join(sorted(strange))}")
        given = {name: value for name, value in stated.items() if value is not UNSTATED}
        self.__dict__.update({**given, **_read_parts(type(self), given)})

    @classmethod
    def read(cls, stated: "Mapping[str, Any] | Self") -> Self:
        """Read facts from JSON; those that are read already are themselves."""
        if isinstance(stated, cls):
            return stated
        assert isinstance(stated, Mapping)
        return cls._with({**stated, **_read_parts(cls, stated)})

    @classmethod
    def _with(cls, stated: Mapping[str, object]) -> Self:
        """Set what is stated alone; names that are no fields stand apart, where they hide no method."""
        facts, names = cls.__new__(cls), cls.__dataclass_fields__.keys()
        facts.__dict__.update({name: value for name, value in stated.items() if name in names})
        facts.__dict__["_others"] = {name: value for name, value in stated.items() if name not in names}
        return facts

    @property
    def stated(self) -> dict[str, Any]:
        """What is stated, by name, in its order."""
        names, own = self.__dataclass_fields__.keys(), self.__dict__
        return {**own.get("_others", {}), **{name: value for name, value in own.items() if name in names}}

    @classmethod
    def of(cls, entry: Stating) -> Self:
        """Read the facts of an entry, once."""
        known = entry.__dict__.get(cls.__name__)
        if not isinstance(known, cls):
            known = entry.__dict__[cls.__name__] = cls.read(entry.facts)
        return known

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.stated == other.stated

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.stated.items())})"

    def states(self, name: str) -> bool:
        """Say whether a fact is stated, be it that there is none."""
        return name in self.__dict__

    def part(self, names: Iterable[str]) -> dict[str, Any]:
        """Some facts as JSON has them; None for those that are not stated."""
        stated = self.stated
        return {name: _plain(stated.get(name)) for name in names}

    def but(self, **facts: object) -> Self:
        """A copy with other facts."""
        if strange := facts.keys() - self.__dataclass_fields__.keys():
            raise TypeError(f"{type(self).__name__} states no {', '.join(sorted(strange))}")
        return self.read({name: value for name, value in {**self.stated, **facts}.items() if value is not UNSTATED})

    def written(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        return {name: _plain(value) for name, value in self.stated.items()}


class DocumentFacts(Facts, dict[str, Any]):
    """Facts of a document on disk: read by attribute here, and as the JSON that they are by whoever takes them for a dict."""

    def __init__(self, **stated: object) -> None:
        super().__init__(**stated)
        dict.update(self, self.stated)

    @classmethod
    def _with(cls, stated: Mapping[str, object]) -> Self:
        facts = super()._with(stated)
        dict.update(facts, facts.stated)
        return facts

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        """Raise TypeError: what is on record is not changed."""
        raise TypeError(f"{type(self).__name__} is not changed: dict(facts) is a copy that can be")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).read, (self.stated,)

    __eq__ = dict.__eq__


def _plain(value: object) -> Any:
    """Write one fact as JSON has it."""
    if isinstance(value, Facts):
        return value.written()
    if isinstance(value, Finding):  # what is recorded of it, and no more
        return {name: getattr(value, name) for name in ("code", "severity", "message", "do")}
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


# Reading what is within facts: each part by the type of its field.


def _read_parts(kind: type[Facts], stated: Mapping[str, Any]) -> dict[str, Any]:
    """Read the facts that are stated within others."""
    readers: Mapping[str, Callable[[Any], Any]] = _readers(kind)  # type: ignore[arg-type]  # a type has a hash, if no value has
    return {name: read(stated[name]) for name, read in readers.items() if stated.get(name) is not None}


@cache
def _readers(kind: Any) -> Mapping[str, Callable[[Any], Any]]:
    """The readers of those fields that are more than plain values."""
    hints = get_type_hints(kind)
    found = {one.name: _reader(hints[one.name]) for one in fields(kind)}
    return {name: read for name, read in found.items() if read is not None}


def _read_one(kind: Any, stated: object) -> object:
    """Read what is not read already."""
    return stated if isinstance(stated, kind) else kind.read(stated)


def _reader(hint: Any) -> Callable[[Any], Any] | None:
    """The reader of a type that has a `read`, or of a list, tuple, mapping or union of such; a tuple is read as a tuple."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return next((read for read in map(_reader, inner) if read is not None), None)
    if origin not in (list, tuple, Sequence, Mapping):
        return partial(_read_one, hint) if hasattr(hint, "read") else None
    if (one := _reader(inner[-1 if origin is Mapping else 0])) is None:
        return tuple if origin is tuple and inner[-1] is ... else None
    if origin is Mapping:
        return lambda stated: {name: one(value) for name, value in stated.items()}
    return lambda stated: tuple(map(one, stated)) if origin is tuple else [*map(one, stated)]
