"""The floor as people read it: what guessing costs on the same folds, beside what was chosen."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelsel.core.outcome import StudySummary
from modelsel.reporting.text.words import score

MEANING = {"majority": "always the most common class", "prior_draw": "a class drawn by its share"}


@dataclass(frozen=True)
class BaselineLine:
    """A learner that looks at no feature, and its cross-validated score; `reason` says why there is none."""

    id: str
    learner: str
    is_candidate: bool
    mean: float  # NaN where it has no score
    se: float
    reason: str

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> "BaselineLine":
        cv = said["cv"] or {"mean": math.nan, "se": math.nan}
        se = math.nan if cv["se"] is None else cv["se"]
        return cls(said["id"], said["learner"], bool(said["candidate"]), cv["mean"], se, said["reason"])

    @property
    def has_score(self) -> bool:
        return math.isfinite(self.mean)

    @property
    def name(self) -> str:
        return self.learner.replace("_", " ")

    @property
    def words(self) -> str:
        return self.name + (f" {score(self.mean)} ± {score(self.se)}" if self.has_score else f": {self.reason}")


def lines(outcome: StudySummary) -> list[BaselineLine]:
    """Every line of the floor on record."""
    return [BaselineLine.of(said) for said in outcome.extra.get("floor", ())]


def beside(outcome: StudySummary) -> list[BaselineLine]:
    """List the scores of the floor that the space does not list: they stand beside the candidates."""
    return [line for line in lines(outcome) if line.has_score and not line.is_candidate]


def sentence(outcome: StudySummary, higher_is_better: bool) -> str:
    """All lines with their scores, and whether the winner is any better; empty where no floor is on record."""
    found = lines(outcome)
    said = ", ".join(line.words for line in found)
    sign = -1 if higher_is_better else 1
    costs = [sign * line.mean for line in found if line.has_score]
    beaten = not costs or sign * outcome.winner["cv"]["mean"] < min(costs)
    return said if beaten else f"{said}: the winner is no better than guessing"
