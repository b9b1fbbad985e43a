"""Every look is allowed, priced and said; a repeated one carries a wider interval."""

from dataclasses import dataclass

from modelsel.guard.policy.base import Policy


@dataclass(frozen=True)
class Warn(Policy):
    """Every look is allowed, priced and said; a repeated one carries a wider interval.

    Its settings are those of `Policy`.

    Examples
    --------
    >>> Warn().max_looks is None
    True
    """
