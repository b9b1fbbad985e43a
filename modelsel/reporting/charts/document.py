"""A page of sentences, a picture and tables as plain values, and its forms: text, Markdown, HTML."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from modelsel.reporting.charts.svg import Plot


@dataclass(frozen=True)
class DocumentTable:
    """Cells as text; the first column says what a row is. `marked` cells (row, column) are the best of their row."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    marked: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Document:
    """`style` is what the picture needs as a file of its own, `css` what it needs on a page."""

    title: str
    lead: str
    sentences: tuple[str, ...]
    tables: tuple[DocumentTable, ...]
    picture: Plot | None = None
    style: str = ""
    css: str = ""


def text(of: Document, tables: int | None = None) -> str:
    """Write it for the terminal: the first `tables` tables, then the sentences; a star marks the best of a row."""
    blocks = [*("\n".join(_lines(table)) for table in of.tables[:tables]), "\n".join(of.sentences)]
    return "\n\n".join(blocks)


def markdown(of: Document, picture: str = "") -> str:
    """Write it for documentation; `picture` is the file name of the picture beside it."""
    image = [f"![{of.picture.title}]({picture})"] if of.picture and picture else []
    said = "\n".join(f"- {sentence}" for sentence in of.sentences)
    return "\n\n".join([f"# {of.title}", of.lead, said, *image, *("\n".join(_pipes(table)) for table in of.tables)]) + "\n"


def _lines(table: DocumentTable) -> Iterator[str]:
    """Yield the lines of a table as text, columns aligned."""
    cells = [table.head, *(tuple(_starred(table, i, j) for j in range(len(row))) for i, row in enumerate(table.rows))]
    widths = [max(len(row[j]) for row in cells) for j in range(len(table.head))]
    yield f"{table.title}{f' ({table.note})' if table.note else ''}"
    for first, *rest in cells:
        yield "  ".join([first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:]))]).rstrip()


def _starred(table: DocumentTable, row: int, column: int) -> str:
    cell = table.rows[row][column]
    return f"{cell}*" if (row, column) in table.marked else f"{cell} " if column and table.marked else cell


def _pipes(table: DocumentTable) -> Iterator[str]:
    """Yield the lines of a table as Markdown."""
    yield f"## {table.title}\n"
    if table.note:
        yield f"{table.note[:1].upper()}{table.note[1:]}.\n"
    yield f"| {' | '.join(table.head)} |"
    yield f"|{'|'.join(['---', *['--:'] * (len(table.head) - 1)])}|"
    for i, row in enumerate(table.rows):
        cells = [f"**{escape(cell)}**" if (i, j) in table.marked else escape(cell) for j, cell in enumerate(row)]
        yield f"| {' | '.join(cells)} |"
