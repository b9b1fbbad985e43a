"""A column as it stands in a source: distinct texts and a code per row, or numbers; before its kind is settled.

Everything that looks at texts looks at the *distinct* ones, so that 200,000 rows cost little more than their levels.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from modelsel.core.reading import EITHER
from modelsel.core.types import Booleans, Codes, Floats

SOME = 4096  # texts above which a column keeps them as Arrow does
NAMED = 3  # rows that a message names before it counts the rest


class Texts(Sequence[str]):
    """Many texts as Arrow keeps them, a tenth of what as many Python strings take."""

    def __init__(self, array: pa.Array) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, place: object) -> Any:
        return self.array[place].as_py() if isinstance(place, int | np.integer) else tuple(self.array[place].to_pylist())

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self.array), SOME):
            yield from self.array.slice(start, SOME).to_pylist()

    def __array__(self, dtype: object = None, copy: object = None) -> NDArray[np.generic]:
        return np.array(self.array.to_pylist(), object)


@dataclass(frozen=True, eq=False)
class RawColumn:
    """Texts (`codes` into `texts`, −1 missing) or, where the source is typed, `numbers` (NaN missing).

    `kind` and `levels` are what the source itself declares (ARFF, Parquet categories), None and () where it says nothing.
    """

    name: str
    texts: Sequence[str] = ()
    codes: Codes | None = None
    numbers: Floats | None = None
    kind: str | None = None
    levels: tuple[str, ...] = ()
    dates: bool = False  # the numbers are seconds since 1970
    guessed: bool = False  # numbers because every text said one, none of them beyond 2^53
    type: str = ""  # of the cells, where the source knows it: bool, int, float, str or date
    places: NDArray[np.integer] | None = None  # of the rows in the source, where some were left out
    held: str = ""  # the type that the source's own cells have, as Arrow calls it; none where they are texts of a file

    def __len__(self) -> int:
        return len(self.per_row)

    @property
    def per_row(self) -> Any:
        """The array that has an entry per row."""
        return self.codes if self.numbers is None else self.numbers

    @property
    def absent(self) -> Booleans:
        """Mask of the rows without a value."""
        return np.asarray(self.per_row < 0 if self.numbers is None else np.isnan(self.numbers))

    @property
    def read_as(self) -> str:
        """The type that other table readers (pandas) give the cells: bool, int, float, str or date.

        Gaps make integers floats, and truth values text.

        >>> cells = (["1", "2"], ["1", None], ["1", "2.5"], ["True", "False"], ["a", "1"])
        >>> [text_column("x", some).read_as for some in cells]
        ['int', 'float', 'float', 'bool', 'str']
        """
        found = self.type or ("float" if self.numbers is not None else _type_of(self.texts))
        return _WITH_GAPS.get(found, found) if self.absent.any() else found

    def without(self, missing: Collection[str]) -> "RawColumn":
        """The column with cells that read (trimmed) as one of `missing` taken as missing, unused texts dropped.

        Of a column of numbers those that one of the words says.

        >>> RawColumn("x", numbers=np.array([1.0, -200.0])).without(["?", "-200"]).numbers.tolist()
        [1.0, nan]
        """
        if self.numbers is not None:
            said = numbers(list(missing))
            gone = np.isin(self.numbers, said[np.isfinite(said)])
            return replace(self, numbers=np.where(gone, np.nan, self.numbers)) if gone.any() else self
        gone = _among(self.texts, missing)
        if not gone.any():
            return self
        kept = np.flatnonzero(~gone).tolist()
        code = np.full(len(self.texts) + 1, -1, np.int32)
        code[kept] = np.arange(len(kept))
        levels = tuple(level for level in self.levels if level.strip() not in missing)  # one that says it is missing
        return replace(
            self, texts=_texts(arrow(self.texts).take(pa.array(kept, pa.int64()))), codes=code[self.codes], levels=levels
        )

    def take(self, rows: NDArray[np.integer]) -> "RawColumn":
        """Some of the rows, of which the messages name the places that they had; texts of no row are dropped."""
        if self.numbers is not None:
            return replace(self, numbers=self.numbers[rows], places=rows)
        assert self.codes is not None
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        codes = codes - int(len(kept) > 0 and kept[0] < 0)
        texts = arrow(self.texts).take(pa.array(kept[kept >= 0].astype(np.int64)))
        return replace(self, texts=_texts(texts), codes=codes.astype(np.int32), places=rows)

    def named(self, rows: "Sequence[int] | NDArray[np.generic]") -> str:
        """Rows as messages name them, by the places that they have in the source."""
        return name_rows(rows if self.places is None else self.places[np.asarray(rows, np.int64)])

    def as_text(self) -> "RawColumn":
        """Return the column as texts: numbers are written as short as they can be read back (1, not 1.0)."""
        if self.numbers is None:
            return self
        values, inverse = np.unique(self.numbers, return_inverse=True, equal_nan=True)
        codes = inverse.astype(np.int32)
        codes[np.isnan(self.numbers)] = -1
        texts = tuple(number_text(v) for v in values[~np.isnan(values)].tolist())
        return RawColumn(self.name, texts, codes, kind=self.kind, places=self.places)

    def extend(self, other: "RawColumn") -> "RawColumn":
        """The rows of another source beneath this one."""
        if self.numbers is not None and other.numbers is not None:
            return replace(self, numbers=np.concatenate([self.numbers, other.numbers]))
        top, bottom = self.as_text(), other.as_text()
        assert top.codes is not None
        assert bottom.codes is not None
        place = {text: code for code, text in enumerate(dict.fromkeys((*top.texts, *bottom.texts)))}
        move = np.array([*(place[text] for text in bottom.texts), -1], np.int32)
        return replace(top, texts=tuple(place), codes=np.concatenate([top.codes, move[bottom.codes]]))


_WITH_GAPS = {"int": "float", "bool": "str"}
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")
_LARGEST = 2**63 - 1  # of the whole numbers that table readers take for such
_TRUTH = {"true", "True", "TRUE", "false", "False", "FALSE"}


def are_whole(texts: Iterable[str]) -> bool:
    """Say whether every text is a whole number, written without a point."""
    return all(_WHOLE.fullmatch(text) and (len(text) < 19 or abs(int(text)) <= _LARGEST) for text in texts)


def _type_of(texts: Sequence[str]) -> str:
    """Infer the type that table readers give a column of these texts."""
    if _TRUTH.issuperset(texts):
        return "bool"
    if are_whole(texts):
        return "int"
    return "float" if all(map(_is_number, texts)) else "str"


def _is_number(text: str) -> bool:
    """Say whether a text reads as a finite number."""
    try:
        return "_" not in text and bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _among(texts: Sequence[str], words: Collection[str]) -> Booleans:
    """Mask the texts that, trimmed, are one of some words."""
    trimmed = pc.utf8_trim_whitespace(arrow(texts))
    return np.asarray(pc.is_in(trimmed, pa.array(list(words), pa.string())).to_numpy(zero_copy_only=False))


def text_column(name: str, cells: object, kind: str | None = None, levels: tuple[str, ...] = ()) -> RawColumn:
    """A column of texts from a sequence or an Arrow array of strings (null = missing)."""
    array = cells if isinstance(cells, pa.Array | pa.ChunkedArray) else pa.array(cells, pa.string())
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    coded = array.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return RawColumn(name, _texts(coded.dictionary), codes, kind=kind, levels=levels)


def coded_column(name: str, chunks: Sequence[pa.Array]) -> RawColumn:
    """A column from the dictionary-encoded blocks of a file."""
    if not chunks:
        return RawColumn(name, codes=np.zeros(0, np.int32))
    same = pa.chunked_array(chunks).unify_dictionaries()
    codes = np.concatenate([np.asarray(chunk.indices.to_numpy(), np.int32) for chunk in same.chunks])
    return RawColumn(name, _texts(same.chunks[0].dictionary), codes)


def arrow(texts: Sequence[str]) -> pa.Array:
    """Texts as an Arrow array, the one that they are kept in where there is one."""
    return texts.array if isinstance(texts, Texts) else pa.array(texts, pa.string())


def _texts(array: pa.Array) -> Sequence[str]:
    return Texts(array) if len(array) > SOME else tuple(array.to_pylist())


def number_text(value: float) -> str:
    """Write a number as text: whole numbers without a point.

    >>> number_text(1.0), number_text(0.1)
    ('1', '0.1')
    """
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))


def name_rows(rows: Sequence[int] | NDArray[np.generic]) -> str:
    """Data rows as messages name them, counted from 0.

    >>> name_rows([4, 9, 11, 12, 30])
    'rows 4, 9, 11, +2 more; the first row is 0'
    """
    listed = np.asarray(rows)
    more = f", +{len(listed) - NAMED} more" if len(listed) > NAMED else ""
    return f"row{'s' if len(listed) > 1 else ''} {', '.join(str(r) for r in listed[:NAMED])}{more}; the first row is 0"


def examples(texts: Sequence[str]) -> str:
    """Some texts as messages quote them.

    >>> examples(["a", "b", "c"]), examples(["a", "b", "c", "d"])
    ("'a', 'b', 'c'", "'a', 'b', 'c', ...")
    """
    more = ", ..." if len(texts) > NAMED else ""
    return ", ".join(repr(text) for text in texts[:NAMED]) + more


# Read numbers and moments from texts, and nothing that only Python would take for one (`nan`, `1_000`, `٣`).


PLAIN = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"  # the most frequent form, which Arrow reads as Python does
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_INFINITE = re.compile(r"\s*([+-]?)inf(inity)?\s*", re.ASCII | re.IGNORECASE)
_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*", re.ASCII)
_THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+\s*", re.ASCII)
_GROUPED = re.compile(r"\s*[+-]?\d{1,3}((,\d{3})+(\.\d+)?|(\.\d{3})+(,\d+)?|(['’ \u00a0\u202f]\d{3})+([.,]\d+)?)\s*", re.ASCII)
_CLOCK = r"[T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?"
_DAY = r"(0?[1-9]|[12]\d|3[01])"  # or a month: 18.00.00 is the time of a clock
_DATE = re.compile(rf"\s*(\d{{4}}-\d{{1,2}}-\d{{1,2}}({_CLOCK})?|{_DAY}[./]{_DAY}[./](\d{{4}}|\d{{2}}))\s*", re.ASCII)


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
