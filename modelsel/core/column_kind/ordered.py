"""Ranks: levels declared from the lowest to the highest, whose distances mean nothing."""

from modelsel.core.column_kind.base import ColumnKind


class Ordered(ColumnKind):
    """Levels compare by their place in the declaration."""

    has_levels = True
