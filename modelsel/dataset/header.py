"""Whether the line that was taken for names is a row: it could stand among the rows, column for column."""

from collections.abc import Sequence

import numpy as np

from modelsel.core.proposal import Proposal
from modelsel.core.types import Finding
from modelsel.dataset.column import examples, numbers
from modelsel.dataset.lines import called

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
        found.append(Proposal("dataset.target", called(len(names))[names.index(target)], sure=True))
    message = f"the first line looks like a row, and was taken for the names of columns: {examples(names)}"
    do = f"set {' '.join(map(str, found))} if no line has names: columns are then called by their place"
    return Finding("HEADER_LIKE_DATA", "high", message, do, proposes=tuple(found))
