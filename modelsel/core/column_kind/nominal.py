"""Names: levels that are equal or not."""

from modelsel.core.column_kind.base import ColumnKind


class Nominal(ColumnKind):
    """No level stands before another."""

    has_levels = True
    has_order = False
