"""A part of a study is a frozen dataclass whose fields say what they accept: the schema *is* the signature.

`modelsel/criterion/gini.py` holds the class `Gini`: file name = kind = class name in camel case, and the folder is the
registry. A field declares its limits or its group beside its default, so that configuration, plan and documentation read
them from one place:

    @dataclass(frozen=True)
    class Tree:
        criterion: Criterion = part("criterion", "entropy")
        max_depth: int | None = whole(None, least=0)
        missing: str = one_of("node_mode", "surrogate")
"""

import dataclasses
import importlib
import importlib.util
import keyword
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

Default = TypeVar("Default")
Word = TypeVar("Word", bound=str)
Part = TypeVar("Part")

GROUPS = (
    "learner", "criterion", "pruner", "softener", "distance", "preparer",
    "calibrator", "decision", "scheme", "split", "measure", "rule", "race", "dataset", "guard", "pool", "tracking",
)  # fmt: skip

DEEPER = {"guard": "modelsel.guard.policy", "column_kind": "modelsel.core.column_kind"}  # groups in a folder of a room

_SCALARS = frozenset((str, int, float, bool, type(None)))


@dataclass(frozen=True)
class FieldLimits:
    """Limits of a field's values: numbers in a range, one of some words, or a part of a group (one, or a list)."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    words: tuple[str, ...] = ()
    group: str = ""
    many: bool = False
    help: str = ""
    elsewhere: tuple[tuple[str, str], ...] = ()  # words that people try, and where what they mean is


def limits_of(field: "dataclasses.Field[object]") -> FieldLimits:
    """The declared limits of a dataclass field (an undeclared one accepts whatever its type does)."""
    limits: FieldLimits = field.metadata.get("limits", FieldLimits())
    return limits


def number(
    default: Default, *, least: float | None = None, most: float | None = None, above: float | None = None, help: str = ""
) -> Default:
    """A real-valued field: `least` ≤ x ≤ `most`, or x > `above`; the type annotation says whether None is allowed."""
    return dataclasses.field(default=default, metadata={"limits": FieldLimits(least, most, above, help=help)})


def whole(default: Default, *, least: int | None = None, most: int | None = None, help: str = "") -> Default:
    """An integer field."""
    return number(default, least=least, most=most, help=help)


def optional_number(
    *, least: float | None = None, most: float | None = None, above: float | None = None, help: str = ""
) -> float | None:
    """A real-valued field or None; None is left out of the specification."""
    found: float | None = _optional_field(FieldLimits(least, most, above, help=help))
    return found


def optional_whole(*, least: int | None = None, help: str = "") -> int | None:
    """An integer field or None; None is left out of the specification."""
    found: int | None = _optional_field(FieldLimits(least, help=help))
    return found


def optional_word(*words: str, help: str = "", elsewhere: tuple[tuple[str, str], ...] = ()) -> str | None:
    """A field that takes one of some words, or None; None is left out of the specification."""
    found: str | None = _optional_field(FieldLimits(words=words, help=help, elsewhere=elsewhere))
    return found


def one_of(*words: Word, default: Word | None = None, help: str = "", identity: bool = True) -> Word:
    """A field that takes one of some words; the first is the default unless said. `identity`: is it part of ids."""
    limits = FieldLimits(words=words, help=help)
    return dataclasses.field(default=default or words[0], metadata={"limits": limits, "identity": identity})


def part(group: str, default: str, help: str = "") -> Any:
    """A field that takes a part of a group: a bare name or a mapping with `kind` in configs, an object in Python."""
    return dataclasses.field(
        default_factory=lambda: make(group, default), metadata={"limits": FieldLimits(group=group, help=help)}
    )


def optional_part(group: str, help: str = "") -> Any:
    """A field that takes a part of a group or None; None is left out of the specification."""
    return _optional_field(FieldLimits(group=group, help=help))


def optional(help: str = "") -> Any:
    """A field whose type says all, or None; None is left out of the specification."""
    return _optional_field(FieldLimits(help=help))


def _optional_field(limits: FieldLimits) -> Any:
    """A field that is None unless it is given; what else it takes is for its annotation to say."""
    return dataclasses.field(default=None, metadata={"limits": limits, "optional": True})


def plain(default: Default, help: str = "") -> Default:
    """A field whose type says all."""
    if isinstance(default, dict | list):
        return dataclasses.field(default_factory=lambda: type(default)(default), metadata={"limits": FieldLimits(help=help)})
    return dataclasses.field(default=default, metadata={"limits": FieldLimits(help=help)})


def class_name(kind: str) -> str:
    """`gain_ratio` -> `GainRatio`; what Python reserves gets an underscore, `none` -> `None_`."""
    name = "".join(word.capitalize() for word in kind.split("_"))
    return f"{name}_" if keyword.iskeyword(name) else name


def class_of(group: str, kind: str, plugins: tuple[str, ...] = ()) -> type:
    """The class of a kind: `modelsel/<group>/<kind>.py`, or an entry point `modelsel.<group>` of an allowed plugin.

    Raises KeyError for an unknown kind; the caller knows where the name stood and what is near it.
    """
    module = f"{package_of(group)}.{kind}"
    if kind.isidentifier() and _is_package(group) and importlib.util.find_spec(module) is not None:
        found: type | None = getattr(importlib.import_module(module), class_name(kind), None)
        if found is not None:  # else a module that helps the parts beside it
            return found
    from importlib.metadata import entry_points  # which few processes ask for, and which reads mail

    for entry in entry_points(group=f"modelsel.{group}"):
        if entry.name == kind and kind in plugins:
            return entry.load()  # type: ignore[no-any-return]
    raise KeyError(kind)


def package_of(group: str) -> str:
    """The package whose modules are the parts of a group; the guard's policies stand in a folder of the guard.

    >>> package_of("criterion"), package_of("guard")
    ('modelsel.criterion', 'modelsel.guard.policy')
    """
    return DEEPER.get(group, f"modelsel.{group}")


def _is_package(group: str) -> bool:
    return importlib.util.find_spec(package_of(group)) is not None


@cache
def kinds_of(group: str) -> tuple[str, ...]:
    """The kinds that come with the package: modules that hold a class of their name. They are read, not imported."""
    folders = [Path(place) for place in importlib.import_module(package_of(group)).__path__] if _is_package(group) else []
    return tuple(sorted(path.stem for folder in folders for path in folder.glob("[!_]*.py") if _declares(path)))


def _declares(path: Path) -> bool:
    return re.search(rf"^class {class_name(path.stem)}\b", path.read_text("utf-8"), re.MULTILINE) is not None


def make(group: str, kind: str, **values: object) -> Any:
    """An object of a kind with the given fields, defaults elsewhere."""
    return class_of(group, kind)(**values)


def kind_of(part: object) -> str:
    """The kind of a part: its `kind` attribute, else the name of its module, or of its class where it comes from elsewhere."""
    return str(getattr(part, "kind", None) or _name_of(part.__class__))  # type: ignore[arg-type]


@cache
def _name_of(cls: type) -> str:
    place, _, module = cls.__module__.rpartition(".")
    return module if place.partition(".")[0] == "modelsel" else snake(cls.__name__)


def snake(name: str) -> str:
    """`GainRatio` -> `gain_ratio`: the kind that a class of a plug-in is.

    >>> [snake(name) for name in ("GainRatio", "GMean", "C45", "None_")]
    ['gain_ratio', 'g_mean', 'c45', 'none']
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).strip("_").lower()


