"""JSON schemas (draft 7): of the configuration's files, by which editors check them; of what modelsel prints as JSON."""

import dataclasses
import types
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from modelsel.config.folders import Folders
from modelsel.config.schema import Slot, class_of, slots
from modelsel.config.settings import RootSettings
from modelsel.core import satellites, stored
from modelsel.core.facts import Facts
from modelsel.core.outcome import StudySummary
from modelsel.core.spec import GROUPS
from modelsel.guard.reporting.lint import LintReport
from modelsel.guard.reporting.report import AuditReport
from modelsel.manual import settings
from modelsel.record.documents import DetailsFacts, ExplanationFacts
from modelsel.reporting.dossier import Dossier

# Files of `conf/`: a schema per group, of spaces and of experiments.


DRAFT = "http://json-schema.org/draft-07/schema#"
REFERENCE = {"type": "string", "pattern": r"^\$\{"}  # an interpolation of OmegaConf's
DEFAULTS = {"type": "array"}  # other files of the folder, by Hydra
TYPES: Mapping[object, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def of_files() -> dict[str, dict[str, object]]:
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


# What modelsel writes and prints as JSON: schemas made from its types.
#
# A field that is not in a type is not valid, so that a test of real outputs finds what was added without being described.


PLAIN: Mapping[object, Mapping[str, object]] = {
    str: {"type": "string"}, bool: {"type": "boolean"}, int: {"type": "integer"}, float: {"type": "number"},
    type(None): {"type": "null"}, object: {}, Any: {},
}  # fmt: skip
OUTPUTS: Mapping[str, tuple[str, object]] = {
    "study": ("study.json", StudySummary),
    "details": ("details.json", DetailsFacts),
    "explanation": ("explanation.json", ExplanationFacts),
    "audit": ("modelsel audit --json", AuditReport),
    "lint": ("modelsel lint --json", LintReport),
    "dossier": ("modelsel dossier --to json", Dossier),
}


def of_outputs() -> dict[str, dict[str, object]]:
    """A schema per output, by its short name.

    >>> of_outputs()["study"]["title"]
    'study.json'
    """
    outputs = dict(ChainMap(dict(OUTPUTS), *satellites.every(satellites.OUTPUTS)))
    return {name: {"$schema": DRAFT, "title": title, **of(shape)} for name, (title, shape) in outputs.items()}


def of(hint: object) -> dict[str, Any]:
    """The schema of a type.

    Parameters
    ----------
    hint
        A plain type, a dataclass, a TypedDict, or a list, tuple, mapping, union or Literal of such.

    Returns
    -------
    dict
        The schema.

    Raises
    ------
    TypeError
        For a type that JSON has no values of.

    Examples
    --------
    >>> of(list[int | None])
    {'type': 'array', 'items': {'anyOf': [{'type': 'integer'}, {'type': 'null'}]}}
    """
    if hint in PLAIN:
        return dict(PLAIN[hint])
    if is_typeddict(hint) or dataclasses.is_dataclass(hint):
        return _object(hint)
    return _compose_schema(get_origin(hint), get_args(hint), hint)


def _object(cls: Any) -> dict[str, object]:
    """An object of named fields and no others; a field with a default is written all the same."""
    if issubclass(cls, Facts) or is_typeddict(cls):
        fields, stated = stored.keys(cls)
        required = sorted(stated)
    else:
        hints = get_type_hints(cls)
        fields = {field.name: hints[field.name] for field in dataclasses.fields(cls)}
        required = list(fields)
    said = {"description": cls.__doc__.partition("\n")[0]} if cls.__doc__ else {}
    return {
        **said, "type": "object", "properties": {name: of(hint) for name, hint in fields.items()}, "required": required,
        "additionalProperties": False,
    }  # fmt: skip


def _compose_schema(origin: object, inner: tuple[object, ...], hint: object) -> dict[str, object]:
    """Make the schema of a type that is put together from others."""
    if origin in (Union, types.UnionType):
        return {"anyOf": [of(one) for one in inner]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is tuple and inner[-1] is not ...:
        return {"type": "array", "items": [of(one) for one in inner], "minItems": len(inner), "maxItems": len(inner)}
    if origin in (list, tuple, Sequence):
        return {"type": "array", "items": of(inner[0])}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": of(inner[1])}
    raise TypeError(f"no schema of {hint}")
