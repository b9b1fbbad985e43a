"""The ladder policy: answers are released as a board that moves only when it is beaten by a step (Blum & Hardt 2015)."""

from dataclasses import dataclass

from modelsel.core.spec import one_of
from modelsel.guard.policy.base import RELEASES, Policy


@dataclass(frozen=True)
class Ladder(Policy):
    """Only a board is shown, and it moves only when a model beats it by a step (Blum & Hardt 2015).

    Its settings are those of `Policy`.

    Examples
    --------
    >>> Ladder().release
    'ladder'
    """

    vetoes = True
    rank = 2

    release: str = one_of(*RELEASES, default="ladder", help="what is shown of the score, and so what it costs")
