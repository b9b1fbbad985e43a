"""Nothing is refused or charged now; what was shown is on record, and later looks pay for it in full."""

from dataclasses import dataclass

from modelsel.guard.policy.base import Policy


@dataclass(frozen=True)
class Off(Policy):
    """Nothing is refused or charged now; what was shown is on record, and later looks pay for it in full.

    Its settings are those of `Policy`.

    Examples
    --------
    >>> Off().rank < Policy().rank
    True
    """

    rank = 0
