"""One look; a further one needs a recorded justification, and a grave flag refuses it."""

from dataclasses import dataclass

from modelsel.core.spec import whole
from modelsel.guard.policy.base import Policy


@dataclass(frozen=True)
class Strict(Policy):
    """One look; a further one needs a recorded justification, and a grave flag refuses it.

    Its settings are those of `Policy`.

    Examples
    --------
    >>> Strict().max_looks
    1
    """

    vetoes = True
    rank = 2

    max_looks: int | None = whole(1, least=1)
