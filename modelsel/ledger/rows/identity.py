"""A row is known by its values: not by its file, its position, the order of columns, their type or the split's seed.

Cell to token (64 bits): missing 1; true/false as 1/0; whole numbers below 2^53 exactly, also when written as text; other
numbers by six significant digits and exponent; other text by BLAKE2b of its NFC form. Row to hash (64 bits, keyed):

    bound    the tokens in the order of the column names, with the names
    unbound  the sorted tokens alone: which column a value stood in is forgotten

of features alone: what depends on a label is not kept. Chance collisions of 10^6 × 10^6 rows: 5·10^-8. Without the key,
rows that hold few different values cannot be guessed from their hashes; with it they can: a ledger is pseudonymous data.
"""

import hashlib
import struct
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.runs import is_fresh, lengths
from modelsel.core.types import Booleans, Codes, Feature, Floats, Integers, Table
from modelsel.core.whole_table import WholeTable, whole
from modelsel.kernels.compiler import load_compiled
from modelsel.ledger.home import IdentityKey

# A keyed 64-bit BLAKE2b for every row of words: one after the other by `hashlib`, many at once by a kernel.
#
# Both say the same, bit for bit: what a ledger holds was hashed by either.


Hashes = NDArray[np.uint64]
MANY = 4000  # rows from which loading the kernel pays
SIZE = 8  # bytes of a hash
LONGEST = 64  # bytes that a key of BLAKE2b may have


def hash_rows(cells: Hashes, key: IdentityKey, person: bytes) -> Hashes:
    """The keyed hash of each row of 64-bit words (rows × words), for one purpose (`person`, at most 16 bytes)."""
    words = np.ascontiguousarray(cells, np.uint64)
    compiled = load_compiled("blake") if len(words) >= MANY and words.shape[1] and len(key.secret) <= LONGEST else None
    return _one_by_one(words, key, person) if compiled is None else _at_once(compiled, words, key, person)


def _one_by_one(words: Hashes, key: IdentityKey, person: bytes) -> Hashes:
    """Hash rows one after the other, each from a copy of the state that has taken in the key."""
    raw, width = memoryview(words.astype("<u8").tobytes()), words.shape[1] * SIZE
    keyed, out = hashlib.blake2b(digest_size=SIZE, key=key.secret, person=person), []
    for start in range(0, len(raw), width):
        row = keyed.copy()
        row.update(raw[start : start + width])
        out.append(row.digest())
    return np.frombuffer(b"".join(out), "<u8").astype(np.uint64)


def _at_once(compiled: Any, words: Hashes, key: IdentityKey, person: bytes) -> Hashes:
    """Hash all rows by the compiled kernel."""
    found = np.empty(len(words), np.uint64)
    block = key.secret.ljust(compiled.BLOCK, b"\0")
    compiled.rows(words, _parameters(len(key.secret), person), np.frombuffer(block, "<u8").astype(np.uint64), found)
    return found


def _parameters(key: int, person: bytes) -> Hashes:
    """The parameter block of RFC 7693, 2.5, with salt and person as in the paper: no salt, no tree."""
    raw = struct.pack("<BBBBIQBB14x16s16s", SIZE, key, 1, 1, 0, 0, 0, 0, b"", person)
    return np.frombuffer(raw, "<u8").astype(np.uint64)


# Sorting of hashes and of numbers: by NumPy, and where there are many by a kernel, to the same result.

MANY_TO_SORT = 20_000  # values from which loading the kernel pays
SIGN = np.uint64(1 << 63)


def ascending(words: Hashes) -> Hashes:
    """A sorted copy."""
    compiled = load_compiled("radix") if len(words) >= MANY_TO_SORT else None
    if compiled is None:
        return np.sort(words)
    found = np.array(words, np.uint64)
    compiled.sort(found, np.empty_like(found))
    return found


def order_of(values: Floats) -> Integers:
    """The places of numbers in ascending order; NaN last.

    >>> order_of(np.array([2.0, np.nan, -1.0])).tolist()
    [2, 0, 1]
    """
    compiled = load_compiled("radix") if len(values) >= MANY_TO_SORT else None
    order: Integers = np.arange(len(values))
    if compiled is None:
        return np.argsort(values, kind="stable")
    words = _as_words(values)
    compiled.arrange(words, order, np.empty_like(words), np.empty_like(order))
    return order


def _as_words(values: Floats) -> Hashes:
    """Numbers as words of the same order: the sign turned round, and of negative ones all else; minus nought is nought."""
    bits = (values + 0.0).view(np.uint64)
    words: Hashes = np.where(bits >= SIGN, ~bits, bits | SIGN)
    words[np.isnan(values)] = np.iinfo(np.uint64).max
    return words


