"""Cells of a CSV file that a spreadsheet would run as a formula are written so that it shows them instead.

A cell that starts with = + - @, a tab or a carriage return gets an apostrophe in front, unless it is a number (CWE-1236). A
program that reads the file sees the apostrophe too: it is written into files, never to stdout.
"""

import re

_RUN = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def harmless(cell: object) -> object:
    """The cell as a spreadsheet may open it.

    >>> [harmless(cell) for cell in ("=1+1", "-1.5", "+1e3", "-x", "yes", -0.25)]
    ["'=1+1", '-1.5', '+1e3', "'-x", 'yes', -0.25]
    """
    if not isinstance(cell, str) or not cell.startswith(_RUN) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"
