"""Numbers as people read them, the same in the terminal and on the page."""

import math
from collections.abc import Mapping, Sequence


def known(value: float | None) -> bool:
    """A record holds null where there is no number.

    >>> known(0.0), known(None), known(float("nan"))
    (True, False, False)
    """
    return value is not None and math.isfinite(value)


def score(value: float | None) -> str:
    """Write a score with four decimals below 10; a dash where there is none.

    >>> score(0.04093567), score(None), score(123.456), score(-0.5)
    ('0.0409', '–', '123.5', '−0.5000')
    """
    if value is None or not known(value):
        return "–"
    return minus(f"{value:.4f}" if abs(value) < 10 else f"{value:.1f}")


def signed(value: float | None, decimals: int = 4) -> str:
    """Write a difference with its sign; a dash where there is none.

    >>> signed(0.05), signed(-0.05, 2), signed(None)
    ('+0.0500', '−0.05', '–')
    """
    return "–" if value is None or not known(value) else minus(f"{value:+.{decimals}f}")


def minus(digits: str) -> str:
    """Put the typographic minus in the place of a hyphen that begins a number or stands before its exponent.

    >>> minus("-0.5"), minus("1e-09")
    ('−0.5', '1e−09')
    """
    return digits.replace("-", "−")


def p_value(value: float | None) -> str:
    """Write a p-value with four decimals, or its upper bound.

    >>> p_value(0.0321), p_value(1e-9)
    ('0.0321', '< 0.0001')
    """
    return "< 0.0001" if value is not None and value < 0.0001 else score(value)


def interval(ends: Sequence[float] | None) -> str:
    """Write an interval; a dash where there is none."""
    return "–" if ends is None else f"[{score(ends[0])}, {score(ends[1])}]"


def number(value: float | None) -> str:
    """Write a number for people, with thousands separated.

    >>> number(12.0), number(12.34567), number(-1234567.0), number(0.00001234)
    ('12', '12.35', '−1,234,567', '1.234e−05')
    """
    if value is None or not math.isfinite(value):
        return "–"
    whole = (value == round(value) and abs(value) < 1e15) or abs(value) >= 1e4
    return minus(f"{value:,.0f}" if whole else f"{value:.4g}")


def ordinal(count: int) -> str:
    """Write an ordinal number.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '112th']
    """
    ending = "th" if count % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun in the right number.

    >>> plural(1, "candidate"), plural(1200, "look")
    ('1 candidate', '1,200 looks')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """Write a share as a percentage.

    >>> percent(0.95), percent(0.0012), percent(1)
    ('95 %', '0.12 %', '100 %')
    """
    return f"{100 * share:.3g} %"


def brief(value: str) -> str:
    """A parameter as a label: long decimals to four digits.

    >>> brief("0.3187276291558383"), brief("gini"), brief("0.25"), brief("1e-09")
    ('0.3187', 'gini', '0.25', '1e-09')
    """
    if len(value) <= 7 or "." not in value:
        return value
    try:
        return f"{float(value):.4g}"
    except ValueError:
        return value


def called(name: str, value: str) -> tuple[str, str]:
    """Write a setting as people write it in a space, where that is another word.

    >>> called("decision.at", "none"), called("decision.at", "0.3"), called("k", "3")
    (('threshold', 'path'), ('threshold', '0.3'), ('k', '3'))
    """
    if name != "decision.at":
        return name, value
    return "threshold", "path" if value == "none" else value


def settings(parameters: Mapping[str, str]) -> str:
    """Write settings as `name=value`, separated by commas.

    >>> settings({"k": "3", "vote": "inverse"})
    'k=3, vote=inverse'
    """
    return ", ".join(f"{name}={brief(value)}" for name, value in parameters.items())
