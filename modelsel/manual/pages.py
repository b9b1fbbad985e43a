"""Sections of the pages that explain codes: `docs/errors.md` and `docs/findings.md`, which a wheel carries inside."""

import re
from functools import cache
from pathlib import Path

ERRORS, FINDINGS = "errors.md", "findings.md"


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
