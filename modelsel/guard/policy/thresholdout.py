"""Cross-validation's value is shown unless it differs from the test's by more than a noisy threshold (Dwork et al. 2015)."""

from dataclasses import dataclass

from modelsel.core.spec import one_of
from modelsel.guard.policy.base import RELEASES, Policy


@dataclass(frozen=True)
class Thresholdout(Policy):
    """At most `budget` answers may differ from cross-validation's; no interval is certified.

    Its settings are those of `Policy`.

    Examples
    --------
    >>> Thresholdout().release, Thresholdout().budget
    ('thresholdout', 10)
    """

    vetoes = True
    rank = 2

    release: str = one_of(*RELEASES, default="thresholdout", help="what is shown of the score, and so what it costs")
