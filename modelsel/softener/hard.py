"""No softening: a row goes whole to one side of a threshold."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hard:
    """Widths of zero."""
