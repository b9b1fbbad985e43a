"""The first screen of a command: at most 24 lines of 100 columns, findings worst first, whole sentences, the rest by `-v`.

Sentences are wrapped and never cut. What finds no room is left out as a whole, and the last line counts it.
"""

import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap

from modelsel.core.types import Finding
from modelsel.guard.findings.base import SEVERITIES

LINES, COLUMNS = 24, 100
COMMAND, GLUE = re.compile("`[^`]*`"), "\0"


@dataclass(frozen=True)
class Part:
    """Sentences behind a label. An `extra` part is left out where there is no room for it."""

    label: str
    sentences: tuple[str, ...]
    extra: bool = False


def columns() -> int:
    """The width of the terminal, up to 100 columns; always 100 where the output goes elsewhere."""
    return min(COLUMNS, max(40, shutil.get_terminal_size().columns)) if sys.stdout.isatty() else COLUMNS


def screen(
    before: Sequence[Part], findings: Iterable[Finding], after: Sequence[Part], more: str, label: int = 13, heading: str = ""
) -> str:
    """Lay out a screen: the findings stand between the parts; `more` says how to see the rest, `heading` stands above all.

    `label` is the width of the labels, which are indented below a heading.

    Extra parts give way first, the last of them foremost; then findings, the least grave foremost.
    """
    width, worst = columns(), group(findings)
    indent = "  " if heading else ""

    def lines(*parts: Part) -> list[str]:
        sides = ((f"{indent}{one.label}", one.sentences) for one in parts)
        return [line for named, said in sides for line in wrap_labelled(named, said, label + len(indent), width)]

    parts = [*before, *after]
    while True:
        room = LINES - len(wrap_sentence(heading, width)) - len(lines(*parts, Part("more", (more,))))
        extras = [one for one in parts if one.extra]
        if room >= min(4, 2 * len(worst)) or not extras:
            break
        parts.remove(extras[-1])
    shown = _fit(worst, room, label + len(indent), width)
    upper = bool(parts) and parts[0].label[:1].isupper()  # as the labels beside them are written
    told = Part("Findings" if upper else "findings", tuple(shown))
    foot = Part("More" if upper else "more", (f"{_left_out(worst[len(shown) :])}{more}",))
    kept = (*(one for one in before if one in parts), told, *(one for one in after if one in parts), foot)
    return "\n".join([*wrap_sentence(heading, width), *lines(*kept)])


def wrap_labelled(label: str, sentences: Iterable[str], width: int, total: int) -> list[str]:
    """Wrap sentences beside their label; each begins on a line of its own.

    >>> wrap_labelled("time", ["about a minute", "with 2 workers"], 6, 40)
    ['time  about a minute', '      with 2 workers']
    """
    found: list[str] = []
    for text in sentences:
        first = f"{'' if found else label:<{width}}"
        found += wrap_sentence(text, total, first, " " * width)
    return found


def wrap_sentence(text: str, total: int, first: str = "", rest: str = "") -> list[str]:
    """Wrap a sentence between words; commands of up to half a line stand on one, and no path is broken."""
    joined = COMMAND.sub(lambda found: found[0].replace(" ", GLUE) if len(found[0]) <= total // 2 else found[0], text)
    lines = wrap(joined, total, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    return [line.replace(GLUE, " ") for line in lines]


@dataclass(frozen=True)
class AlikeFindings:
    """Findings of one code and one severity: the first of them, and how many others there are."""

    first: Finding
    others: int

    @property
    def message(self) -> str:
        """Write the code, how grave it is, and what was found."""
        return f"{self.first.code} ({self.first.severity}): {self.first.message}"

    @property
    def whole(self) -> str:
        """Write the message, what to do, and how often it was found besides."""
        do = self.first.do if self.first.severity != "info" else ""
        return "; ".join(filter(None, (self.message, do, f"{self.others} more of this code" * bool(self.others))))


def group(findings: Iterable[Finding]) -> list[AlikeFindings]:
    """Findings worst first; those of one code and severity stand as one.

    >>> [(one.first.message, one.others) for one in group([Finding("A", "low", "x"), Finding("B", "high", "y"),
    ...                                                    Finding("A", "low", "z")])]
    [('y', 0), ('x', 1)]
    """
    found: dict[tuple[str, str], list[Finding]] = {}
    for one in findings:
        found.setdefault((one.code, one.severity), []).append(one)
    groups = [AlikeFindings(same[0], len(same) - 1) for same in found.values()]
    return sorted(groups, key=lambda one: -SEVERITIES.index(one.first.severity))


def _fit(worst: Sequence[AlikeFindings], room: int, label: int, width: int) -> list[str]:
    """Write as many findings as there is room for, worst first: with what to do, else without, else where the text stands."""
    shown: list[str] = []
    for place, one in enumerate(worst):
        room_here = room - (place + 1 < len(worst))  # a line that counts those which follow
        short = f"{one.first.code} ({one.first.severity}): its text is long, and `-v` prints it"
        for text in (one.whole, one.message, *((short,) if not place else ())):
            need = len(wrap_labelled("", (text,), label, width))
            if need <= room_here:
                shown.append(text)
                room -= need
                break
        else:
            return shown
    return shown


def _left_out(left: Sequence[AlikeFindings]) -> str:
    """Count the findings for which there was no room, by how grave they are."""
    if not left:
        return ""
    counts = Counter[str]()
    for one in left:
        counts[one.first.severity] += 1 + one.others
    told = ", ".join(f"{count} {severity}" for severity, count in counts.items())
    return f"{counts.total()} finding{'s' * (counts.total() > 1)} more ({told}); "
