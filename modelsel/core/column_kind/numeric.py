"""Numbers, and moments as seconds since 1970."""

from modelsel.core.column_kind.base import ColumnKind


class Numeric(ColumnKind):
    """Values compare, add up and have means."""
