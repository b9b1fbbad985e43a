"""What a text says as a number or a moment, and nothing that only Python would take for one (`nan`, `1_000`, `٣`)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from modelsel.core.types import Floats

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_INFINITE = re.compile(r"\s*([+-]?)inf(inity)?\s*", re.ASCII | re.IGNORECASE)
_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*", re.ASCII)
_CLOCK = r"[T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?"
_DATE = re.compile(rf"\s*(\d{{4}}-\d{{1,2}}-\d{{1,2}}({_CLOCK})?|\d{{1,2}}[./]\d{{1,2}}[./](\d{{4}}|\d{{2}}))\s*", re.ASCII)


def numbers(texts: Sequence[str], decimal: str = ".") -> Floats:
    """The number each text says, ±inf where it is infinite or too large for 64 bits, NaN where it says none.

    >>> numbers(["1", " 2.5 ", "1e400", "nan", "x", ""]).tolist()
    [1.0, 2.5, inf, nan, nan, nan]
    """
    if decimal != ".":
        texts = [text.replace(".", "\0").replace(decimal, ".") for text in texts]
    try:
        fast = pc.cast(pa.array(texts, pa.string()), pa.float64()).to_numpy(zero_copy_only=False)
        if np.isfinite(fast).all():
            return np.array(fast)
    except pa.ArrowInvalid:
        pass
    return np.array([_number(text) for text in texts], np.float64)


def with_comma(texts: Sequence[str]) -> bool:
    """Do all texts that say no number say one when the comma is read as the decimal point?"""
    odd = [text for text in texts if not _NUMBER.fullmatch(text)]
    return bool(odd) and all(_COMMA.fullmatch(text) for text in odd)


def like_dates(texts: Sequence[str]) -> bool:
    """Do all texts look like calendar dates?"""
    return bool(texts) and all(_DATE.fullmatch(text) for text in texts)


def seconds(texts: Sequence[str]) -> Floats:
    """Seconds since 1970 (UTC where no zone is said) of ISO 8601 moments; NaN where a text is none.

    >>> seconds(["1970-01-02", "1970-01-01T00:00:01Z", "02.01.1970"]).tolist()
    [86400.0, 1.0, nan]
    """
    return np.array([_moment(text.strip()) for text in texts], np.float64)


def _number(text: str) -> float:
    if _NUMBER.fullmatch(text):
        return float(text)
    infinite = _INFINITE.fullmatch(text)
    return np.nan if infinite is None else float(f"{infinite[1]}inf")


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return np.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
