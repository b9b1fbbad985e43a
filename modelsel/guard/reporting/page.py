"""The audit written down: Markdown for a pull request, a self-contained HTML page for people, items for a checklist."""

from collections.abc import Mapping
from html import escape
from typing import Any

from modelsel.guard.reporting.narrative import Section, TextTable, items, story
from modelsel.guard.reporting.report import AuditReport

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "body{color:CanvasText;background:Canvas}table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}"
    "td,th{border-bottom:1px solid #8886;padding:.3rem .6rem;text-align:left;vertical-align:top}:root{color-scheme:light dark}"
    "h2{margin-top:2.5rem;border-bottom:2px solid #8886}h3{margin:1.5rem 0 .3rem;font-size:1rem}p{margin:.5rem 0}"
    "td:not(:last-child){white-space:nowrap}.wide td{white-space:normal}"
)


LONG = 60  # characters from which a table's cells are broken into lines


def markdown(report: Mapping[str, object]) -> str:
    """The story as Markdown."""
    return "\n\n".join(["# Audit", *(_markdown(section) for section in story(report))]) + "\n"


def html(report: Mapping[str, object]) -> str:
    """The story as one page without scripts or outside references."""
    body = "".join(_html(section) for section in story(report))
    head = (
        f"<meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>Audit</title><style>{_STYLE}</style>"
    )
    return f"<!doctype html><html lang='en'><head>{head}</head><body><h1>Audit</h1>{body}</body></html>\n"


def reforms(report: Mapping[str, Any]) -> dict[str, dict[str, object]]:
    """Per test set, the items of the REFORMS checklist (Kapoor et al. 2024) that a ledger can answer."""
    read = AuditReport.read(report)  # once: a ledger may know thousands of test sets
    return {one["id"]: items(one, read) for one in report["test_sets"]}


def _markdown(section: Section) -> str:
    """Write a section as Markdown."""
    return "\n\n".join(
        [
            f"{'#' * section.level} {section.title}",
            *(_table(part) if isinstance(part, TextTable) else part for part in section.parts),
        ]
    )


def _table(grid: TextTable) -> str:
    lines = [grid.head, tuple("---" for _ in grid.head), *grid.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _html(section: Section) -> str:
    parts = (_html_table(part) if isinstance(part, TextTable) else f"<p>{escape(part)}</p>" for part in section.parts)
    return f"<section><h{section.level}>{escape(section.title)}</h{section.level}>{''.join(parts)}</section>"


def _html_table(grid: TextTable) -> str:
    """Write a table as HTML."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in grid.head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in grid.rows)
    wide = " class='wide'" if any(len(cell) > LONG for row in grid.rows for cell in row) else ""
    return f"<table{wide}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