def classes_in(parts: Iterable[object]) -> set[type]:
    """Classes of some parts and of the parts in their fields, at any depth. Asked of whole spaces: a field at a time.

    >>> sorted(kind.__name__ for kind in classes_in([make("learner", "knn")]))
    ['Heom', 'Knn']
    """
    found: set[type] = set()
    waiting: list[list[object]] = [list(parts)]
    while waiting:
        some = waiting.pop()
        for kind in set(map(type, some)) - _SCALARS:
            own = [one for one in some if type(one) is kind]
            if kind in (tuple, list):
                waiting += {id(one): [*one] for one in own if isinstance(one, tuple | list)}.values()
            elif dataclasses.is_dataclass(kind):
                found.add(kind)
                waiting += [[*map(attrgetter(name), own)] for name in _part_fields(kind)]
    return found


def with_fields(part: Part, **values: object) -> Part:
    """A part with some of its fields changed, whatever its kind.

    >>> with_fields(make("learner", "knn"), k=3).k
    3
    """
    changed: Part = dataclasses.replace(part, **values)  # type: ignore[type-var]  # every part is a dataclass
    return changed


@cache
def _part_fields(kind: type) -> tuple[str, ...]:
    """Fields that may hold parts: those that say so, and those that say nothing of what they accept."""
    return tuple(each.name for each in dataclasses.fields(kind) if limits_of(each).group or "limits" not in each.metadata)


def spec_of(part: object, without: Collection[str] = ()) -> dict[str, object]:
    """The whole specification of a part as plain data, `kind` first, defaults filled in: what ids are hashed from.

    A field with `metadata={"identity": False}` is left out; a part that is written otherwise says how by `specification`.
    """
    if (written := getattr(part, "specification", None)) is not None:
        return {name: value for name, value in written().items() if name not in without}
    spec: dict[str, object] = {} if getattr(part, "nested", False) else {"kind": kind_of(part)}
    kind: type = part.__class__
    for name in _identity(kind):
        if name in without:
            continue
        value = getattr(part, name)
        if value is not None or name not in _optional(kind):
            spec[name] = value if type(value) in _SCALARS else _plain(value)
    return spec


def flat(spec: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Dotted names; the `kind` of a nested part stands under the part's own name.

    >>> flat({"kind": "tree", "criterion": {"kind": "gini"}, "leaf": {"score": "laplace"}})
    {'kind': 'tree', 'criterion': 'gini', 'leaf.score': 'laplace'}
    """
    out: dict[str, object] = {}
    for key, value in spec.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            if "kind" in value:
                out[name] = value["kind"]
            out.update(flat({k: v for k, v in value.items() if k != "kind"}, f"{name}."))
        else:
            out[name] = value
    return out


@cache
def _identity(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls) if field.metadata.get("identity", True))


@cache
def _optional(cls: type) -> frozenset[str]:
    return frozenset(field.name for field in dataclasses.fields(cls) if field.metadata.get("optional"))


def _plain(value: object) -> object:
    """Reduce a setting to plain values; parts become mappings."""
    if type(value) in _SCALARS:  # most values, and large spaces have millions of them
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return spec_of(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value
