"""JSON schemas (draft 7) of the configuration's files, for editors: `conf/GROUP/*.yaml`, spaces, experiments."""

from collections.abc import Mapping
from typing import get_args, get_origin

from modelsel.config.folders import Folders
from modelsel.config.schema import Slot, class_of, slots
from modelsel.config.settings import RootSettings
from modelsel.core.spec import GROUPS
from modelsel.manual import settings

DRAFT = "http://json-schema.org/draft-07/schema#"
REFERENCE = {"type": "string", "pattern": r"^\$\{"}  # an interpolation of OmegaConf's
DEFAULTS = {"type": "array"}  # other files of the folder, by Hydra
TYPES: Mapping[object, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def schemas() -> dict[str, dict[str, object]]:
    """A schema per group, one of spaces, one of experiments."""
    return {**{group: of_group(group) for group in GROUPS}, "space": of_space(), "experiment": of_experiment()}


def of_group(group: str) -> dict[str, object]:
    """Files of `conf/GROUP/`: what each kind accepts.

    >>> of_group("scheme")["properties"]["kind"]["enum"][:2]
    ['bootstrap', 'group_kfold']
    """
    kinds = settings.kinds_in(group)
    cases = [
        {
            "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
            "then": {
                "properties": {"kind": {}, "defaults": DEFAULTS, **_fields(class_of(group, kind))},
                "additionalProperties": group == "learner",
            },
        }
        for kind in kinds
    ]
    return {"$schema": DRAFT, "type": "object", "properties": {"kind": {"enum": list(kinds)}}, "allOf": cases}


def of_space() -> dict[str, object]:
    """Files of `conf/space/`: entries by name, after those of other files that `defaults` names."""
    entry = {
        "type": ["object", "null"],  # without settings the name of the entry is that of its learner
        "properties": {
            "learner": {"type": ["string", "object"], "examples": list(Folders.of().options("learner"))},
            "sweep": {"type": ["object", "array"], "description": "settings by dotted name: choice(a, b), range(a, b), a list"},
        },
    }
    others = {"type": "array", "items": {"type": "string"}, "description": "files of this folder whose entries come first"}
    return {"$schema": DRAFT, "type": "object", "properties": {"defaults": others}, "additionalProperties": entry}


def of_experiment() -> dict[str, object]:
    """Files of `conf/experiment/`: everything that a study may set."""
    parts = {group: {"type": ["object", "string"]} for group in (*GROUPS, "outer", "space", "hydra", "experiment")}
    parts["space"] = {"type": ["object", "string", "array"]}
    known = {**parts, **_fields(RootSettings), "defaults": DEFAULTS, "kind": {}}
    return {"$schema": DRAFT, "type": "object", "properties": known, "additionalProperties": False}


def _fields(cls: object) -> dict[str, object]:
    return {name: {**_value(slot), "description": slot.limits.help} for name, slot in slots(cls).items()}


def _value(slot: Slot) -> dict[str, object]:
    """Write the schema of one setting."""
    if slot.group:
        one: dict[str, object] = {"type": ["string", "object"], "examples": list(Folders.of().options(slot.group))}
        return {"anyOf": [one, {"type": "array"}, *_nothing(slot)]} if slot.limits.many else {"anyOf": [one, *_nothing(slot)]}
    if slot.record is not None:
        inner = {"type": "object", "properties": _fields(slot.record), "additionalProperties": False}
        return {"anyOf": [inner, REFERENCE, *_nothing(slot)]}
    words = [{"enum": list(slot.words)}] if slot.words else []
    others = [] if slot.words and slot.hints == (str,) else [_type(slot, hint) for hint in slot.hints]
    return {"anyOf": [*words, *others, *_nothing(slot), REFERENCE]}


def _nothing(slot: Slot) -> list[dict[str, object]]:
    return [{"type": "null"}, {"enum": ["none"]}] if slot.optional else []


def _type(slot: Slot, hint: object) -> dict[str, object]:
    """A number with its limits; a list may be written as its only item, and other values are left to modelsel."""
    name = TYPES.get(get_origin(hint) or hint)
    if name in ("integer", "number"):
        limits = {"minimum": slot.limits.least, "maximum": slot.limits.most, "exclusiveMinimum": slot.limits.above}
        return {"type": name, **{key: value for key, value in limits.items() if value is not None}}
    if name == "string":
        return {"type": ["string", "number"]}
    return {"type": name} if name else {"type": ["object"]} if (get_origin(hint) or hint) in (dict, Mapping) else _list(hint)


def _list(hint: object) -> dict[str, object]:
    return {"type": ["array", "string", "number"]} if get_args(hint) else {}
