"""The delimiter of a text table: declared, or recognised from its first lines.

The sign that parts each of them into the same number of fields, two or more: of several the one that makes the most, first
the comma. Where none does, it is the comma, and the reader says what is wrong with which line.
"""

import csv
import io
from itertools import islice

DEFAULT = ","
OTHERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
AUTO = "auto"
SPELLED = {"\\t": "\t", "tab": "\t"}  # as people write a tab
LINES = 50


def said(delimiter: str) -> str:
    """Return the one character that a declared delimiter means.

    >>> said("tab"), said(";")
    ('\\t', ';')
    """
    return SPELLED.get(delimiter, delimiter)


def recognised(head: str) -> str:
    """The delimiter of a text that begins like this.

    >>> recognised("a;b;y\\n1,5;2,5;no\\n"), recognised("a,b\\n1;2,3\\n")
    (';', ',')
    """
    fields = {sign: _fields(head, sign) for sign in (DEFAULT, *OTHERS)}
    return max(fields, key=lambda sign: fields[sign])


def _fields(head: str, sign: str) -> int:
    """Into how many fields this sign parts each of the first lines; 0 where they differ, or hold one."""
    lines = csv.reader(io.StringIO(head, newline=""), delimiter=sign)
    try:
        widths = {len(line) for line in islice(lines, LINES) if line}
    except csv.Error:
        return 0
    return max(widths) if len(widths) == 1 and widths != {1} else 0
