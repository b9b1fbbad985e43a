"""JSON schemas (draft 7) of what modelsel writes and prints as JSON, made from its types.

A field that is not in a type is not valid, so that a test of real outputs finds what was added without being described.
"""

import dataclasses
import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from modelsel.core.outcome import StudyShape
from modelsel.examination.board import AuditedExam, BoardLine, ExamClose, ExamStatus
from modelsel.examination.proposals import GateClose, GateStatus, Proposal
from modelsel.examination.sit import Shown
from modelsel.guard.reporting.lint import LintReport
from modelsel.guard.reporting.report import AuditShape
from modelsel.manual.editor import DRAFT
from modelsel.record.documents import DetailsShape, ExplanationShape
from modelsel.reporting.dossier import Dossier


class ExamAuditShape(AuditShape):
    """The output of `modelsel exam audit --json`."""

    exam: AuditedExam


PLAIN: Mapping[object, Mapping[str, object]] = {
    str: {"type": "string"}, bool: {"type": "boolean"}, int: {"type": "integer"}, float: {"type": "number"},
    type(None): {"type": "null"}, object: {}, Any: {},
}  # fmt: skip
OUTPUTS: Mapping[str, tuple[str, object]] = {
    "study": ("study.json", StudyShape),
    "details": ("details.json", DetailsShape),
    "explanation": ("explanation.json", ExplanationShape),
    "audit": ("modelsel audit --json", AuditShape),
    "lint": ("modelsel lint --json", LintReport),
    "dossier": ("modelsel dossier --to json", Dossier),
    "gate_propose": ("modelsel gate propose --json", Proposal),
    "gate_status": ("modelsel gate status --json", GateStatus),
    "gate_close": ("modelsel gate close --json", GateClose),
    "exam_answer": ("modelsel exam answer --json", Shown),
    "exam_status": ("modelsel exam status --json", ExamStatus),
    "exam_board": ("modelsel exam board --json", list[BoardLine]),
    "exam_close": ("modelsel exam close --json", ExamClose),
    "exam_audit": ("modelsel exam audit --json", ExamAuditShape),
}


def schemas() -> dict[str, dict[str, object]]:
    """A schema per output, by its short name.

    >>> schemas()["study"]["title"]
    'study.json'
    """
    return {name: {"$schema": DRAFT, "title": title, **of(shape)} for name, (title, shape) in OUTPUTS.items()}


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
    fields = {name: _bare(hint) for name, hint in get_type_hints(cls).items()}
    if dataclasses.is_dataclass(cls):
        required = [field.name for field in dataclasses.fields(cls)]
        fields = {name: fields[name] for name in required}
    else:
        required = sorted(cls.__required_keys__)
    said = {"description": cls.__doc__.partition("\n")[0]} if cls.__doc__ else {}
    return {
        **said, "type": "object", "properties": {name: of(hint) for name, hint in fields.items()}, "required": required,
        "additionalProperties": False,
    }  # fmt: skip


def _bare(hint: object) -> object:
    return get_args(hint)[0] if get_origin(hint) is NotRequired else hint


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
