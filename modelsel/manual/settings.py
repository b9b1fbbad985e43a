"""Settings as the reference shows them: read off the dataclass of each kind, its help texts and the comments of its yaml."""

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from modelsel.config.folders import shipped_folder
from modelsel.config.schema import Slot, class_of, describe_accepted, kinds, slots
from modelsel.config.settings import RootSettings
from modelsel.core.spec import GROUPS, kind_of

ROOT = ""  # the group of the root's own settings
COMMON = "_common"  # the file that the others of its folder begin from


@dataclass(frozen=True)
class SettingEntry:
    """A setting; `shared` says whether one fit answers candidates that differ in it alone (None: not a learner's)."""

    group: str
    kind: str
    name: str
    accepts: str
    default: str
    meaning: str
    shared: bool | None
    slot: Slot

    @property
    def path(self) -> str:
        """The name as it is typed: `learner.k`."""
        return f"{self.group}.{self.name}" if self.group else self.name


@cache
def groups() -> tuple[str, ...]:
    """Groups that have kinds, the root first."""
    return (ROOT, *GROUPS)


@cache
def kinds_in(group: str) -> tuple[str, ...]:
    """Kinds of a group that a configuration can name."""
    if group == ROOT:
        return ("",)
    return tuple(kind for kind in kinds(group) if dataclasses.is_dataclass(class_of(group, kind)))


@cache
def of_kind(group: str, kind: str) -> tuple[SettingEntry, ...]:
    """All settings of a kind, records written out.

    >>> [entry.name for entry in of_kind("learner", "knn")]
    ['k', 'distance', 'normalise', 'vote', 'prior', 'smoothing', 'statistic', 'q']
    """
    cls = RootSettings if group == ROOT else class_of(group, kind)
    comments = _comments(group, kind)
    return tuple(_entry(group, kind, name, slot, cls, comments) for name, slot in _flat(cls))


@cache
def everything() -> tuple[SettingEntry, ...]:
    """All settings of all kinds."""
    return tuple(entry for group in groups() for kind in kinds_in(group) for entry in of_kind(group, kind))


def about(group: str, kind: str) -> str:
    """Describe a kind: the first lines of its yaml, else the first sentence of its class."""
    path = shipped_folder() / group / f"{kind}.yaml"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    head = [line.lstrip("# ") for line in lines[: next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)]]
    return " ".join(head) or str(class_of(group, kind).__doc__ or "").strip().splitlines()[0]


def _flat(cls: type, prefix: str = "") -> Iterator[tuple[str, Slot]]:
    """Yield all settings of a class, those of its records with dotted names."""
    for name, slot in slots(cls).items():
        yield prefix + name, slot
        if slot.record is not None:
            yield from _flat(slot.record, f"{prefix}{name}.")


def _entry(group: str, kind: str, name: str, slot: Slot, cls: type, comments: dict[str, str]) -> SettingEntry:
    """Describe one setting; its help or the comment of its yaml, whichever reads better."""
    meaning = comments.get(name, "") if _reads_better(slot, comments.get(name, "")) else slot.limits.help
    accepts = f"a {slot.group}" if slot.group else describe_accepted(slot)
    return SettingEntry(
        group, kind, name, accepts, _default(slot, cls, name), meaning or _part(slot), _is_shared(group, cls, name), slot
    )


def _reads_better(slot: Slot, comment: str) -> bool:
    """Say whether the yaml's comment is shown: where the field has no help, or less."""
    return len(comment) > len(slot.limits.help)


def _part(slot: Slot) -> str:
    if slot.group:
        return f"{'parts' if slot.limits.many else 'a part'} of the group {slot.group}"
    return "its own settings follow" if slot.record is not None else ""


def _default(slot: Slot, cls: type, name: str) -> str:
    """Write a setting's default."""
    if slot.required:
        return "must be given"
    value = _value(cls, name.split("."))
    if slot.record is not None:
        return ""
    if slot.group and value is not None:
        return ", ".join(map(kind_of, value)) if isinstance(value, list | tuple) else kind_of(value)
    return _write_value(value)


def _value(cls: type, names: list[str]) -> object:
    """Find the default of a setting within records."""
    field = next(field for field in dataclasses.fields(cls) if field.name == names[0])
    made = field.default if field.default is not dataclasses.MISSING else None
    if field.default_factory is not dataclasses.MISSING:
        made = field.default_factory()
    for name in names[1:]:
        made = getattr(made, name)
    return made


def _write_value(value: object) -> str:
    """Write a value as YAML has it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_write_value, value))}]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if value != "" else '""'


def _is_shared(group: str, cls: type, name: str) -> bool | None:
    """Say whether a setting is a path parameter, which is absent from the fit's key."""
    if group == "softener":
        return True  # a tree is softened after it was grown
    if group not in ("learner", "pruner") or any(slot.required for slot in slots(cls).values()):
        return None
    keyed = cls().fit_key()
    first = name.partition(".")[0]
    if first == "pruner" and "pruner" in slots(cls):
        return True
    return first not in keyed


@cache
def _comments(group: str, kind: str) -> dict[str, str]:
    """Comments of a yaml by dotted name: behind the value, and on the lines below it that hold nothing else."""
    path = shipped_folder() / (f"{group}/{kind}.yaml" if group else "config.yaml")
    found: dict[str, str] = {}
    last, parents = "", list[tuple[int, str]]()
    if group and kind != COMMON and (path.parent / f"{COMMON}.yaml").exists():
        found.update(_comments(group, COMMON))
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        if key := re.match(r"(\s*)(\w+):", line):
            parents = [(depth, name) for depth, name in parents if depth < len(key[1])] + [(len(key[1]), key[2])]
            last = ".".join(name for _, name in parents)
        comment = re.search(r"(?:^|\s)#\s*(.+)$", line)
        if comment and last:
            found[last] = f"{found.get(last, '')} {comment[1]}".strip()
    return found
