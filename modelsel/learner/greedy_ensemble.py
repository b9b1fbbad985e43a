"""An ensemble of candidates of the space, picked one by one by their out-of-fold answers: no candidate is fitted for it.

    picks: each time the candidate with which the mean of all picks is best, with replacement; the best beginning of them counts
    answer: Σ_m times_m p_m(x) / Σ_m times_m,  p: chances of the classes, or a predicted number

It is chosen once the cells of all others are finished (`runner/ensembles.py`), so that it has no fit of its own:
its model is the mean of its members', each fitted as it would be alone. The class of the largest mean chance is predicted.
Source: Caruana, Niculescu-Mizil, Crew & Ksikes (2004).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NoReturn

import numpy as np

from modelsel.core.spec import class_of, plain, whole
from modelsel.core.types import BOTH_TASKS, AnyTask, Candidate, Description, Floats, Integers, Table, Targets, Task, TaskKind
from modelsel.learner.base import BaseLearner, FittedModel
from modelsel.learner.inner import FittedSteps, nest_descriptions, part_of, without_classes

ALONE = "an ensemble is picked from other candidates of a space and has no fit of its own"


@dataclass(frozen=True)
class GreedyEnsemble(BaseLearner):
    """Written as an entry of a space, `ensemble: {learner: greedy_ensemble}`, or for short `ensemble: {kind: greedy}`."""

    size: int = whole(10, least=1, most=1000, help="picks; a candidate that is picked twice counts twice")
    library: int = whole(
        30, least=2, most=1000, help="the best of each entry, and then the best of all, are picked from: so many"
    )

    among: str = plain("", help="a digest of the candidates that it is picked from, which the study knows")

    reads: ClassVar[tuple[TaskKind, ...]] = BOTH_TASKS
    unit: ClassVar[str] = "members"
    of_others: ClassVar[bool] = True  # it is made of the answers of others, and no cell computes it
    fits: ClassVar[int] = 0
    draws: ClassVar[bool] = False
    holds_gil: ClassVar[bool] = False

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """None of its own: members that cannot be used are no members."""
        return ()

    def refusal(self, task: AnyTask, rows: Integers) -> str | None:
        """It is fitted on no rows."""
        return ALONE

    def fit(self, task: AnyTask, rows: Integers, rng: np.random.Generator) -> NoReturn:
        """Raise: it has nothing to fit."""
        raise ValueError(ALONE)

    @staticmethod
    def restore(description: Description) -> "EnsembleModel":
        """Rebuild the model: members, the steps before each, and how often each was picked."""
        facts = description.facts
        times, numbers = [int(each) for each in facts["times"]], bool(facts["numbers"])
        if not times or min(times) < 1 or len(times) != len(facts["steps"]):
            raise ValueError("an ensemble without members, or of which one counts less than once")
        members = tuple(_member(description, place, int(many)) for place, many in enumerate(facts["steps"]))
        made = EnsembleRecipe if any(hasattr(each.model, "refit") for each in members) else EnsembleModel
        return made(members, tuple(times), numbers)


@dataclass(frozen=True)
class PickedEnsemble(GreedyEnsemble):
    """An ensemble with its members, each as often as it was picked: what was learnt, and no part of what it is."""

    chosen: tuple[tuple[Candidate, int], ...] = field(default=(), metadata={"identity": False})


@dataclass(frozen=True, eq=False)
class Member:
    """A member's kind, its model, and the steps before it."""

    kind: str
    model: FittedModel
    steps: FittedSteps


@dataclass(frozen=True, eq=False)
class EnsembleModel(FittedModel):
    """The mean of the members' answers, each as often as it was picked."""

    members: tuple[Member, ...]
    times: tuple[int, ...]
    numbers: bool = False

    def scores(self, table: Table) -> Floats:
        return self._mean([each.model.scores(each.steps(table)) for each in self.members])

    def predict(self, table: Table) -> Targets:
        """Return the class of the largest mean chance, or the mean number."""
        if not self.numbers:
            return super().predict(table)
        return self._mean([np.asarray(each.model.predict(each.steps(table)), np.float64) for each in self.members])

    def _mean(self, said: Sequence[Floats]) -> Floats:
        total = sum(count * each for count, each in zip(self.times, said, strict=True))
        return np.asarray(total / sum(self.times))

    def describe(self) -> Description:
        parts: dict[str, Description] = {}
        for place, member in enumerate(self.members):
            said = member.model.describe()
            parts[f"member{place}"] = Description(member.kind, said.facts, said.arrays)
            parts |= {f"member{place}.step{at}": step for at, step in enumerate(member.steps.describe())}
        facts, arrays = nest_descriptions(parts)
        steps = [len(member.steps.fitted) for member in self.members]
        own = {"times": list(self.times), "steps": steps, "numbers": self.numbers}
        return Description("greedy_ensemble", {**facts, **own}, arrays)


class EnsembleRecipe(EnsembleModel):
    """Of members of which only recipes were kept: it answers once these are fitted again."""

    def refit(self, task: Task, rows: Integers) -> EnsembleModel:
        """Fit the recipes again on the development rows. ValueError where these, or the versions, are others."""
        return EnsembleModel(tuple(_fitted_again(each, task, rows) for each in self.members), self.times, self.numbers)

    def __str__(self) -> str:
        recipes = [str(each.model) for each in self.members if hasattr(each.model, "refit")]
        return f"ensemble of {len(self.members)}, of them {', '.join(dict.fromkeys(recipes))}"


def _member(description: Description, place: int, steps: int) -> Member:
    """Read one member back."""
    said = part_of(description, f"member{place}")
    parts = [part_of(description, f"member{place}.step{at}") for at in range(steps)]
    fitted = tuple(class_of("preparer", part.kind).restore(part) for part in parts)  # type: ignore[attr-defined]
    model = class_of("learner", said.kind).restore(said)  # type: ignore[attr-defined]
    return Member(said.kind, model, FittedSteps(tuple(part.kind for part in parts), fitted))


def _fitted_again(member: Member, task: Task, rows: Integers) -> Member:
    """Fit the member on some rows where its model can be fitted anew; others stay as they are."""
    if not hasattr(member.model, "refit"):
        return member
    ready = member.steps(without_classes(task))
    return replace(member, model=member.model.refit(task.with_features(ready.features, ready.values), rows))
