"""No ledger and no certificate: the score is stamped unguarded, and the next guarded run says so."""

from dataclasses import dataclass

from modelsel.guard._policy import Policy


@dataclass(frozen=True)
class Off(Policy):
    """No ledger and no certificate: the score is stamped unguarded, and the next guarded run says so."""

    rank = 0
