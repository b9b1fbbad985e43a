"""The declarations of an ARFF file: `@relation`, `@attribute name type`, up to `@data`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from modelsel.core.errors import DataError, Problem
from modelsel.dataset.reading.arff_text import ISO, strptime_format, values, word

NUMBERS = {"numeric", "real", "integer"}
_KEYWORD = re.compile(r"\s*@(relation|attribute|data|end)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Attribute:
    """A declared column: numbers, nominal with `levels`, `string`, or `date` with its pattern (strptime)."""

    name: str
    type: str
    levels: tuple[str, ...] = ()
    pattern: str = ""

    @property
    def unsaid(self) -> str:
        """The value of a cell that a sparse row leaves out.

        Empty for a string, where Weka's meaning depends on row order.
        """
        return "0" if self.type == "numeric" else self.levels[0] if self.levels else ""


@dataclass(frozen=True)
class Header:
    """The header of an ARFF file."""

    relation: str
    attributes: tuple[Attribute, ...]
    data: int  # index of the first line after @data


def read_header(lines: Sequence[str], path: str) -> Header:
    """All declarations; DataError with every line that is none."""
    attributes: list[Attribute] = []
    problems: list[Problem] = []
    relation = ""
    for number, line in enumerate(lines):
        keyword = _KEYWORD.match(line)
        try:
            if keyword is None:
                if line.strip() and not line.lstrip().startswith("%"):
                    raise ValueError(f"neither @attribute nor @data: {line.strip()[:40]!r}")
            elif keyword[1].lower() == "data":
                problems += _header_problems(attributes, path)
                DataError.raise_if(problems)
                return Header(relation, tuple(attributes), number + 1)
            elif keyword[1].lower() == "attribute":
                attributes.append(_attribute(line[keyword.end() :].strip()))
            elif keyword[1].lower() == "relation":
                relation = line[keyword.end() :].strip().strip("'\"")
        except ValueError as error:
            problems.append(Problem("MSEL-361", f"line {number + 1}: {error}", path, "see the ARFF format"))
    problems.append(Problem("MSEL-360", "no @data line", path, "an ARFF file is @relation, @attribute ..., @data and rows"))
    raise DataError(*problems)


def _attribute(text: str) -> Attribute:
    """Read one declaration: a name and a type."""
    if not text:
        raise ValueError("an attribute without a name")
    name, end = word(text, 0)
    rest = text[end:].strip()
    if rest.startswith("{"):
        return Attribute(name, "nominal", _levels(name, rest))
    kind, _, after = rest.partition(" ")
    if kind.lower() in NUMBERS:
        return Attribute(name, "numeric")
    if kind.lower() == "string":
        return Attribute(name, "string")
    if kind.lower() == "date":
        return Attribute(name, "date", pattern=strptime_format(after.strip().strip("\"'") or ISO))
    raise ValueError(f"'{name}' is of type {kind or 'nothing'!r}: use numeric, {{levels}}, string or date")


def _levels(name: str, text: str) -> tuple[str, ...]:
    """Read the declared levels in their braces."""
    if not text.endswith("}"):
        raise ValueError(f"the levels of '{name}' are not closed")
    levels = tuple(level for level in values(text[1:-1]) if level)
    if len(set(levels)) < len(levels):
        raise ValueError(f"'{name}' declares a level twice")
    if not levels:
        raise ValueError(f"'{name}' declares no level")
    return levels


def _header_problems(attributes: Sequence[Attribute], path: str) -> list[Problem]:
    """Find column names that occur twice, or a header without any."""
    names = [attribute.name for attribute in attributes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        return [Problem("MSEL-318", f"attribute names that occur twice: {', '.join(twice)}", path, "give each its own name")]
    return [] if names else [Problem("MSEL-361", "no attributes", path, "declare each column by @attribute")]