# Cells as tokens, and rows as hashes of them.

ROW = b"modelsel.row.1"
BLOCK = 1 << 13  # rows
MISSING, UNSEEN = np.uint64(1), np.uint64(2)
DIGITS = 6
EXACT = 2.0**53
PIECE = 1 << 14  # numbers at a time: what stays in the cache
LEAST = -350  # exponent
POWERS = 10.0 ** np.arange(LEAST, 309.0)
_WORDS = {"false": 0.0, "true": 1.0}


@dataclass(frozen=True, eq=False)
class TokenTable:
    """A table as tokens: rows × columns, with the names that the columns go by."""

    names: tuple[str, ...]
    tokens: Hashes

    def take(self, rows: Integers) -> "TokenTable":
        return TokenTable(self.names, self.tokens[rows])

    def rename(self, names: Sequence[str]) -> "TokenTable":
        return TokenTable(tuple(names), self.tokens)


def columns(table: Table | WholeTable, digits: int = DIGITS) -> TokenTable:
    """The features of a table as tokens."""
    table = whole(table)
    cells = np.empty((len(table), len(table.features)), np.uint64, order="F")  # read by column
    for index, tokens in column_tokens(table, range(len(table.features)), digits):
        cells[:, index] = tokens
    return TokenTable(tuple(feature.name for feature in table.features), cells)


def bound_hashes(cells: TokenTable, key: IdentityKey) -> Hashes:
    """A keyed hash per row, of its values and the columns they stand in."""
    return bound_blocks(cells.names, cells.tokens.__getitem__, len(cells.tokens), key)


def bound_blocks(names: Sequence[str], tokens: Callable[[slice], Hashes], rows: int, key: IdentityKey) -> Hashes:
    """Hash rows whose tokens are made a block of rows at a time."""
    order = np.argsort(np.array(names, object), kind="stable")
    said = hashlib.blake2b("\0".join(sorted(names)).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    first = np.frombuffer(said, "<u8")[0]

    def words(block: Hashes) -> Hashes:
        out = np.empty((len(block), 1 + len(order)), np.uint64)
        out[:, 0], out[:, 1:] = first, block[:, order]
        return out

    return _in_blocks(tokens, rows, key, words)


def unbound_hashes(cells: TokenTable, key: IdentityKey) -> Hashes:
    """A keyed hash per row, of its values in any order and under any names."""
    tokens = cells.tokens
    return _in_blocks(tokens.__getitem__, len(tokens), key, lambda block: np.sort(np.ascontiguousarray(block), axis=1))


def _in_blocks(tokens: Callable[[slice], Hashes], rows: int, key: IdentityKey, words: Callable[[Hashes], Hashes]) -> Hashes:
    """Hashes of rows as they are to be written out; a block of them at a time, which stays in the cache."""
    out = np.empty(rows, np.uint64)
    for start in range(0, rows, BLOCK):
        block = slice(start, start + BLOCK)
        out[block] = hash_rows(words(tokens(block)), key, ROW)
    return out


def set_digest(hashes: Hashes, key: IdentityKey) -> str:
    """The identity of a set of rows with their repetitions, in any order: keyed BLAKE2b-128 of the sorted hashes."""
    raw = np.ascontiguousarray(ascending(hashes), "<u8").data
    return hashlib.blake2b(raw, digest_size=16, key=key.secret, person=b"modelsel.set.1").hexdigest()


def number_tokens(values: Floats, digits: int = DIGITS) -> Hashes:
    """Numbers as tokens, in an array of any shape; NaN is missing."""
    x = np.asarray(values, np.float64)
    flat, found = x.reshape(-1), np.empty(x.size, np.uint64)
    for start in range(0, x.size, PIECE):
        piece = slice(start, start + PIECE)
        found[piece] = _number_tokens(flat[piece], digits)
    return found.reshape(x.shape)


def _number_tokens(x: Floats, digits: int) -> Hashes:
    """Make the tokens of numbers of a block, few enough to stay in the cache."""
    with np.errstate(invalid="ignore"):
        whole = (np.abs(x) < EXACT) & (x == np.floor(x))
    real = np.isfinite(x) & ~whole
    if real.all():
        return _real_tokens(x, digits)
    tokens = _mix(_bits(np.where(whole, x, 0)), 0)
    if not whole.all():
        tokens[real] = _real_tokens(x[real], digits)
        tokens[np.isinf(x)] = _mix(_bits(np.sign(x[np.isinf(x)])), 3)
        tokens[np.isnan(x)] = MISSING
    return tokens


def _real_tokens(x: Floats, digits: int) -> Hashes:
    """Finite numbers other than 0 by their leading digits and exponent."""
    exponent = np.floor(np.log10(np.abs(x))).astype(np.int64)
    with np.errstate(all="ignore"):  # the smallest numbers are beyond the smallest power of ten
        mantissa = np.rint(x / POWERS[exponent - digits + 1 - LEAST])
        over = np.abs(mantissa) >= 10.0**digits
        if over.any():
            mantissa, exponent = np.where(over, mantissa / 10, mantissa), exponent + over
        return _mix(_mix(_bits(mantissa), 1) ^ _bits(exponent), 2)


def rank_tokens(codes: Codes) -> Hashes:
    """Places from 0 as the tokens of these numbers; −1 is missing."""
    return np.where(codes < 0, MISSING, _mix(_bits(codes), 0))


def text_tokens(texts: Sequence[str], digits: int = DIGITS) -> Hashes:
    """Texts as tokens: what reads as a number or a truth value is one.

    >>> bool(text_tokens(["1.50"])[0] == number_tokens(np.array([1.5]))[0])
    True
    """
    found, places, numbers = np.empty(len(texts), np.uint64), [], []
    for place, text in enumerate(texts):
        plain = unicodedata.normalize("NFC", text).strip()
        number = _WORDS.get(plain.lower(), _number(plain))
        if number is None:
            raw = plain.encode("utf-8", "surrogatepass")
            found[place] = int.from_bytes(hashlib.blake2b(raw, digest_size=8, person=b"modelsel.text.1").digest(), "little")
        else:
            places.append(place)
            numbers.append(number)
    found[places] = number_tokens(np.array(numbers, np.float64), digits)
    return found


def tally(values: Hashes) -> tuple[Hashes, Integers]:
    """The distinct values in order, and how often each occurs (by one sort: faster on hashes than a table)."""
    return runs(ascending(values))


def runs(ordered: Hashes) -> tuple[Hashes, Integers]:
    """The distinct values of a sorted array, and how often each occurs."""
    starts = np.flatnonzero(is_fresh(ordered))
    return ordered[starts], lengths(starts, len(ordered))


def occurrences(values: Hashes, pool: Hashes) -> Integers:
    """Count how often each value occurs in a pool, in any order.

    >>> occurrences(np.array([7, 9], np.uint64), np.array([7, 8, 7], np.uint64)).tolist()
    [2, 0]
    """
    known, counts = tally(pool)
    if not len(known):
        return np.zeros(len(values), np.int64)
    where = np.minimum(np.searchsorted(known, values), len(known) - 1)
    found: Integers = np.where(known[where] == values, counts[where], 0)
    return found


def is_among(values: Hashes, ordered: Hashes) -> Booleans:
    """Mask the values that are in a sorted array."""
    if not len(ordered):
        return np.zeros(len(values), bool)
    found: Booleans = ordered[np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)] == values
    return found


