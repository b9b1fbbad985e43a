"""Lines around a table: a line of names that is a row, a second line of names or units, a title above, columns without a name.

A line that was taken for names is a row where it could stand among the rows, column for column; lines below it are none of the
table where in several columns they alone keep numbers from being such.
"""

from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from modelsel.core.errors import Problem
from modelsel.core.proposal import Proposal
from modelsel.core.types import Finding
from modelsel.dataset.column import RawColumn, examples, numbers
from modelsel.dataset.lines import TakenLines, default_names

FEW = 0.2  # different texts per row up to which a column has kinds, of which a name of it is none


def looks_like_a_row(names: Sequence[str], rows: Sequence[Sequence[str]], missing: Sequence[str]) -> bool:
    """Say whether a line of names could be one of the rows below it, and is hardly a header.

    A word above numbers is a name, and so is one that is none of a column's few texts. Numbers above numbers are a row, unless
    they count (years, pixels, wavelengths); so is a text that the column below it holds, where two columns say so.

    >>> rows = [["1.5", "a"], ["2.5", "b"], ["0.5", "a"]] * 4
    >>> [looks_like_a_row(names, rows, [""]) for names in (["7.5", "a"], ["x", "a"], ["7.5", "kind"])]
    [True, False, False]
    """
    numeric = texts = 0
    for name, cells in zip(names, zip(*rows)):
        known = [cell.strip() for cell in cells if cell.strip() not in missing]
        said = name.strip()
        if not known or said in missing:
            continue
        levels = set(known)
        if np.isfinite(_read(sorted(levels))).all():
            if not np.isfinite(_read([said])).all():
                return False
            numeric += 1
        elif said in levels:
            texts += 1
        elif len(levels) <= FEW * len(known):
            return False
    return texts > 1 or (numeric > 0 and not _counting(names))


def _read(texts: Sequence[str]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The numbers of texts, with a point or a comma before the fraction."""
    return numbers([text.replace(",", ".") for text in texts])


def _counting(names: Sequence[str]) -> bool:
    """Say whether the names that are numbers rise by one step each, as those of years or pixels do.

    >>> _counting(["country", "2019", "2020", "2021"]), _counting(["5.1", "3.5", "1.4", "a"])
    (True, False)
    """
    found = _read(names)
    steps = np.diff(found[np.isfinite(found)])
    return bool(len(steps) > 1 and steps[0] > 0 and np.allclose(steps, steps[0]))


def of_a_row(names: Sequence[str], target: str | None) -> Finding:
    """The finding that a line of names is a row: no line has names, and columns are called by their place."""
    found = [Proposal("dataset.header", 0, sure=True)]
    if target in names:
        found.append(Proposal("dataset.target", default_names(len(names))[names.index(target)], sure=True))
    message = f"the first line looks like a row, and was taken for the names of columns: {examples(names)}"
    do = f"set {' '.join(map(str, found))} if no line has names: columns are then called by their place"
    return Finding("HEADER_LIKE_DATA", "high", message, do, proposes=tuple(found))


MOST = 3  # lines below the names that may be none of the table
SEVERAL = 2  # columns of numbers that say so
LOOKED_AT = 50  # lines among which the names are looked for


def second_header(columns: Sequence[RawColumn], where: str) -> Iterator[Problem]:
    """Yield a problem where the first rows alone, in several columns, keep numbers from being such: units, or other names."""
    ends = [end for column in columns if column.codes is not None and (end := _strange_until(column))]
    if len(ends) >= SEVERAL:
        lines = max(ends)
        skipped = Proposal("dataset.skip_lines", lines, sure=True)
        what = f"the first {'line' if lines == 1 else f'{lines} lines'} below the names looks like no row: words above numbers"
        first = [column.texts[column.codes[0]] for column in columns if column.codes is not None and column.codes[0] >= 0]
        fix = f"set {skipped}, or dataset.header={lines + 1} if the names stand there"
        yield Problem("MSEL-348", f"{what} in {len(ends)} columns: {examples(first)}", where, fix, (skipped,))


def _strange_until(column: RawColumn) -> int:
    """Return how many of the first rows hold all texts of a column of numbers that are none; 0 where it is no such column."""
    assert column.codes is not None
    strange = np.isnan(numbers(column.texts))
    if not 0 < strange.sum() <= MOST or len(strange) < 2 * MOST:
        return 0
    rows = np.flatnonzero(np.append(strange, False)[column.codes])
    return int(rows.max()) + 1 if rows.max() < MOST else 0


def line_of_names(lines: Sequence[str], target: str, names_in: Callable[[TakenLines], Sequence[str]]) -> Proposal | None:
    """The setting by which the target is found in a line below the first; None where no line names it."""
    for place, line in enumerate(lines[1:LOOKED_AT], 2):
        if target in line and target in names_in(TakenLines(header=place)):
            return Proposal("dataset.header", place, sure=True)
    return None


def without_empty(
    columns: Sequence[RawColumn], unnamed: Collection[str], missing: Collection[str]
) -> tuple[list[RawColumn], list[Finding]]:
    """The columns but for those that have neither a name nor a value, and a finding that says which."""
    empty = [one.name for one in columns if one.name in unnamed and one.without(missing).absent.all()]
    if not empty:
        return list(columns), []
    message = f"{len(empty)} columns without a name hold nothing, and were left out: {examples(empty)}"
    said = Finding("EMPTY_COLUMNS", "low", message, "save the table without them")
    return [one for one in columns if one.name not in empty], [said]


def of_unnamed(names: Sequence[str], where: str) -> Problem:
    """The problem of columns that hold values and have no name."""
    places = ", ".join(name.rpartition("_")[2] for name in names)
    ignored, nominal = Proposal("dataset.ignore", tuple(names)), Proposal("dataset.nominal", tuple(names))
    fix = f"name every column in the header, or set {ignored}, or {nominal}: so they are called here"
    return Problem("MSEL-319", f"column {places} has no name", where, fix, (ignored, nominal))
