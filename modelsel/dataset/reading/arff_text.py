"""The words of an ARFF file: quoted or plain values, sparse rows, weights, dates.

A value may stand in single or double quotes, with backslash escapes; outside quotes `%` begins a comment only at the start
of a line. Source: the format's description by the Weka project (3.7 and later for weights).
"""

import re
from datetime import UTC, datetime

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_WEIGHT = re.compile(r"[,\s]\s*\{\s*([^{}]*?)\s*\}\s*$")
_JAVA = re.compile(r"'([^']*)'|([a-zA-Z])\2*|[^a-zA-Z']+")
_STRPTIME = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d", "HH": "%H", "H": "%H",
    "hh": "%I", "h": "%I", "mm": "%M", "m": "%M", "ss": "%S", "s": "%S", "SSS": "%f", "S": "%f", "a": "%p", "Z": "%z",
    "X": "%z", "XX": "%z", "XXX": "%z", "z": "%Z", "EEE": "%a", "EEEE": "%A",
}  # fmt: skip
ISO = "yyyy-MM-dd'T'HH:mm:ss"


def word(text: str, place: int) -> tuple[str, int]:
    """The value at `place` (quoted, or up to a space, comma or brace) and where it ends; ValueError if it has no end.

    >>> word("'it\\\\'s', 3", 0)
    ("it's", 7)
    """
    if text[place] not in "'\"":
        end = place
        while end < len(text) and text[end] not in " \t,{}":
            end += 1
        return text[place:end], end
    made, end = [], place + 1
    while end < len(text) and text[end] != text[place]:
        if text[end] == "\\" and end + 1 < len(text):
            end += 1
            made.append(_ESCAPES.get(text[end], text[end]))
        else:
            made.append(text[end])
        end += 1
    if end >= len(text):
        raise ValueError("a quote that is not closed")
    return "".join(made), end + 1


def values(text: str) -> list[str]:
    """Comma-separated values (blanks around them do not count; tabs separate where there is no comma).

    >>> values("5.1, 'a, b' ,?, plain words")
    ['5.1', 'a, b', '?', 'plain words']
    """
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split("," if "," in text else "\t")]
    made, place = [], 0
    while True:
        while place < len(text) and text[place] in " \t":
            place += 1
        if place < len(text) and text[place] in "'\"":
            cell, place = word(text, place)
        else:
            end = text.find(",", place)
            end = len(text) if end < 0 else end
            cell, place = text[place:end].strip(), end
        made.append(cell)
        rest = text[place:].lstrip()
        if not rest:
            return made
        if rest[0] != ",":
            raise ValueError(f"{rest[:20]!r} after a quoted value")
        place = text.index(",", place) + 1


def sparse(text: str) -> dict[int, str]:
    """A sparse row: `{index value, ...}`, indices from 0; what is not said is 0, or the first level.

    >>> sparse("{1 X, 3 'a b'}")
    {1: 'X', 3: 'a b'}
    """
    made: dict[int, str] = {}
    inner = text.strip()
    if not (inner.startswith("{") and inner.endswith("}")):
        raise ValueError("a sparse row that is not closed")
    inner, place = inner[1:-1], 0
    while inner[place:].strip():
        match = re.compile(r"\s*(\d+)\s+").match(inner, place)
        if match is None or match.end() >= len(inner):
            raise ValueError(f"no index and value at {inner[place : place + 20].strip()!r}")
        cell, place = word(inner, match.end())
        if int(match[1]) in made:
            raise ValueError(f"index {match[1]} twice")
        made[int(match[1])] = cell
        rest = re.compile(r"\s*(,|$)").match(inner, place)
        if rest is None:
            raise ValueError(f"{inner[place : place + 20].strip()!r} after a value")
        place = rest.end()
    return made


def weighted(line: str) -> tuple[str, str | None]:
    """A row and the weight in braces at its end, if any.

    >>> weighted("1,yes,{0.5}")
    ('1,yes', '0.5')
    """
    match = _WEIGHT.search(line)
    if match is None or match.start() == 0:
        return line, None
    return line[: match.start()].rstrip().rstrip(","), match[1]


def strptime_format(java: str) -> str:
    """Java's date pattern as Python's; ValueError for a letter that has no counterpart.

    >>> strptime_format("yyyy-MM-dd'T'HH:mm:ss")
    '%Y-%m-%dT%H:%M:%S'
    """
    made = []
    for match in _JAVA.finditer(java):
        if match[1] is not None:
            made.append(match[1].replace("%", "%%") or "'")
        elif match[2] is None:
            made.append(match[0].replace("%", "%%"))
        elif match[0] in _STRPTIME:
            made.append(_STRPTIME[match[0]])
        else:
            raise ValueError(f"date pattern {match[0]!r} is not known")
    said = [word for word in made if word in _STRPTIME.values()]
    if len(set(said)) < len(said):
        raise ValueError(f"date pattern {java!r} says the same twice")
    return "".join(made)


def seconds(text: str, pattern: str) -> float:
    """Seconds since 1970, UTC where no zone is said; ValueError where the text is no such date."""
    moment = datetime.strptime(text, pattern)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
