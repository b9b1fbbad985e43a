"""Numbers in the dress that people write them in: the sign of a currency, per cent or a unit beside them, groups of thousands.

`1'250.50 CHF`, `€ 1.250,75`, `12 %`, `80 kg`. A sign is left out where it is that of the whole column: grams among kilograms
stay what they are. A sign between thousands is left out where it parts groups of three figures, and else is none.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from modelsel.core.reading import ColumnReading

LOOKED_AT = 1000  # different texts that are read for a common sign
BLANKS = " \u00a0\u202f"  # a blank between thousands may be any of them
GROUPS = f",.'’{BLANKS}"
# a sign or letters of a currency before a number (letters where there are fractions: ABC 12 is a code), or a unit behind it
_SIGNED = re.compile(
    r"\s*(?P<minus>[+-]?)(?:(?P<money>[A-Z]{3})(?=.*[.,]\d)|(?P<sign>[$€£¥₹]))?\s*"
    r"(?P<number>[+-]?\d(?:[\d.,'’\s]*\d)?|[+-]?[.,]\d+)\s*(?P<unit>[^\W\d_]{1,8}[²³]?|[%‰°$€£¥₹]C?)?\s*"
)
_GROUPED = re.compile(r"\s*[+-]?\d{1,3}(?:(?P<sign>[,.'’ \u00a0\u202f])\d{3})(?:(?P=sign)\d{3})*(?:[.,]\d+)?\s*", re.ASCII)


def sign_of(text: str) -> str:
    """The sign beside a number; empty where a text is not a number with one.

    >>> [sign_of(text) for text in ("12 %", "CHF 3.50", "$5", "80kg", "ABC 12", "12", "a")]
    ['%', 'CHF', '$', 'kg', '', '', '']
    """
    found = _SIGNED.fullmatch(text)
    return "" if found is None else found["money"] or found["sign"] or found["unit"] or ""


def common_sign(texts: Sequence[str], share: float) -> str:
    """The one sign that so many of the texts have, and no other has another; empty where there is none.

    >>> common_sign(["12%", "13%", "14"], 0.6), common_sign(["1 kg", "900 g"], 0.5)
    ('%', '')
    """
    signs = Counter(map(sign_of, texts[:LOOKED_AT]))
    none = signs.pop("", 0)
    many = sum(signs.values())
    return next(iter(signs)) if len(signs) == 1 and many >= share * (many + none) else ""


def group_sign(texts: Sequence[str]) -> str:
    """The sign that parts thousands in all texts that have groups of three figures; empty where several do, or none.

    >>> group_sign(["1,250", "12"]), group_sign(["1.250,75", "3"]), group_sign(["1,250", "1.250"]), group_sign(["1 250"])
    (',', '.', '', ' ')
    """
    signs = {found["sign"] for text in texts if (found := _GROUPED.fullmatch(text))}
    signs = {" " if sign in BLANKS else sign for sign in signs}
    return signs.pop() if len(signs) == 1 else ""


def decimal_beside(thousands: str, decimal: str) -> str:
    """The decimal sign where this sign parts thousands."""
    return {",": ".", ".": ","}.get(thousands, decimal)


def bare_number(reading: ColumnReading) -> Callable[[str], str]:
    """What a text is without the signs that the reading leaves out; a text that has them otherwise stays what it is.

    >>> from modelsel.core.reading import Feature
    >>> bare = bare_number(ColumnReading(Feature("x", "numeric"), thousands="'", signs="CHF"))
    >>> [bare(text) for text in ("CHF 1'250.50", "-3 CHF", "3 kg", "1'2", "none")]
    ['1250.50', '-3', '3 kg', "1'2", 'none']
    """
    apart = BLANKS if reading.thousands == " " else reading.thousands
    groups = re.compile(rf"\s*[+-]?\d{{1,3}}([{re.escape(apart)}]\d{{3}})+([.,]\d*)?\s*", re.ASCII) if apart else None

    def bare(text: str) -> str:
        found = _SIGNED.fullmatch(text) if reading.signs else None
        if found is not None and sign_of(text) == reading.signs:
            text = found["minus"] + found["number"]
        if groups is not None and groups.fullmatch(text):
            text = re.sub(f"[{re.escape(apart)}]", "", text)
        return text

    return bare
