"""A table as aggregates: how its columns hang together, whatever their names, units, levels and the order of the rows.

A column of numbers is one variable; each level, and each number of a column of few, is one of its own (present or not; those
of few rows take no part, so that nearly unique columns have none). Each variable is described by at most three features, made
orthogonal to each other and standardised:

    by value    tanh z, exp(−z²/2), sin 2z      z = (x − mean)/deviation: the same in any unit
    by rank     u, u², u³                       u = middle rank: the same under any increasing map (`ledger.portraits.features`)

What is remembered are the means of the features by value, the shares of levels (the shape of a variable), and the
correlations of features of different variables. They are sums over all rows of a table in units of its own: no value, and of
no row. Two samples of one source differ in them by their standard errors, a copy does not (`ledger.portraits.likeness`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from modelsel.core.types import Booleans, Floats, Integers
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.triples import kept_triples
from modelsel.ledger.portraits.variables import MOST, ORDERS, Told, Variables
from modelsel.ledger.portraits.waves import OwnWaves, Waves
from modelsel.ledger.rows.identity import Hashes, text_tokens
from modelsel.ledger.rows.matching import hash_tokens
from modelsel.ledger.rows.row_set import RowSet

VIEWS = ("value", "rank")


@dataclass(frozen=True, eq=False)
class Portrait:
    """`links[view]` is variables × orders × variables × orders, NaN where there is nothing to say.

    Within a variable it holds the means of its features, on the diagonal.
    """

    n: int
    labels: Hashes  # keyed names of the variables
    binary: Booleans
    links: dict[str, Floats]
    column_of: Integers | None = None  # the column of each variable; None where that is not known
    triples: Hashes = field(default_factory=lambda: np.zeros(0, np.uint64))  # `ledger.portraits.triples`
    waves: Waves | None = None  # `ledger.portraits.waves`

    @property
    def columns(self) -> Integers:
        """The column of each variable; each its own where that is not known."""
        return np.arange(len(self)) if self.column_of is None else self.column_of

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def orders(self) -> int:
        """The most features that a variable has."""
        return max(1, int(np.isfinite(self.shapes).sum(axis=1).max(initial=1)))

    @cached_property
    def profiles(self) -> dict[str, Floats]:
        """By view, quantiles of the strength with which each variable hangs together with the others."""
        strengths = {view: np.nan_to_num(np.abs(links[:, 0, :, 0])) for view, links in self.links.items()}
        return {view: np.quantile(one, np.linspace(0.3, 1, 8), axis=1).T for view, one in strengths.items()}

    @property
    def shapes(self) -> Floats:
        """Variables × orders: the means by value."""
        return diagonal(self.links["value"])

    def stored(self) -> RowSet:
        """Reduce to what is stored: half of each symmetric table, in single precision, without what is absent."""
        facts = {"n": self.n, "binary": "".join("01"[int(one)] for one in self.binary), "columns": self.columns.tolist()}
        halves = {view: _half(links) for view, links in self.links.items()}
        there = {f"{view}:there": np.packbits(np.isfinite(half)) for view, half in halves.items()}
        packed = {view: np.asarray(half[np.isfinite(half)], "<f4") for view, half in halves.items()}
        arrays = {"labels": self.labels, **{name: _pack(array) for name, array in {**there, **packed}.items()}}
        arrays |= {"triples": self.triples} if len(self.triples) else {}
        if self.waves is not None:
            facts["waves"] = list(self.waves.means.shape)
            arrays |= {"waves:labels": self.waves.labels, "waves:means": _pack(self.waves.means.astype("<f4"))}
        return RowSet(facts, arrays)

    @classmethod
    def of(cls, stored: RowSet) -> "Portrait":
        """Read a portrait as it is stored."""
        binary = np.array([one == "1" for one in stored.facts["binary"]], bool)
        links = {view: _whole(stored.arrays[f"{view}:there"], stored.arrays[view], len(binary)) for view in VIEWS}
        columns = stored.facts.get("columns")  # older portraits do not say
        places = None if columns is None else np.array(columns, np.intp)
        triples = stored.arrays.get("triples", np.zeros(0, np.uint64))
        return cls(len(stored), stored.arrays["labels"], binary, links, places, triples, _waves(stored))


def draw_portrait(found: Variables, key: IdentityKey) -> Portrait:
    """Draw the portrait of a table's variables."""
    known: dict[int, Told] = {}
    with threadpool_limits(1):  # a product's own threads wait for each other by turning, longer than it takes
        links = {view: found.links(None, view, known) for view in VIEWS}
    triples, labels = kept_triples(found.table, key), _labels(found.labels, key)
    waves = OwnWaves(found, labels, key).drawn
    drawn = waves if len(waves.means) else None
    return Portrait(found.rows, labels, found.binary, links, found.columns, triples, drawn)


def _labels(names: Sequence[str], key: IdentityKey) -> Hashes:
    return hash_tokens(text_tokens([f"variable {name}" for name in names]), key)


def _waves(stored: RowSet) -> Waves | None:
    """The waves as they are stored; None of older portraits, and where fewer than two columns have any."""
    if "waves" not in stored.facts:
        return None
    pairs, count = stored.facts["waves"]
    means = stored.arrays["waves:means"].astype("<u8").view("<f4")[: pairs * count]
    return Waves(stored.arrays["waves:labels"], means.astype(np.float64).reshape(pairs, count))


def diagonal(links: Floats) -> Floats:
    """Variables × orders: what stands within variables."""
    each = np.arange(len(links))
    return np.stack([links[each, order, each, order] for order in range(ORDERS)], axis=1)


def _half(links: Floats) -> Floats:
    flat = links.reshape(links.shape[0] * ORDERS, -1)
    half: Floats = flat[_above(len(flat))]
    return half


def _whole(there: Hashes, stored: Hashes, count: int) -> Floats:
    """Rebuild a symmetric array from the stored part above its diagonal."""
    size = count * ORDERS
    above = _above(size)
    present = np.unpackbits(there.astype("<u8").view(np.uint8))[: len(above[0])].astype(bool)
    half = np.full(len(above[0]), np.nan)
    half[present] = stored.astype("<u8").view("<f4")[: present.sum()]
    out = np.empty((size, size))
    out[above] = half
    out.T[above] = half
    return out.reshape(count, ORDERS, count, ORDERS)


@lru_cache(maxsize=2 * MOST)
def _above(size: int) -> tuple[Integers, Integers]:
    return np.triu_indices(size)


def _pack(values: NDArray[np.generic]) -> Hashes:
    raw = values.tobytes()
    return np.frombuffer(raw + bytes(-len(raw) % 8), "<u8").astype(np.uint64)
