"""Dates as people write them: the forms that the texts of a column can have, and the seconds since 1970 by one of them.

A form is written as strptime has it: `%d.%m.%Y`, `%b %d, %Y`, `%d/%m/%Y %H:%M`. It is made of the first text and kept where
each text is a day of the calendar by it; `03/04/2020` has two forms as long as no day above 12 decides.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from modelsel.core.types import Floats, Integers
from modelsel.dataset.column import arrow
from modelsel.dataset.months import ENGLISH, JOINING, LONG, NUMBERS, SHORT

DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
PARTS = {
    "Y": r"\d{4}", "y": r"\d{2}", "m": r"\d{1,2}", "d": r"\d{1,2}",
    "H": r"\d{1,2}", "I": r"\d{1,2}", "M": r"\d{2}", "S": r"\d{2}", "f": r"\d{1,9}",
    "p": "[AaPp][Mm]", "b": f"(?i:{'|'.join(SHORT)})[.]?", "B": f"(?i:{'|'.join(LONG)})",
    "a": f"(?i:{'|'.join(day[:3] for day in DAYS.split('|'))})", "A": f"(?i:{DAYS})", "z": r"Z|[+-]\d{2}:?\d{2}",
}  # fmt: skip
FIRST = 50  # texts by which forms are looked for
DAY_FIRST, MONTH_FIRST = "day_first", "month_first"
CENTURY = 69  # two figures from here on are of the century before, as strptime takes them
COMPACT = "%Y%m%d"
COMPACT_RANGE = (19000101, 21001231)  # of numbers that may be days
WAYS = 3  # forms of a text that are tried
_CLOCK = re.compile(  # after a date
    r"(?P<gap>T|,? )(?P<time>\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)(?P<fraction>\.\d{1,9})?(?P<blank> ?)(?P<half>[AaPp][Mm])?"
    r"(?P<apart> ?)(?P<zone>Z|[+-]\d{2}:?\d{2}|UTC|GMT)?$", re.ASCII,
)  # fmt: skip
_ORDERS = {  # of day, month and year, by the number of figures of each part, where the month has a number or a name (b)
    "114": ("dmY", "mdY"), "411": ("Ymd",), "112": ("dmy", "mdy", "ymd"), "211": ("ymd",), "222": ("dmy", "mdy", "ymd"),
    "8": (COMPACT,),
    "1b4": ("dbY",), "b14": ("bdY",), "4b1": ("Ybd",), "1b2": ("dby",), "b12": ("bdy",), "41": ("Ym",), "14": ("mY",),
    "b4": ("bY",), "4b": ("Yb",), "b2": ("by",),
}  # fmt: skip


def forms_of(texts: Sequence[str]) -> list[str]:
    """All forms by which each text is a moment.

    >>> forms_of(["03/04/2020", "28/04/2020"]), forms_of(["03/04/2020"])
    (['%d/%m/%Y'], ['%d/%m/%Y', '%m/%d/%Y'])
    >>> forms_of(["14 Feb 2020", "1 May 2020"]), forms_of(["18.00.00"]), forms_of(["February 14, 2020 9:05 pm"])
    (['%d %b %Y'], [], ['%B %d, %Y %I:%M %p'])
    >>> forms_of(["14 févr. 2020", "1 mars 2020"]), forms_of(["14 de mayo de 2020"]), forms_of(["2. Dezember 2020"])
    (['%d %b %Y'], ['%d de %B de %Y'], ['%d. %B %Y'])
    """
    if not texts:
        return []
    shapes = [own for form in _shapes(texts[0].strip()) for own in dict.fromkeys((form, form.replace("%b", "%B")))]
    forms = [form for form in shapes if not np.isnan(seconds_by(form, texts[:FIRST])).any()]
    forms = [form for form in forms if len(texts) <= FIRST or not np.isnan(seconds_by(form, texts)).any()]
    forms = [form for form in forms if form.replace("%B", "%b") not in forms or "%B" not in form]
    return [] if forms and re.fullmatch("%Y.%m", forms[0]) and all(map(_is_season, texts)) else forms


def _is_season(text: str) -> bool:
    """Say whether it is a year and the next: 2019-20.

    >>> _is_season("2009-10"), _is_season("2009-11")
    (True, False)
    """
    year, following = re.findall(r"[0-9]+", text)
    return (int(year) + 1) % 100 == int(following)


def date_form_of(forms: Sequence[str], said: str) -> str:
    """The form that is certain, or that is meant by what is said of day and month; empty where it is to be asked.

    >>> both = ["%d/%m/%Y", "%m/%d/%Y"]
    >>> [date_form_of(both, said) for said in ("day_first", "month_first", "")], date_form_of(["%d %b %Y"], "")
    (['%d/%m/%Y', '%m/%d/%Y', ''], '%d %b %Y')
    """
    if said in (DAY_FIRST, MONTH_FIRST) and forms and depends(forms[0]):
        asked = [form for form in forms if not form.startswith("%y")]
        return next((form for form in asked if (form.find("%d") < form.find("%m")) == (said == DAY_FIRST)), "")
    certain = len(forms) == 1 and not depends(forms[0]) and not ("%y" in forms[0] and "%d" not in forms[0])
    return forms[0] if certain and forms[0] != COMPACT else ""


def shape_of_most(texts: Sequence[str], share: float) -> str:
    """The form that this share of the texts has, but not all; empty where there is none.

    >>> shape_of_most([*(f"{day}.2.2020" for day in range(10, 29)), "later"], 0.9)
    '%d.%m.%Y'
    """
    shapes = Counter(form for text in texts[:FIRST] for form in _shapes(text.strip()))
    for form, _ in shapes.most_common(WAYS):
        known = np.isfinite(seconds_by(form, texts)).mean()
        if share <= known < 1:
            return form
    return ""


def _shapes(text: str) -> list[str]:
    """The forms that a text may have by its figures, words and signs."""
    clock = _CLOCK.search(text)
    date, rest = (text[: clock.start()], _clock_form(clock)) if clock else (text, "")
    parts = re.findall(r"[0-9]+|[^\W\d_]+|(?:[^\w]|_)+", date)
    words = [_form_of_word(part) for part in parts]
    figures = "".join("b" if word in ("%b", "%B") else _figures(part) for part, word in zip(parts, words))
    strange = any(sign.strip() not in ("-", "/", ".", ",", "") for sign in parts if not sign.isalnum())
    strange |= figures == "b2" and parts[0].lower() not in ENGLISH  # `gen 12` and `set 40` are no months of a year
    if strange or any(word == "" for word in words) or len(parts) > LONGEST:
        return []
    orders = dict.fromkeys(order for shape in _shapes_of_figures(figures) for order in _ORDERS.get(shape, ()))
    return [made + rest for order in orders for made in _fill_forms(order, parts, words)]


LONGEST = 9  # parts of a date: the day's name, three more and what is between them


def _figures(part: str) -> str:
    return str(len(part)) if part.isdigit() else ""


def _shapes_of_figures(figures: str) -> Iterator[str]:
    """Yield the keys of orders: a day or a month has one figure or two, a year of two figures has two."""
    for shape in product(*(("1", "2") if sign == "2" else (sign,) for sign in figures)):
        yield "".join(shape)


def _fill_forms(order: str, parts: Sequence[str], words: Sequence[str | None]) -> Iterator[str]:
    """Yield the form: the parts of a date in their order, what stands between them as it is."""
    if order == COMPACT:
        yield order
        return
    signs = iter(sign for sign in order if sign != "b")
    made = "".join(f"%{next(signs)}" if part.isdigit() else (word or part) for part, word in zip(parts, words))
    yield made.replace("%b.", "%b")  # whose point may be there or not


def _form_of_word(part: str) -> str | None:
    """Return how a word is written in a form; empty where it names no month or day, None for what stands there as it is."""
    if not part.isalpha() or part.lower() in JOINING:
        return None
    word, days = part.lower(), DAYS.split("|")
    names = {"%b": SHORT, "%B": LONG, "%a": [day[:3] for day in days], "%A": days}
    return next((sign for sign, some in names.items() if word in some), "")


def _clock_form(found: "re.Match[str]") -> str:
    """The form of a time of day behind a date."""
    sign, hour = found["time"].lstrip("0123456789")[0], "%I" if found["half"] else "%H"
    seconds = f"{sign}%S" if found["time"].count(sign) == 2 else ""
    zone = "%z" if found["zone"] not in (None, "UTC", "GMT") else found["zone"] or ""
    half, fraction = "%p" if found["half"] else "", ".%f" if found["fraction"] else ""
    return f"{found['gap']}{hour}{sign}%M{seconds}{fraction}{found['blank']}{half}{found['apart']}{zone}"


def depends(form: str) -> bool:
    """Say whether another order of the same figures could be a date too: day and month, or two figures for each part."""
    return "%m" in form and "%d" in form and not form.startswith("%Y")


def _pattern(form: str) -> str:
    """A regular expression with a group for each part of a form."""
    parts = re.split(r"(%.)", form)
    return "".join(f"(?P<{part[1]}>{PARTS[part[1]]})" if part.startswith("%") else re.escape(part) for part in parts)


def seconds_by(form: str, texts: Sequence[str]) -> Floats:
    """The seconds since 1970 of dates in a form of strptime (UTC where it has no zone); NaN where a text has another form.

    >>> seconds_by("%d.%m.%Y", ["02.01.1970", "1970-01-02", "31.02.1970"]).tolist()
    [86400.0, nan, nan]
    >>> seconds_by("%b %d, %y %I:%M %p %z", ["Jan 01, 70 12:01 AM +00:01", "JAN 1, 70 1:00 pm Z"]).tolist()
    [0.0, 46800.0]
    """
    if any(part not in PARTS for part in re.findall(r"%(.)", form)) or len(set(re.findall(r"%.", form))) < form.count("%"):
        return np.array([_by_strptime(form, text.strip()) for text in texts], np.float64)
    told = pc.extract_regex(pc.utf8_trim_whitespace(arrow(texts)), f"^{_pattern(form)}$")
    absent = np.asarray(pc.is_null(told).to_numpy(zero_copy_only=False))
    parts = {field.name: told.field(place) for place, field in enumerate(told.type)}
    made = _moments(parts, absent)
    return np.where(absent, np.nan, made)


def _moments(parts: dict[str, pa.Array], absent: NDArray[np.bool_]) -> Floats:
    """The seconds of each moment by its parts; NaN where the calendar or the clock has none such."""

    def whole(name: str, otherwise: int) -> Integers:
        if name not in parts:
            return np.full(len(absent), otherwise, np.int64)
        return np.asarray(pc.cast(pc.if_else(pa.array(absent), "0", parts[name]), pa.int64()).to_numpy(zero_copy_only=False))

    year = whole("Y", 1900) if "y" not in parts else whole("y", 0)
    if "y" in parts:
        year = year + np.where(year < CENTURY, 2000, 1900)
    month, day = _month_numbers(parts) if {"b", "B"} & parts.keys() else whole("m", 1), whole("d", 1)
    hour = whole("H", 0)
    if "I" in parts:
        half = whole("I", 0)
        later = (
            np.asarray(pc.equal(pc.utf8_lower(parts["p"]), "pm").fill_null(False).to_numpy(zero_copy_only=False))
            if "p" in parts
            else False
        )
        hour = np.where((half < 1) | (half > 12), 99, half % 12 + 12 * np.asarray(later))
    minute, second = whole("M", 0), whole("S", 0)
    known = (year >= 1) & (month >= 1) & (month <= 12)
    months = (np.where(known, year, 1970) - 1970) * 12 + np.where(known, month, 1) - 1
    start = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    known &= (day >= 1) & ((start + day - 1).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) == months)
    known &= (hour < 24) & (minute < 60) & (second < 60)
    found = (start + day - 1) * 86400.0 + hour * 3600 + minute * 60 + second + _fraction(parts, absent) - _zone(parts, absent)
    return np.where(known, found, np.nan)


def _month_numbers(parts: dict[str, pa.Array]) -> Integers:
    """The number of each month by its name; 0 where there is none."""
    words = pc.utf8_rtrim(pc.utf8_lower(parts["b"] if "b" in parts else parts["B"]), ".")
    place = pc.index_in(words, pa.array(list(NUMBERS))).fill_null(len(NUMBERS)).to_numpy(zero_copy_only=False)
    return np.array([*NUMBERS.values(), 0])[np.asarray(place, np.int64)]


def _fraction(parts: dict[str, pa.Array], absent: NDArray[np.bool_]) -> Floats:
    """The fraction of a second."""
    if "f" not in parts:
        return np.zeros(len(absent))
    figures = pc.binary_join_element_wise("0.", pc.if_else(pa.array(absent), "0", parts["f"]), "")
    return np.asarray(pc.cast(figures, pa.float64()).to_numpy(zero_copy_only=False))


def _zone(parts: dict[str, pa.Array], absent: NDArray[np.bool_]) -> Floats:
    """The seconds by which a zone is before UTC."""
    if "z" not in parts:
        return np.zeros(len(absent))
    distinct = parts["z"].dictionary_encode()
    shifts = [_shift(word) for word in distinct.dictionary.to_pylist()]
    places = np.asarray(distinct.indices.fill_null(len(shifts)).to_numpy(zero_copy_only=False), np.int64)
    return np.asarray(np.array([*shifts, 0.0])[places])


def _shift(word: str) -> float:
    figures = word.replace(":", "")
    return 0.0 if word in ("Z", "") else float(f"{figures[0]}1") * (int(figures[1:3]) * 3600 + int(figures[3:5]) * 60)


def _by_strptime(form: str, text: str) -> float:
    """The seconds of one moment; NaN where it is none of this form."""
    try:
        found = datetime.strptime(text, form)
    except ValueError:
        return np.nan
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