def column_tokens(table: Table | WholeTable, places: Sequence[int], digits: int) -> Iterator[tuple[int, Hashes]]:
    """Yield the tokens of some columns, each after its place."""
    table = whole(table)
    for some, values in table.columns(places):
        features = [table.features[index] for index in some]
        numeric = np.array([feature.is_number for feature in features])
        numbers = iter(number_tokens(values if numeric.all() else values[numeric], digits))
        for index, feature, own in zip(some, features, values, strict=True):
            yield index, next(numbers) if feature.is_number else feature_tokens(feature, own, digits)


def feature_tokens(feature: Feature, values: Floats, digits: int) -> Hashes:
    """Hash a column's values; levels by their texts, missing and unseen ones by fixed words."""
    if feature.is_number:
        return number_tokens(values, digits)
    known = np.append(text_tokens(feature.levels, digits), [UNSEEN, MISSING])
    codes = np.where(np.isnan(values), len(feature.levels) + 1, values).astype(np.int64)
    tokens: Hashes = known[np.clip(codes, 0, len(known) - 1)]
    return tokens


def _number(text: str) -> float | None:
    """Read a number in plain notation; None for any other text."""
    try:
        return float(text) if text[:1] in "+-.0123456789" and "_" not in text else None
    except ValueError:
        return None


def _bits(values: NDArray[np.generic]) -> Hashes:
    return values.astype(np.int64).view(np.uint64)


def _mix(x: Hashes, tag: int) -> Hashes:
    """The finaliser of SplitMix64 (Steele, Lea & Flood, 2014)."""
    z: Hashes = x + np.uint64((0x9E3779B97F4A7C15 * (tag + 1)) & 0xFFFFFFFFFFFFFFFF)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z
