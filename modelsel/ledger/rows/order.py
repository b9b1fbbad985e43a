"""Dense ranks of the numbers of a column: what stays of them under every increasing map."""

from dataclasses import dataclass

import numpy as np

from modelsel.core.runs import is_fresh, lengths
from modelsel.core.types import Codes, Floats, Table
from modelsel.core.whole_table import WholeTable, whole
from modelsel.ledger.rows.hashing import order_of


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
