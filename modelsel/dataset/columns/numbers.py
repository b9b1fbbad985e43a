"""Read numbers and moments from texts, and nothing that only Python would take for one (`nan`, `1_000`, `٣`)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from modelsel.core.types import Floats
from modelsel.dataset.columns.column import arrow

PLAIN = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"  # the most frequent form, which Arrow reads as Python does
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_INFINITE = re.compile(r"\s*([+-]?)inf(inity)?\s*", re.ASCII | re.IGNORECASE)
_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*", re.ASCII)
EITHER = "either"  # with a point, else with a comma
_THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+\s*", re.ASCII)
_GROUPED = re.compile(r"\s*[+-]?\d{1,3}((,\d{3})+(\.\d+)?|(\.\d{3})+(,\d+)?|(['’ \u00a0\u202f]\d{3})+([.,]\d+)?)\s*", re.ASCII)
_CLOCK = r"[T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?"
_DATE = re.compile(rf"\s*(\d{{4}}-\d{{1,2}}-\d{{1,2}}({_CLOCK})?|\d{{1,2}}[./]\d{{1,2}}[./](\d{{4}}|\d{{2}}))\s*", re.ASCII)


def numbers(texts: Sequence[str], decimal: str = ".") -> Floats:
    """The number each text says, ±inf where it is infinite or too large for 64 bits, NaN where it says none.

    >>> numbers(["1", " 2.5 ", "1e400", "nan", "x", ""]).tolist()
    [1.0, 2.5, inf, nan, nan, nan]
    """
    if decimal != ".":
        texts = [text.replace(".", "\0").replace(decimal, ".") for text in texts]
    array = arrow(texts)
    plain = np.asarray(pc.match_substring_regex(array, PLAIN).to_numpy(zero_copy_only=False), bool)
    found = np.full(len(array), np.nan)
    found[plain] = pc.cast(array.filter(pa.array(plain)), pa.float64()).to_numpy(zero_copy_only=False)
    for place in np.flatnonzero(~plain).tolist():
        found[place] = _number(texts[place])
    return found


def read_numbers(texts: Sequence[str], decimal: str) -> tuple[Floats, str]:
    """The numbers, and how they are written: with `either`, a comma is the decimal point where it makes numbers of all texts.

    >>> read_numbers(["1,5", "2"], "either")[1], read_numbers(["1.5", "x"], "either")[1]
    (',', '.')
    """
    if decimal != EITHER:
        return numbers(texts, decimal), decimal
    found = numbers(texts)
    if not np.isnan(found).any() or not with_comma(texts) or in_thousands(texts):
        return found, "."
    comma = numbers(texts, ",")
    return (found, ".") if np.isnan(comma).any() else (comma, ",")


def in_thousands(texts: Sequence[str]) -> bool:
    """Say whether every comma may separate thousands instead of a fraction.

    >>> in_thousands(["1,234", "12"]), in_thousands(["1,234", "1,5"])
    (True, False)
    """
    return all(_THOUSANDS.fullmatch(text) for text in texts if "," in text)


def with_groups(texts: Sequence[str]) -> bool:
    """Say whether all texts that are no numbers are some with thousands parted: by comma, point, apostrophe or blank.

    >>> with_groups(["1,234,567.5", "12"]), with_groups(["1'234", "x"]), with_groups(["12", "1.5"])
    (True, False, False)
    """
    odd = [text for text in texts if not _NUMBER.fullmatch(text)]
    return bool(odd) and all(_GROUPED.fullmatch(text) for text in odd)


def like_thousands(texts: Sequence[str]) -> bool:
    """Say whether every point may part thousands, and one does: numbers that mean something else where commas are decimal.

    >>> like_thousands(["1.234", "12"]), like_thousands(["1.234", "1.5"]), like_thousands(["1", "12"])
    (True, False, False)
    """
    pointed = [text for text in texts if "." in text]
    return bool(pointed) and all(_GROUPED.fullmatch(text) for text in pointed)


def with_comma(texts: Sequence[str]) -> bool:
    """Say whether all texts that are no numbers become numbers when the comma is read as the decimal point."""
    odd = [text for text in texts if not _NUMBER.fullmatch(text)]
    return bool(odd) and all(_COMMA.fullmatch(text) for text in odd)


def like_dates(texts: Sequence[str]) -> bool:
    """Say whether all texts look like calendar dates."""
    return bool(texts) and all(_DATE.fullmatch(text) for text in texts)


def seconds(texts: Sequence[str]) -> Floats:
    """Seconds since 1970 (UTC where no zone is said) of ISO 8601 moments; NaN where a text is none.

    >>> seconds(["1970-01-02", "1970-01-01T00:00:01Z", "02.01.1970"]).tolist()
    [86400.0, 1.0, nan]
    """
    return np.array([_moment(text.strip()) for text in texts], np.float64)


def moments(texts: Sequence[str]) -> Floats | None:
    """The seconds of texts that are dates, all of them in ISO 8601; else None.

    >>> moments(["1970-01-02"]).tolist(), moments(["1970-01-02", "soon"]), moments(["02.01.1970"])
    ([86400.0], None, None)
    """
    found = seconds(texts) if like_dates(texts) else None
    return None if found is None or np.isnan(found).any() else found


def _number(text: str) -> float:
    """Read a number as this module's pattern writes it; NaN for anything else."""
    if _NUMBER.fullmatch(text):
        return float(text)
    infinite = _INFINITE.fullmatch(text)
    return np.nan if infinite is None else float(f"{infinite[1]}inf")


def _moment(text: str) -> float:
    """Read an ISO date and time as seconds since 1970, UTC where no zone is given; NaN for anything else."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return np.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
