"""Texts of all errors, read off the source: the words that follow its code where it is raised.

A part of a message that is only known when the error happens is written in angle brackets, `<name>`.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
WORDS = ("what", "where", "fix")


@dataclass(frozen=True)
class MessageTemplate:
    """One message of a code; texts are empty where the source computes them."""

    what: str
    fix: str


@cache
def templates() -> dict[str, tuple[MessageTemplate, ...]]:
    """Code to the messages that may come with it, in the order of the source files."""
    found: dict[str, dict[MessageTemplate, None]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        if '"MSEL-' in text and path.parent != PACKAGE / "core":
            for code, template in _of_module(text):
                found.setdefault(code, {})[template] = None
    return {code: tuple(messages) for code, messages in found.items()}


def of_code(code: str) -> tuple[MessageTemplate, ...]:
    """Messages of one code; only files that name it are read.

    >>> of_code("MSEL-222")[0].fix
    'rename one of them'
    """
    found: dict[MessageTemplate, None] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        if f'"{code}"' in text and path.parent != PACKAGE / "core":
            found.update({template: None for name, template in _of_module(text) if name == code})
    return tuple(found)


def _of_module(text: str) -> Iterator[tuple[str, MessageTemplate]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            yield from _of_call(node)


def _of_call(call: ast.Call) -> Iterator[tuple[str, MessageTemplate]]:
    """A `Problem`, or a function that makes one of a code and the words after it."""
    codes = [place for place, word in enumerate(call.args) if re.fullmatch(r"MSEL-\d{3}", _shown(word))]
    if not codes:
        return
    words = list(call.args[codes[0] + 1 :])
    order = WORDS if len(words) > 2 or _named(call) == "Problem" else ("what", "fix")
    given: dict[str | None, ast.expr] = dict(zip(order, words))
    given |= {word.arg: word.value for word in call.keywords}
    template = MessageTemplate(*(_shown(given[name]) if name in given else "" for name in ("what", "fix")))
    if re.sub(r"<\w+>", "", template.what + template.fix).strip():
        yield _shown(call.args[codes[0]]), template


def _named(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _shown(node: ast.expr) -> str:
    """A text as it is printed; empty where it is computed as a whole."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else f"<{_name(part)}>" for part in node.values)
    return ""


def _name(part: ast.expr) -> str:
    """The last name of what is filled in: `<column>` for `{table.column!r}`."""
    assert isinstance(part, ast.FormattedValue)
    names = [node.attr if isinstance(node, ast.Attribute) else node.id
             for node in ast.walk(part.value) if isinstance(node, ast.Attribute | ast.Name)]  # fmt: skip
    return names[0].strip("_") if names else "value"
