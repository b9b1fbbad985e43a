"""Names, texts and numbers as SQL has them, and sums that are not deep."""

from collections.abc import Sequence


def name(word: str) -> str:
    """Quote an identifier of SQL.

    >>> print(name('the "size" of it'))
    "the ""size"" of it"
    """
    return '"' + word.replace('"', '""') + '"'


def text(word: str) -> str:
    """Quote a text of SQL.

    >>> print(text("don't"))
    'don''t'
    """
    return "'" + word.replace("'", "''") + "'"


def number(value: float) -> str:
    """Write a number with an exponent, which no system takes for a decimal of few places.

    >>> number(0.25), number(1e-20)
    ('0.25e0', '1e-20')
    """
    words = repr(float(value))
    return words if "e" in words else f"{words}e0"


def among(column: str, levels: Sequence[str]) -> str:
    """Say that a column has one of some levels; that of none never holds."""
    return f"{column} IN ({', '.join(map(text, levels))})" if levels else "0 = 1"


def or_missing(condition: str, column: str, also: bool) -> str:
    """Put a condition in brackets, which holds for a missing value as well where `also` says so."""
    return f"({condition} OR {column} IS NULL)" if also else f"({condition})"


def bracketed_sum(terms: Sequence[str]) -> str:
    """A sum in brackets that halve it, so that it is as deep as its logarithm.

    >>> bracketed_sum(["1", "2", "3"])
    '(1 + (2 + 3))'
    """
    if len(terms) < 2:
        return terms[0]
    half = len(terms) // 2
    return f"({bracketed_sum(terms[:half])} + {bracketed_sum(terms[half:])})"
