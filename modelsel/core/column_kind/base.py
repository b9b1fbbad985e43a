"""Kinds of columns: what may be asked of the values of one, whatever their kind is called.

`core/column_kind/numeric.py` holds the class `Numeric`: a new kind is one file, found in this folder by its name. Values are
numbers, or codes 0, 1, ... of levels; what nobody has seen is then the code `len(levels)`, and NaN is a missing value anywhere.
"""

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from modelsel.core.spec import class_of, kinds_of

GROUP = "column_kind"


class ColumnKind:
    """What the values of a column can; a kind sets what is otherwise."""

    has_levels: bool = False  # values are codes of levels, which are equal or not; else numbers, which have sums and means
    has_order: bool = True  # values compare by <: there are thresholds, ranks and medians; of levels as they are declared

    def __init_subclass__(cls) -> None:
        """Refuse a kind whose values could not even be told apart by a threshold or a level."""
        if not (cls.has_levels or cls.has_order):
            raise TypeError(f"{cls.__name__}: values without levels have an order")

    def numbers(self, texts: Sequence[str]) -> NDArray[np.float64] | None:
        """Read cells that are written as no other kind writes them, NaN where one says no number; None: as any numbers."""
        return None

    def text(self, value: float) -> str:
        """Write a number as `numbers` reads it; asked of kinds that read their own."""
        raise NotImplementedError

    @property
    def writes_its_own(self) -> bool:
        """Say whether cells are written as no other kind writes them."""
        return type(self).numbers is not ColumnKind.numbers

    @property
    def is_ranked(self) -> bool:
        """Say whether values are levels with an order, which is declared."""
        return self.has_levels and self.has_order


@cache
def kind_named(name: str) -> ColumnKind:
    """The kind of a name. Raises ValueError where there is none."""
    try:
        found: ColumnKind = class_of(GROUP, name)()
    except KeyError:
        raise ValueError(f"{name!r} is not a kind of column: use one of {', '.join(kind_names())}") from None
    return found


@cache
def kind_names() -> tuple[str, ...]:
    """The names of all kinds: numbers, ranks, and what has no order.

    >>> kind_names()
    ('numeric', 'ordered', 'nominal')
    """
    return tuple(sorted(kinds_of(GROUP), key=lambda name: (not kind_named(name).has_order, kind_named(name).has_levels)))


def kinds_named(names: Iterable[str]) -> list[ColumnKind]:
    """The kinds of some names."""
    return [kind_named(name) for name in names]
