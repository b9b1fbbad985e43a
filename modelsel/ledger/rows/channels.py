"""Other ways in which rows may be known again, when their values as a whole are not.

    C0  declared identities of rows (dataset.id)
    C2  columns of which at least half the values are distinct: their values at 9 digits, whatever the other columns
    C4  ranks instead of values: scaled or otherwise monotonely transformed columns, in any order of the rows

(C1 is the rows themselves, C5 the whole table before its split. C3, the order of the labels, is no more: whoever holds what
is kept of it can guess labels, and sorted files share it by chance.)
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.runs import is_fresh, lengths
from modelsel.core.types import Codes, Feature, Floats, Table
from modelsel.core.whole_table import WholeTable, whole
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.identity import Hashes, TokenTable, bound_blocks, column_tokens, columns, order_of, rank_tokens, tally

# Dense ranks of the numbers of a column: what stays of them under every increasing map.


@dataclass(frozen=True, eq=False)
class Dense:
    """Place of each value among the distinct ones (−1 where there is none), and how often each distinct one occurs."""

    codes: Codes
    counts: Codes

    @classmethod
    def of(cls, values: Floats) -> "Dense":
        """Ranks of numbers; NaN has none.

        >>> Dense.of(np.array([7.0, 3.0, np.nan, 7.0])).codes.tolist()
        [1, 0, -1, 1]
        """
        order = order_of(values)[: len(values) - int(np.isnan(values).sum())]  # NaN comes last
        ordered = values[order]
        fresh = is_fresh(ordered)
        codes = np.full(len(values), -1, np.int32)
        codes[order] = np.cumsum(fresh, dtype=np.int32) - 1
        return cls(codes, lengths(np.flatnonzero(fresh), len(ordered)).astype(np.int32))

    @property
    def middle(self) -> Floats:
        """Middle ranks of values that are all there, from −½ to ½."""
        middles = (np.cumsum(self.counts, dtype=np.int64) - (self.counts + 1) / 2) / max(1, len(self.codes)) - 0.5
        ranks: Floats = middles[self.codes]
        return ranks


class Order:
    """The ranks of a table's columns, each reckoned when it is first asked for."""

    def __init__(self, table: Table | WholeTable) -> None:
        self._table = whole(table)
        self._found: dict[int, Dense] = {}

    def __getitem__(self, index: int) -> Dense:
        if index not in self._found:
            self._found[index] = Dense.of(self._table.column(index))
        return self._found[index]


# The channels.

FINE = 9  # digits
DISTINCT = 0.5
KEPT = 4096
REGULAR, CLOSE = 1e-3, 20  # of a step; steps per different value


def quasi_keys(table: Table) -> Iterator[tuple[int, Hashes]]:
    """C2: tokens at nine digits of columns that nearly identify a row; counters say nothing and are left out."""
    enough = DISTINCT * len(table)  # levels, with those of what is missing and unseen; else too few
    places = [i for i, one in enumerate(table.features) if one.is_number or len(one.levels) + 2 >= enough]
    for index, tokens in column_tokens(table, places, FINE):
        if _telling(table.features[index], table.values[:, index], tokens):
            yield index, tokens


def rank_hashes(
    table: Table | WholeTable,
    names: tuple[str, ...],
    key: IdentityKey,
    order: Order | None = None,
    cells: TokenTable | None = None,
) -> Hashes:
    """C4: a hash per row of the whole table, numbers replaced by their dense ranks in it.

    `order` and `cells` are those of the table, where they are at hand.
    """
    own, order = (columns(table) if cells is None else cells).tokens, order or Order(table)
    numeric = {index: order[index].codes for index, feature in enumerate(table.features) if feature.is_number}

    def block(rows: slice) -> Hashes:
        tokens = own[rows].copy()
        for index, codes in numeric.items():
            tokens[:, index] = rank_tokens(codes[rows])
        return tokens

    return bound_blocks(names, block, len(own), key)


def _telling(feature: Feature, values: Floats, tokens: Hashes) -> bool:
    """Say whether a column alone tells rows apart and is no counter."""
    distinct = len(tally(tokens)[0])
    if not len(tokens) or distinct < DISTINCT * len(tokens):
        return False
    return not _is_counter(_as_numbers(feature, values), distinct)


def _is_counter(values: Floats | None, distinct: int) -> bool:
    """Numbers on a regular grid that lie as close as row numbers do: there others have the same."""
    if values is None:
        return False
    ordered = np.sort(values[np.isfinite(values)])
    real = ordered[is_fresh(ordered)]
    if len(real) < 2:
        return False
    gaps = real[1:] - real[:-1]
    least = gaps.min()
    if real[-1] - real[0] > CLOSE * (1 + REGULAR) * distinct * least:  # beyond roundings: most columns end here
        return False
    steps = gaps / least
    return bool(np.abs(steps - np.rint(steps)).max() < REGULAR and steps.sum() < CLOSE * distinct)


def _as_numbers(feature: Feature, values: Floats) -> Floats | None:
    """Return a column's values, or its levels, as numbers; None where a level is none."""
    if feature.is_number:
        return values
    try:
        return np.array([float(level) for level in feature.levels])
    except ValueError:
        return None
