"""Row sets that were read and unpacked: a digest says what they hold, so that each is read once."""

from collections import OrderedDict
from collections.abc import Callable

from modelsel.ledger.rows.row_set import RowSet

MOST = 200_000_000  # bytes that are kept


class RecentRowSets:
    """The row sets that were asked for last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[RowSet, int]] = OrderedDict()
        self._size = 0

    def __contains__(self, digest: str) -> bool:
        return digest in self._kept

    def __call__(self, digest: str, read: Callable[[str], bytes]) -> RowSet:
        """The row set of a digest; `read` gets its bytes, and raises LedgerError where they are not those of the digest."""
        if digest in self._kept:
            self._kept.move_to_end(digest)
            return self._kept[digest][0]
        blob = read(digest)
        self._kept[digest] = RowSet.unpack(blob), len(blob)
        self._size += len(blob)
        while self._size > MOST and len(self._kept) > 1:
            self._size -= self._kept.popitem(last=False)[1][1]
        return self._kept[digest][0]
