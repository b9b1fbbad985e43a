"""Softened trees in the terminal."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

from modelsel.reporting.experiments.softening import page

WIDTH = 108


def text(one: Mapping[str, object]) -> str:
    """Write the section for the terminal."""
    return "\n\n".join(_blocks(one)) + "\n"


def _blocks(one: Mapping[str, Any]) -> Iterator[str]:
    """Yield its blocks: tables, then findings."""
    yield fill(" ".join(page.notes(one)), WIDTH)
    yield columns(page.overview(one))
    for kind in one["kinds"]:
        yield f"{page.NAMES[kind]}\n{columns(page.per_set(one, kind))}"
        yield columns(page.methods(one, kind))
    if one["choices"]:
        yield f"{columns(page.choices(one))}\n{fill(page.price_of_peeking(one), WIDTH)}"
    yield "\n".join(_finding(*row) for row in page.findings(one)[1:])


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Words under one another, the first column to the left, the others to the right.

    >>> print(columns([["a", "bb"], ["ccc", "d"]]))
    a    bb
    ccc   d
    """
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = ("  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _finding(number: str, sentence: str, verdict: str, figures: str) -> str:
    return fill(f"{number} {sentence}: {verdict.upper()}; {figures}", WIDTH, subsequent_indent="     ")
