"""Sections of the pages that explain codes: `errors.md`, `errors/`, `findings.md` of `docs/`, which a wheel carries inside."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ERRORS, FINDINGS, CASES = "errors.md", "findings.md", "errors"
TERMS = {"interval": "guard/interval.md"}  # words of the verdict that have a page


def folder() -> Path:
    """Return the folder of the pages: `docs/` of a source tree, `manual/pages/` of an installed package."""
    inside = Path(__file__).parent / "pages"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "docs"


@cache
def text(page: str) -> str:
    """A page as it is written."""
    return (folder() / page).read_text("utf-8")


@cache
def findings() -> dict[str, str]:
    """Code of each finding to its section, in order.

    >>> findings()["G002"].splitlines()[0]
    '**Replay** (info). The same study on the same rows was asked again. The stored answer is shown and no label is read.'
    """
    parts = re.split(r"^## (\S+)$", text(FINDINGS), flags=re.MULTILINE)[1:]
    return {code: body.strip() for code, body in zip(parts[::2], parts[1::2], strict=True)}


@cache
def errors() -> dict[str, tuple[str, str]]:
    """Code of each error to the part of the package that it belongs to and what it means.

    >>> errors()["MSEL-222"]
    ('config', 'two entries of a space have one name')
    """
    rows = re.findall(r"^\| (MSEL-\d{3}) \| (\w+) \| (.+) \|$", text(ERRORS), re.MULTILINE)
    return {code: (part, meaning) for code, part, meaning in rows}


@dataclass(frozen=True)
class CodePage:
    """The page of a code in Markdown: its meaning, its weight, an example that raises it, the remedy, the way to silence it."""

    means: str
    why: str
    example: str
    do: str
    silence: str


KEPT = "It is part of the record and cannot be switched off; it goes away with its cause."
STOPS = "It cannot be silenced: the command stops, so that nothing is computed that was not meant."


@cache
def of_code(code: str) -> CodePage:
    """Put together the page of an error or of a finding.

    Parameters
    ----------
    code
        As `MSEL-222` or `G021`.

    Returns
    -------
    CodePage
        `do` is empty where the messages of the error alone say it.

    Raises
    ------
    KeyError
        Where there is no such code.

    Examples
    --------
    >>> of_code("MSEL-222").why
    'Entries are told apart by their names in every table.'
    """
    if code in errors():
        part, meaning = errors()[code]
        found = _parts(raised_by()[code])
        return CodePage(f"{meaning[0].upper()}{meaning[1:]} (part: {part}).", found["Why it matters"], found["Example"],
                        found["Do"], found["Silence"] or STOPS)  # fmt: skip
    found = _parts(findings()[code])
    silence = found["Silence"] or KEPT
    return CodePage(found[""], found["Why it matters"], found["Example"], found["Do"] or silence, silence)


@cache
def raised_by() -> dict[str, str]:
    """Code of each error to its section in the folder `errors`: why it matters, and what raises it."""
    found: dict[str, str] = {}
    for path in sorted((folder() / CASES).glob("*.md")):
        parts = re.split(r"^## (MSEL-\d{3})$", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
        found.update(zip(parts[::2], parts[1::2], strict=True))
    return found


def _parts(section: str) -> dict[str, str]:
    """Name of each part of a section to its text; what stands before the first has no name. Commands alone are an example."""
    marked = section if "*Example:*" in section else section.replace("```console", "*Example:*\n```console", 1)
    split = re.split(r"^\*(Why it matters|Example|Do|Silence):\*", marked, flags=re.MULTILINE)
    named = {name: text.strip() for name, text in zip(split[1::2], split[2::2], strict=True)}
    return {"": split[0].strip(), **dict.fromkeys(("Why it matters", "Example", "Do", "Silence"), ""), **named}
