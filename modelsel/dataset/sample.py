"""A sample of the rows of a source (`dataset.sample`): by classes, in whole units, and the same rows whenever it is drawn.

Where a reader can, it draws where the data are: the columns that say classes and units are read of all rows, everything else of
those that are drawn.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from modelsel.core.types import Codes, Finding, Integers
from modelsel.dataset.base import TableSettings, as_names
from modelsel.dataset.column import RawColumn

SEED = 0  # another sample would be another test set
STRATA = 100  # distinct targets above which they are taken for numbers, and rows are drawn whatever theirs is


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """The rows that are drawn, in their order, and what is said of them; `target` are the codes of theirs."""

    places: Integers
    target: Codes
    finding: Finding

    def is_of(self, target: pa.ChunkedArray) -> bool:
        """Say whether these are the targets of the rows, which a source gave in a second reading."""
        said = _unify([one.dictionary_encode() for one in target.chunks])
        return len({*zip(self.target.tolist(), said.tolist())}) == len({*said.tolist()}) == len({*self.target.tolist()})


def keys(settings: TableSettings) -> tuple[str, ...]:
    """The columns by which rows are drawn: the target, then those that say which rows belong together."""
    return (str(settings.target), *(as_names(settings.unit) or as_names(settings.groups)))


def draw(settings: TableSettings, target: Codes, units: Sequence[Codes]) -> DrawnRows | None:
    """Draw rows; None where none are asked for, or the source has no more."""
    most, rows = settings.sample, len(target)
    if most is None or rows <= most:
        return None
    strata = _in_order(target + 1) if int(target.max(initial=-1)) < STRATA else np.zeros(rows, np.int32)
    places = _of_units(strata, _together(units), most) if units else _of_rows(strata, most)
    return DrawnRows(places, target[places], _describe_sample(settings, rows, len(places), strata, strata[places]))


def draw_columns(settings: TableSettings, columns: Sequence[RawColumn]) -> DrawnRows | None:
    """Draw rows of a table that was read whole."""
    named = {column.name: column for column in columns}
    if settings.sample is None or not set(keys(settings)) <= named.keys():
        return None
    target, *units = (_codes(named[name]) for name in keys(settings))
    return draw(settings, target, units)


def draw_batches(settings: TableSettings, batches: Iterable[pa.RecordBatch]) -> DrawnRows | None:
    """Draw rows by the columns of `keys`, of which a block is held at a time."""
    chunks: list[list[pa.Array]] = [[] for _ in keys(settings)]
    for batch in batches:
        for place, column in zip(chunks, batch.columns, strict=True):
            place.append(column if pa.types.is_dictionary(column.type) else column.dictionary_encode())
    if not chunks[0]:
        return None
    target, *units = map(_unify, chunks)
    return draw(settings, target, units)


def _unify(chunks: list[pa.Array]) -> Codes:
    """The codes of blocks that have a dictionary each; −1 where there is no value."""
    same = pa.chunked_array(chunks).unify_dictionaries().chunks
    return np.concatenate([one.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False) for one in same])


def _codes(column: RawColumn) -> Codes:
    """A code per row, −1 where there is no value."""
    if column.codes is not None:
        return column.codes
    found = np.unique(np.asarray(column.numbers), return_inverse=True)[1].astype(np.int32)
    return np.where(column.absent, np.int32(-1), found)


def _in_order(codes: Codes) -> Codes:
    """Number codes by where they come first, so that every reader of the same rows draws the same."""
    found = np.unique(codes)
    rank = np.empty(int(found.max()) + 1, np.int32)
    rank[found[np.argsort([np.argmax(codes == one) for one in found])]] = np.arange(len(found))
    return rank[codes]


def _together(units: Sequence[Codes]) -> Integers:
    """A number per combination of several columns; no value is a value too."""
    found: Integers = np.zeros(len(units[0]), np.int64)
    for one in units:
        _, first, found = np.unique(found * (int(one.max()) + 2) + one + 1, return_index=True, return_inverse=True)
        found = np.argsort(np.argsort(first))[found]  # by where they come first
    return found


def _quotas(sizes: Integers, most: int) -> Integers:
    """Share out the sample by the sizes of strata; what is left by rounding down goes to the largest remainders.

    >>> _quotas(np.array([50, 30, 21]), 10).tolist()
    [5, 3, 2]
    """
    shares = sizes * most / sizes.sum()
    found = shares.astype(np.int64)
    found[np.argsort(found - shares, kind="stable")[: most - int(found.sum())]] += 1
    return np.asarray(np.minimum(found, sizes))


def _of_rows(strata: Codes, most: int) -> Integers:
    """Draw rows of each stratum without replacement."""
    rng, sizes = np.random.default_rng(SEED), np.bincount(strata)
    quotas = enumerate(_quotas(sizes, most).tolist())
    drawn = [np.flatnonzero(strata == one)[rng.choice(sizes[one], many, replace=False)] for one, many in quotas if many]
    return np.sort(np.concatenate(drawn))


def _of_units(strata: Codes, units: Integers, most: int) -> Integers:
    """Draw whole units, each of the stratum that most of its rows are of, as long as they fit into the stratum's share."""
    rng, sizes, width = np.random.default_rng(SEED), np.bincount(units), int(strata.max()) + 1
    rows_of = np.bincount(units * width + strata, minlength=len(sizes) * width).reshape(-1, width)
    own = rows_of.argmax(axis=1)
    drawn = np.zeros(len(sizes), bool)
    for one, many in enumerate(_quotas(np.bincount(own, weights=sizes, minlength=width).astype(np.int64), most).tolist()):
        order = rng.permutation(np.flatnonzero(own == one))
        drawn[order[np.cumsum(sizes[order]) <= many]] = True
    return np.flatnonzero(drawn[units])


def _describe_sample(settings: TableSettings, rows: int, drawn: int, strata: Codes, kept: Codes) -> Finding:
    """Say what the study is about."""
    by = ["by classes"] if strata.any() else []
    by += [f"in whole units of {', '.join(keys(settings)[1:])}"] if keys(settings)[1:] else []
    lost = len(np.setdiff1d(strata, kept))
    gone = f" ({lost} of the classes have none of them)" if lost else ""
    how = f"drawn {' and '.join(by)}" if by else "drawn"
    of = f"folds, final model and sealed test are of these, and the other {rows - drawn:,} take no part"
    message = f"a sample: {drawn:,} of {rows:,} rows, {how}{gone}; {of}"
    return Finding("SAMPLED", "info", message, "dataset.sample says how many; the same rows come every time")
