"""Settings of explanations of the choice: `explain:`. Parts that need fits are off unless they are asked for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from modelsel.config.fields.suggest import near
from modelsel.core.errors import Problem
from modelsel.core.spec import number, plain, whole
from modelsel.core.types import Candidate

WINNER = "winner"


@dataclass(frozen=True)
class ExplainSettings:
    """Reasons for the winner's answers, and where it fails; development rows only."""

    nested: ClassVar[bool] = True
    importance: bool = plain(False, help="permutation importance on out-of-fold rows: fits each candidate anew on every fold")
    candidates: tuple[str, ...] = plain((WINNER,), help="whose importance: winner, entries of the space, ids")
    repeats: int = whole(5, least=1, help="permutations of a column per fold")
    noise: bool = plain(True, help="one more fit per fold, with a column of noise as the yardstick of importance")
    together: float = number(0.7, above=0, most=1, help="columns of higher rank correlation are permuted together too")
    dependence: bool = plain(False, help="partial dependence and ICE of the six most important columns (else the first six)")

    weak_slices: bool = plain(True, help="slices with more errors: half of the rows find them, the other half tests them")
    sets: bool = plain(False, help="keep the winner's model of each fold, for prediction sets: predict --sets 0.9")

    def strangers(self, candidates: Sequence[Candidate]) -> Iterator[Problem]:
        """Names that are no entry and no beginning of an id; members of a family get theirs when it is resolved."""
        entries = list(dict.fromkeys(candidate.entry for candidate in candidates))
        family = any(candidate.family for candidate in candidates)
        for name in self.candidates:
            if name in (WINNER, *entries) or any(one.id.startswith(name) for one in candidates) or (family and _is_id(name)):
                continue
            yield Problem("MSEL-201", f"unknown candidate {name!r}", "explain.candidates", near(name, (WINNER, *entries)))


def _is_id(name: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{4,}", name) is not None
